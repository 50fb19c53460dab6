"""One series as events are found in it: its windows, and what was expected of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.slowdown import VERSION_WIDTH, Baseline
from iosonde.weather.events.slow_intervals import OpWindows, Rule

_UNKNOWN = np.full(VERSION_WIDTH, np.nan)


class JudgedSeries(NamedTuple):
    """Windows of one series, which of them the probing host explains, and how spells are found in them."""

    windows: OpWindows
    busy: Flags
    rule: Rule
    dense: bool


def cut(series: JudgedSeries, since_ns: int, until_ns: int) -> JudgedSeries:
    """The windows that begin in [since, until)."""
    one = series.windows
    at = slice(*np.searchsorted(one.start_ns, [since_ns, until_ns]))
    learning = None if one.learning is None else one.learning[at]
    cut = OpWindows(
        one.start_ns[at],
        one.typ[at],
        one.tail[at],
        one.lost[at],
        one.n[at],
        one.window_ns,
        learning,
    )
    return series._replace(windows=cut, busy=series.busy[at])


def version_at(baseline: Baseline | None, at_ns: int) -> Floats:
    """What was expected at an instant; NaN while learning."""
    if baseline is None or len(baseline.from_ns) == 0:
        return _UNKNOWN
    row = int(baseline.at(np.array([at_ns]))[0])
    return _UNKNOWN if row < 0 else baseline.numbers[row]
