"""Windows as events are found in: what is not known of a window is NaN, and nothing stands in for it."""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import SECOND_NS
from iosonde.model.slowdown import NULL_RATES
from iosonde.weather.events.events import COLUMNS
from iosonde.weather.events.pieces.alarms import with_rates
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.slow_intervals import RULE, OpWindows, Rule
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.guarded import STAGES

MINUTE_NS = 60 * SECOND_NS
OF_INTERVALS = Rule(hot_windows=2, quiet_windows=2, merged_windows=1, hot_lost=0.1)
"""Of windows of ten minutes two are enough; few operations in each, so that two failed ones are no event."""
FEWEST = 20
"""Operations that a window of a minute must hold: with fewer it knows no typical one."""


_YOUNG = {
    "typ": "slowdown",
    "typ_lower": "slowdown_lower",
    "typ_upper": "slowdown_upper",
}
"""What stands in for the typical slowdown in the first hour."""


def dense(period_ns: int) -> bool:
    """Whether a minute holds enough operations."""
    return period_ns * FEWEST <= MINUTE_NS


_LEAST_ERRORS = 4.0
_INTERVAL_ERRORS = 3.92
"""Standard errors: as the detectors ask of a minute (docs/methods/alarms.md), and in a 95 % interval."""


def unrated(windows: Frame, known: LearntBaselines) -> Flags:
    """Which windows no detector looks at: it is not known yet how often operations are slow on an ordinary day."""
    found = np.zeros(len(windows), bool)
    for key, rows in windows.series():
        baseline = known.baselines.get(key)
        if baseline is not None and len(baseline.from_ns):
            missing = np.isnan(with_rates(baseline.numbers)[:, NULL_RATES])
            at = baseline.at(windows["start_ns"][rows])
            found[rows] = (at >= 0) & missing[at]
    return found


def for_events(windows: Frame, known: LearntBaselines) -> Frame:
    """Windows that ``judged_windows`` gives, with the columns that events need and ``learning``.

    While a baseline is learnt ``typ`` is the median over ``usual_ns``, that of the windows so far; there is no
    ``tail``, and ``lost`` only where its interval leaves no doubt. Of windows that the probing host explains nothing is
    known but what was lost. ``certain``: slow windows which no detector looks
    at, in the first hour and the first day.
    """
    if len(windows) == 0:
        return windows
    learning = windows["stage"].astype(str) == STAGES[0]
    busy = windows["host_busy"]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.log(windows["typ_upper"] / windows["typ_lower"]) / _INTERVAL_ERRORS
        alone = unrated(windows, known) & (np.log(windows["typ"]) >= _LEAST_ERRORS * error)
    lost, lower = windows["lost"], windows["lost_lower"]
    unsure = learning & (lost >= RULE.hot_lost) & ~(lower >= RULE.hot_lost)
    innocent = busy & ~(lost >= RULE.hot_lost)
    typ = {
        name: np.where(busy, np.nan, np.where(learning, windows[young], windows[name]))
        for name, young in _YOUNG.items()
    }
    columns = {name: windows[name] for name in (*COLUMNS, "period_ns", "host_busy")}
    return Frame(
        {
            **columns,
            **typ,
            "tail": np.where(busy | learning, np.nan, windows["tail"]),
            "lost": np.where(unsure | innocent, np.nan, lost),
            "learning": learning,
            "certain": (learning | alone) & windows["slow"] & ~busy,
            "usual_ns": np.where(learning, windows["baseline_ns"], np.nan),
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
            windows["certain"][rows].astype(np.bool_),
            *(_rounded(windows[name][rows]) for name in ("typ_lower", "typ_upper", "usual_ns")),
        )
        often = part.window_ns == MINUTE_NS
        busy = windows["host_busy"][rows].astype(np.bool_)
        found[key] = JudgedSeries(part, busy, RULE if often else OF_INTERVALS, often)
    return found


def _rounded(values: Floats) -> Floats:
    """To single precision, as results of days that are over are kept."""
    return values.astype(np.float32).astype(np.float64)
