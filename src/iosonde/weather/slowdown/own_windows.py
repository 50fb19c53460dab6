"""Slowdown of every series in the windows that it is judged in, in one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery, SlowdownResult
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.slowdown import analyse, in_op_order
from iosonde.weather.slowdown.window_length import MINUTE_NS, by_window, windows_of
from iosonde.weather.store import Store


def analyse_own(store: Store, query: SlowdownQuery, known: LearntBaselines) -> SlowdownResult:
    """``analyse`` with each series in its own windows: ``window_ns`` of the result's query is the shortest of them.

    Raises UsageError, StoreError.
    """
    parts = [
        _of(analyse(store, asked, known=known), keys)
        for window_ns, keys in by_window(windows_of(known))
        for asked in _asked(query, window_ns, keys)
    ]
    parts = [part for part in parts if len(part.windows)]
    if not parts:
        return analyse(store, replace(query, own_windows=False), known=known)
    if len(parts) == 1:
        return parts[0]
    names = parts[0].windows.keys()
    windows = Frame({n: np.concatenate([part.windows[n] for part in parts]) for n in names})
    windows = in_op_order(windows)
    order = {key: place for place, (key, _) in enumerate(windows.series())}
    last = len(order)
    return replace(
        parts[0],
        windows=windows,
        spans=sorted(
            (span for part in parts for span in part.spans),
            key=lambda one: (order.get(one.key, last), one.start_ns),
        ),
        usual=sorted(
            (usual for part in parts for usual in part.usual),
            key=lambda one: order.get(one.key, last),
        ),
        changes=[change for part in parts for change in part.changes],
        lost=[lost for part in parts for lost in part.lost],
    )


def _asked(query: SlowdownQuery, window_ns: int, keys: Sequence[SeriesKey]) -> list[SlowdownQuery]:
    """One query for all series of a length; of windows below a minute, which are many, one a target."""
    whole = replace(query, window_ns=window_ns, own_windows=False, rolled=window_ns > INTERVAL_NS)
    if window_ns >= MINUTE_NS:
        return [whole]
    places = dict.fromkeys((key.host, key.target) for key in keys)
    return [replace(whole, host=host, target=target) for host, target in places]


def _of(result: SlowdownResult, keys: Sequence[SeriesKey]) -> SlowdownResult:
    """The part of a result about some series."""
    wanted = set(keys)
    found = result.windows
    rows = [np.arange(at.start, at.stop) for key, at in found.series() if key in wanted]
    if sum(map(len, rows)) == len(found):
        return result
    return replace(
        result,
        windows=found.take(np.concatenate(rows) if rows else slice(0)),
        spans=[one for one in result.spans if one.key in wanted],
        usual=[one for one in result.usual if one.key in wanted],
        changes=[one for one in result.changes if one.key in wanted],
        lost=[one for one in result.lost if one.key in wanted],
    )
