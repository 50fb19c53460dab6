"""Slow spans: since when to the sample, and how slow over all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from iosonde.engine.contract import SERIES_KEY
from iosonde.model.frames import Frame, SeriesKey, SlowSpan, WindowTable
from iosonde.weather.slowdown.onset import onset
from iosonde.weather.store import Store

_BEFORE = 10
"""Windows before a span that are searched for its first slow sample (it may have crept up) ..."""
_INTO = 2
"""... up to the end of this many of its own windows."""


class WindowRun(NamedTuple):
    """Rows ``first`` to ``last`` of a window table: one slow span before its onset is known.

    It cannot have begun before row ``earliest``. The probing host explains all of its slow windows, or none.
    """

    key: SeriesKey
    first: int
    last: int
    ongoing: bool
    earliest: int


def spans_of(store: Store, windows: WindowTable, runs: Sequence[WindowRun]) -> list[SlowSpan]:
    """The slow spans behind runs of slow windows, in their order; asks the store twice in all.

    ``runs`` are sorted by series and start.
    """
    if not runs:
        return []
    joined = _joined(windows, runs, _onsets(store, windows, runs))
    pools = store.pooled(
        tags(windows, [(run.first, run.last) for run, _ in joined]),
        _window_ns(windows),
        ("q50_ns", "q50_lower_ns", "q50_upper_ns"),
    )
    pooled = {int(tag): row for row, tag in enumerate(pools["tag"])}
    return [
        _span(windows, run, pools, pooled.get(number), began)
        for number, (run, began) in enumerate(joined)
    ]


def _joined(
    windows: WindowTable, runs: Sequence[WindowRun], onsets: Sequence[int | None]
) -> list[tuple[WindowRun, int | None]]:
    """Runs with their onsets; one that began within a window of the last one's end continues it.

    The probing host explains both or neither.
    """
    window_ns = _window_ns(windows)
    joined: list[tuple[WindowRun, int | None]] = []
    for run, began in zip(runs, onsets, strict=True):
        if joined and began is not None:
            last, last_began = joined[-1]
            alike = last.key == run.key and _busy(windows, last) == _busy(windows, run)
            if alike and began < _end_ns(windows, last) + window_ns:
                joined[-1] = (last._replace(last=run.last, ongoing=run.ongoing), last_began)
                continue
        joined.append((run, began))
    return joined


def _busy(windows: WindowTable, run: WindowRun) -> bool:
    return bool(windows["host_busy"][run.first])


def _end_ns(windows: WindowTable, run: WindowRun) -> int:
    return int(windows["start_ns"][run.last] + windows["window_ns"][run.last])


def _span(
    windows: WindowTable, run: WindowRun, pools: Frame, row: int | None, began: int | None
) -> SlowSpan:
    baseline = float(windows["baseline_ns"][run.first])
    start = int(windows["start_ns"][run.first])

    def value(name: str) -> float | None:
        number = np.nan if row is None else float(pools[name][row])
        return None if np.isnan(number) else number

    def ratio(name: str) -> float | None:
        number = value(name)
        return None if number is None else number / baseline

    rows = slice(run.first, run.last + 1)
    typical = _typical(windows, rows)
    return SlowSpan(
        key=run.key,
        start_ns=start if began is None else began,
        end_ns=_end_ns(windows, run),
        refined=began is not None,
        windows=run.last - run.first + 1,
        n=0 if row is None else int(pools["n_seen"][row]),
        baseline_ns=baseline,
        median_ns=value("q50_ns"),
        slowdown=ratio("q50_ns") if typical is None else typical[0],
        lower=ratio("q50_lower_ns") if typical is None else typical[1],
        upper=ratio("q50_upper_ns") if typical is None else typical[2],
        host_busy=_busy(windows, run),
        ongoing=run.ongoing,
    )


def _typical(windows: WindowTable, rows: slice) -> tuple[float, float, float] | None:
    """The median window's ``typ`` with its interval; None where most windows have none."""
    typ = windows["typ"][rows]
    if 2 * np.count_nonzero(~np.isnan(typ)) <= len(typ):
        return None
    value, lower, upper = (
        float(np.nanmedian(windows[name][rows])) for name in ("typ", "typ_lower", "typ_upper")
    )
    return value, lower, upper


def _onsets(store: Store, windows: WindowTable, runs: Sequence[WindowRun]) -> list[int | None]:
    """When the first slow sample of each run was due; None where no sample can be named."""
    edges = [
        (
            max(run.first - _BEFORE, run.earliest, _series_begin(windows, run)),
            min(run.first + _INTO - 1, run.last),
        )
        for run in runs
    ]
    samples = store.tagged_samples(tags(windows, edges), _window_ns(windows))
    bounds = np.searchsorted(samples["tag"], np.arange(len(runs) + 1))
    found: list[int | None] = []
    for number, (run, (_, last)) in enumerate(zip(runs, edges, strict=True)):
        rows = slice(int(bounds[number]), int(bounds[number + 1]))
        due, service = samples["due_ns"][rows], samples["service_ns"][rows]
        factors = windows["q50_ns"][run.first : last + 1] / windows["baseline_ns"][run.first]
        slowdown = float(np.nanmedian(factors))
        place = onset(due, service, float(windows["baseline_ns"][run.first]), slowdown)
        found.append(None if place is None else int(due[place]))
    return found


def _series_begin(windows: WindowTable, run: WindowRun) -> int:
    """The first row of the run's series that is at most ``_BEFORE`` rows before it."""
    first = run.first
    while first > max(0, run.first - _BEFORE) and _same_series(windows, first - 1, run.first):
        first -= 1
    return first


def _same_series(windows: WindowTable, one: int, other: int) -> bool:
    return all(windows[name][one] == windows[name][other] for name in SERIES_KEY)


def tags(windows: WindowTable, edges: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Tag ``i`` for each window of rows ``edges[i]``, both included."""
    rows = np.concatenate([np.arange(first, last + 1) for first, last in edges])
    sizes = [last - first + 1 for first, last in edges]
    keys = {name: windows[name][rows] for name in (*SERIES_KEY, "start_ns")}
    return {**keys, "tag": np.repeat(np.arange(len(edges), dtype=np.int64), sizes)}


def _window_ns(windows: WindowTable) -> int:
    return int(windows["window_ns"][0])
