"""One series as events are found in it: its windows, and what was expected of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.slowdown import Q50, VERSION_WIDTH, Baseline
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.slow_intervals import OpWindows, Rule, rule_of
from iosonde.weather.slowdown.window_length import MINUTE_NS

_UNKNOWN = np.full(VERSION_WIDTH, np.nan)


class JudgedSeries(NamedTuple):
    """Windows of one series, and which of them the probing host explains; stretches that were found in them.

    ``slow``, ``hung``: by begin. ``first_ns``, ``last_ns``: its first and last operation, or window; None: unknown.
    """

    windows: OpWindows
    busy: Flags
    slow: Sequence[SlowPiece] = ()
    hung: Sequence[SlowPiece] = ()
    first_ns: int | None = None
    last_ns: int | None = None

    @property
    def rule(self) -> Rule:
        """How spells are found in the windows."""
        return rule_of(self.windows.window_ns)

    @property
    def dense(self) -> bool:
        """Whether a minute holds enough operations for the detectors."""
        return self.windows.window_ns <= MINUTE_NS


def cut(series: JudgedSeries, since_ns: int, until_ns: int) -> JudgedSeries:
    """The windows that begin in [since, until)."""
    one = series.windows
    at = slice(*np.searchsorted(one.start_ns, [since_ns, until_ns]))
    return series._replace(windows=one.rows(at), busy=series.busy[at])


def expected_at(series: JudgedSeries | None, baseline: Baseline | None, at_ns: int) -> Floats:
    """The same; in the first hour the median of the windows so far, and nothing else."""
    version = version_at(baseline, at_ns)
    if series is None or not np.isnan(version[Q50]):
        return version
    windows = series.windows
    row = int(np.searchsorted(windows.start_ns, at_ns, side="right")) - 1
    young = version.copy()
    if row >= 0:
        young[Q50] = windows.known("usual_ns")[row]
    return young


def version_at(baseline: Baseline | None, at_ns: int) -> Floats:
    """What was expected at an instant; NaN while learning."""
    if baseline is None or len(baseline.from_ns) == 0:
        return _UNKNOWN
    row = int(baseline.at(np.array([at_ns]))[0])
    return _UNKNOWN if row < 0 else baseline.numbers[row]
