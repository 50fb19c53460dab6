"""Slow events: what happened to each target, joined over its operations.

In: windows of 60 s with the columns ``host target op start_ns window_ns typ tail lost`` and
``n_due``; out: events, in order of start. A window of which nothing is known has NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iosonde.model.errors import UsageError
from iosonde.model.events import SlowEvent
from iosonde.model.frames import Frame, SeriesKey, TargetRef
from iosonde.model.ops import op_order
from iosonde.weather.events import slow_intervals as spells
from iosonde.weather.events.joining import joined, spell_pieces
from iosonde.weather.events.slow_intervals import OpWindows

COLUMNS = ("host", "target", "op", "start_ns", "window_ns", "typ", "tail", "lost", "n_due")


class WatchedTarget(NamedTuple):
    """A target as seen from a host, at one rate."""

    host: str
    target: str
    period_ns: int


def place_of(key: SeriesKey) -> WatchedTarget:
    """The place of a series."""
    return WatchedTarget(key.host, key.target, key.period_ns)


def slow_events(windows: Frame, rule: spells.Rule = spells.RULE) -> list[SlowEvent]:
    """The events of all targets of a frame, by start.

    Raises UsageError for a frame without one of ``COLUMNS``.
    """
    found = []
    for ref, ops in by_target(windows):
        pieces = [piece for op, series in ops.items() for piece in spell_pieces(op, series, rule)]
        found += joined(ref, ops, pieces, rule)
    return sorted(found, key=lambda event: (event.start_ns, event.host, event.target))


def by_target(windows: Frame) -> Iterator[tuple[TargetRef, dict[str, OpWindows]]]:
    """The series of each target as one host saw it, by op; rows may come in any order."""
    for name in COLUMNS:
        if name not in windows:
            raise UsageError(f"these windows have no column {name!r}", expected=", ".join(COLUMNS))
    if len(windows) == 0:
        return
    host, target, op = (windows[name].astype(str) for name in ("host", "target", "op"))
    order = np.lexsort((windows["start_ns"], op, target, host))
    rows = windows.take(order)
    host, target, op = host[order], target[order], op[order]
    edges = _edges(host, target)
    for first, last in itertools.pairwise(edges):
        here = rows.take(slice(first, last))
        names = sorted(set(op[first:last].tolist()), key=lambda name: (op_order(name), name))
        ops = {name: _series(here.take(op[first:last] == name)) for name in names}
        yield TargetRef(str(host[first]), str(target[first])), ops


def _edges(*keys: np.ndarray) -> list[int]:
    """Where a run of equal keys begins, and the end."""
    changed = np.zeros(len(keys[0]) - 1, dtype=bool)
    for key in keys:
        changed |= key[1:] != key[:-1]
    return [0, *(np.flatnonzero(changed) + 1).tolist(), len(keys[0])]


def _series(rows: Frame) -> OpWindows:
    return OpWindows(
        rows["start_ns"],
        rows["typ"],
        rows["tail"],
        rows["lost"],
        rows["n_due"].astype(np.int64),
        int(rows["window_ns"][0]),
        rows.columns.get("learning"),
    )
