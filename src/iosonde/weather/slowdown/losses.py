"""Stretches in which operations were lost: late, not back, or failed.

They are no slow stretches: an operation that does not come back has no service time.
"""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Flags
from iosonde.model.frames import LostSpan, WindowTable
from iosonde.weather.slowdown.findings import LOST_AT

_LATE_SHARE = 10
"""An operation is late that begins later than a tenth of a period after it was due."""


def lost_spans(windows: WindowTable) -> list[LostSpan]:
    """Windows in a row in which operations were lost for certain, and the probing host's lateness does not explain it.

    ``windows``: judged ones, sorted by series and start. A window that is missing ends a stretch.
    """
    lost: Flags = (windows["lost_lower"] >= LOST_AT) & ~lost_by_host(windows)
    found = []
    for key, rows in windows.series():
        places = np.flatnonzero(lost[rows]) + rows.start
        number = windows["start_ns"][places] // windows["window_ns"][places]
        for run in np.split(places, np.flatnonzero(np.diff(number) > 1) + 1):
            if len(run) == 0:
                continue
            due = windows["n_due"][run]
            end = int(windows["start_ns"][run[-1]] + windows["window_ns"][run[-1]])
            n_lost = round(float(np.sum(windows["lost"][run] * due)))
            begin = int(windows["start_ns"][run[0]])
            found.append(LostSpan(key, begin, end, int(due.sum()), n_lost))
    return found


def lost_by_host(windows: WindowTable) -> Flags:
    """Windows whose losses the probing host explains: it explains the slowdown, and its timer was too late."""
    late = windows["late_q50_ns"] > windows["period_ns"] / _LATE_SHARE
    innocent: Flags = windows["host_busy"] & late
    return innocent
