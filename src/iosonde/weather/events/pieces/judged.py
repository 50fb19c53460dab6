"""Windows as events are found in: what is not known of a window is NaN, and nothing stands in for it."""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Floats
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import SECOND_NS
from iosonde.weather.events.events import COLUMNS
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.slow_intervals import RULE, OpWindows, Rule
from iosonde.weather.slowdown.guarded import STAGES
from iosonde.weather.slowdown.losses import lost_by_host

MINUTE_NS = 60 * SECOND_NS
OF_INTERVALS = Rule(hot_windows=2, quiet_windows=2, merged_windows=1, hot_lost=0.1)
"""Of windows of ten minutes two are enough; few operations in each, so that two failed ones are no event."""
FEWEST = 20
"""Operations that a window of a minute must hold: with fewer it knows no typical one."""


def dense(period_ns: int) -> bool:
    """Whether a minute holds enough operations."""
    return period_ns * FEWEST <= MINUTE_NS


def for_events(windows: Frame) -> Frame:
    """Windows that ``judged_windows`` gives, with the columns that events need and ``learning``.

    While a baseline is learnt there is no ``typ`` and no ``tail``, and ``lost`` only where its interval leaves no
    doubt. Of windows that the probing host explains nothing is known but what was lost, unless its lateness explains
    that, too.
    """
    if len(windows) == 0:
        return windows
    learning = windows["stage"].astype(str) == STAGES[0]
    busy = windows["host_busy"]
    lost, lower = windows["lost"], windows["lost_lower"]
    unsure = learning & (lost >= RULE.hot_lost) & ~(lower >= RULE.hot_lost)
    innocent = lost_by_host(windows) | (busy & ~(lost >= RULE.hot_lost))
    hidden = busy | learning
    columns = {name: windows[name] for name in (*COLUMNS, "period_ns", "host_busy")}
    return Frame(
        {
            **columns,
            "typ": np.where(hidden, np.nan, windows["typ"]),
            "tail": np.where(hidden, np.nan, windows["tail"]),
            "lost": np.where(unsure | innocent, np.nan, lost),
            "learning": learning,
        }
    )


def judged_series(windows: Frame) -> dict[SeriesKey, JudgedSeries]:
    """Every series of a frame of ``for_events``."""
    found = {}
    for key, rows in windows.series():
        typ, tail, lost = (_rounded(windows[name][rows]) for name in ("typ", "tail", "lost"))
        part = OpWindows(
            windows["start_ns"][rows],
            typ,
            tail,
            lost,
            windows["n_due"][rows].astype(np.int64),
            int(windows["window_ns"][rows.start]),
            windows["learning"][rows],
        )
        often = part.window_ns == MINUTE_NS
        busy = windows["host_busy"][rows].astype(np.bool_)
        found[key] = JudgedSeries(part, busy, RULE if often else OF_INTERVALS, often)
    return found


def _rounded(values: Floats) -> Floats:
    """To single precision, as results of days that are over are kept."""
    return values.astype(np.float32).astype(np.float64)
