"""Slow windows in a row, bridged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iosonde.model.arrays import Flags, Ints
from iosonde.model.frames import WindowTable
from iosonde.weather.slowdown.spans import WindowRun

_BRIDGED = 1
"""Windows that are not slow and still do not end a span."""


def runs_of(windows: WindowTable, since_ns: int | None) -> Iterator[WindowRun]:
    """Slow windows in a row, bridged, of every series; those that end after ``since_ns``.

    Windows that the probing host explains are runs of their own: the storage is not blamed for them, and they excuse
    no others.
    """
    for key, rows in windows.series():
        slow, busy = windows["slow"][rows], windows["host_busy"][rows]
        silent = windows["n_seen"][rows] == 0
        number = windows["start_ns"][rows] // windows["window_ns"][rows]
        found = [
            (first, last)
            for word in (slow & ~busy, slow & busy)
            for first, last in bridged_runs(word, silent, number)
        ]
        before = rows.start
        for first, last in sorted(found):
            place = rows.start + first, rows.start + last
            run = WindowRun(key, *place, place[1] + 1 == rows.stop, min(before, place[0]))
            before = max(before, place[1] + 1)
            end_ns = windows["start_ns"][run.last] + windows["window_ns"][run.last]
            if since_ns is None or end_ns > since_ns:
                yield run


def bridged_runs(slow: Flags, silent: Flags, number: Ints) -> Iterator[tuple[int, int]]:
    """(first, last) of each run of slow windows of one series, both slow.

    Up to ``_BRIDGED`` windows that are not slow, or missing (``number`` jumps), lie between two
    slow ones of a run; ``silent`` windows, in which no operation ended, do not count.
    """
    places = np.flatnonzero(slow)
    if len(places) == 0:
        return
    loud = np.cumsum(~silent)
    missing = np.diff(number[places]) - np.diff(places)
    between: Ints = loud[places[1:] - 1] - loud[places[:-1]]
    breaks = np.flatnonzero(missing + between > _BRIDGED)
    firsts = places[np.concatenate(([0], breaks + 1))]
    lasts = places[np.concatenate((breaks, [len(places) - 1]))]
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)
