"""Stretches in which operations were lost, and in which the probing host began them late or never.

Neither is a slow stretch: an operation that does not come back has no service time, and one that the host began late
was as quick as ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iosonde import _core
from iosonde.model.arrays import Flags, Places
from iosonde.model.frames import LateSpan, LostSpan, SeriesKey, WindowTable
from iosonde.weather.slowdown.findings import LOST_AT


def lost_spans(windows: WindowTable) -> list[LostSpan]:
    """Windows in a row in which operations were lost for certain. What the probing host alone made late is not lost.

    ``windows``: judged ones, sorted by series and start. A window that is missing ends a stretch.
    """
    found = []
    for key, run, (start_ns, end_ns) in _runs(windows, windows["lost_lower"] >= LOST_AT):
        due = windows["n_due"][run]
        n_lost = round(float(np.sum(windows["lost"][run] * due)))
        found.append(LostSpan(key, start_ns, end_ns, int(due.sum()), n_lost))
    return found


def late_spans(windows: WindowTable) -> list[LateSpan]:
    """Windows in a row of which the probing host alone began many operations late, or never. ``windows``: as above."""
    late = windows["n_late"] + windows["n_missed"]
    due = windows["n_due"] + windows["n_missed"]
    flags = np.zeros(len(windows), bool)
    for place in np.flatnonzero(late > 0).tolist():
        flags[place] = _core.host_held_up(int(late[place]), int(due[place]))
    return [
        LateSpan(key, start_ns, end_ns, int(due[run].sum()), int(late[run].sum()))
        for key, run, (start_ns, end_ns) in _runs(windows, flags)
    ]


def _runs(
    windows: WindowTable, flags: Flags
) -> Iterator[tuple[SeriesKey, Places, tuple[int, int]]]:
    """Places of flagged windows in a row, with their series, begin and end."""
    for key, rows in windows.series():
        places = np.flatnonzero(flags[rows]) + rows.start
        number = windows["start_ns"][places] // windows["window_ns"][places]
        for run in np.split(places, np.flatnonzero(np.diff(number) > 1) + 1):
            if len(run) == 0:
                continue
            end_ns = windows["start_ns"][run[-1]] + windows["window_ns"][run[-1]]
            yield key, run, (int(windows["start_ns"][run[0]]), int(end_ns))
