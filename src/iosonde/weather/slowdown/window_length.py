"""The length of the windows that a series is judged in: from the step of its operations and the length of its history.

::

    10 Hz, a history below ten minutes        2 s, from 2 Hz on 10 s: minutes would be too few to learn from
    every 3 s or more often                   1 min
    every 75 s                               10 min          eight operations are expected in each window
    every 7.5 min                             1 h
    every 45 min                              6 h
    every 3 h                                 1 d
    more seldom                               no window holds enough operations
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.names import host_of_rank
from iosonde.model.ops import SECOND_NS
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS, HOUR_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from iosonde.model.frames import SeriesKey
    from iosonde.weather.slowdown.baseline import LearntBaselines, Past

MINUTE_NS = 60 * SECOND_NS
FEWEST = 20
"""Operations that a window of a minute or less holds: with fewer it knows no typical one."""
FINE_NS = (2 * SECOND_NS, 10 * SECOND_NS)
COARSE_NS = (INTERVAL_NS, HOUR_NS, 6 * HOUR_NS, DAY_NS)
FEWEST_COARSE = 8
"""Operations that longer windows hold."""
LEAST = 6
"""An interval of the median needs so many operations."""
_SHORT_NS = INTERVAL_NS
"""Whole histories below this are judged in fine windows."""
_KNOWN_INTERVALS = 6
"""From so many intervals on the step is what they hold, whatever the schedule says."""


def step_of(key: SeriesKey, past: Past) -> float:
    """Time between two operations of a series, ns: its period, or longer where most ten minutes hold fewer."""
    if len(past.number) == 0:
        return float(key.period_ns)
    typical = float(np.median(past.n_due))
    step = INTERVAL_NS / max(typical, 1.0)
    if typical <= 1 and len(past.number) > 1:
        step = float(np.median(np.diff(past.number))) * INTERVAL_NS
    if key.period_ns > 0 and len(past.number) < _KNOWN_INTERVALS:
        return float(key.period_ns)
    return max(float(key.period_ns), step)


def window_of(key: SeriesKey, past: Past | None) -> int:
    """The window that a series is judged in, ns; that of its schedule where nothing else is known of it."""
    if past is None or len(past.number) == 0:
        return _window(key.period_ns)
    step = step_of(key, past)
    if _is_short_probe(key, past):
        fine = next((window for window in FINE_NS if step * FEWEST <= window), None)
        if fine is not None:
            return fine
    scheduled = _window(key.period_ns)
    holds = key.period_ns > 0 and step * FEWEST_COARSE <= scheduled
    return scheduled if holds else _window(step)


def _window(step_ns: float) -> int:
    if step_ns * FEWEST <= MINUTE_NS:
        return MINUTE_NS
    return next((window for window in COARSE_NS if step_ns * FEWEST_COARSE <= window), DAY_NS)


def _is_short_probe(key: SeriesKey, past: Past) -> bool:
    """Whether the whole history is too short for windows of a minute. Ranks of a benchmark are pooled by runs."""
    observed_ns = int(past.n_due.sum()) * key.period_ns
    return 0 < observed_ns < _SHORT_NS and host_of_rank(key.host) is None


def windows_of(known: LearntBaselines) -> dict[SeriesKey, int]:
    """The window of every series, ns."""
    return {key: window_of(key, past) for key, past in known.past.items()}


def by_window(windows: Mapping[SeriesKey, int]) -> Iterable[tuple[int, list[SeriesKey]]]:
    """Series of each length of window, the shortest first."""
    for window_ns in sorted(set(windows.values())):
        yield window_ns, [key for key, own in windows.items() if own == window_ns]
