"""Alarms on made streams at 1 Hz: the live probe's own detectors, in seconds since the stream began."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.judge import SECOND_NS, operations
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import START_NS
from iosonde.model.slowdown import Baseline
from iosonde.weather.events.pieces.alarms import alarms

INFINITE = float("inf")
_GRACE_S = 60
"""An alarm may be raised so long after what caused it ended."""


class Raised(NamedTuple):
    """When alarms were raised (seconds) and by what, and the share of the time that they lasted."""

    at_s: NDArray[np.int64]
    causes: list[str]
    in_alarm: float


def raised(seconds: Floats, which: NDArray[np.int64], versions: Floats) -> Raised:
    """Alarms of one stream; ``which``: the version that each second is judged by, -1 while learning."""
    rows = operations(seconds)
    found = alarms(rows, which, versions)
    last = int(rows.due_ns[-1])
    lasted = sum((a.cleared_ns or last) - a.raised_ns for a in found)
    at = np.array([(a.raised_ns - START_NS) // SECOND_NS for a in found], dtype=np.int64)
    return Raised(at, [a.cause for a in found], lasted / SECOND_NS / len(seconds))


def raised_live(seconds: Floats, baseline: Baseline) -> Raised:
    """Alarms as an agent raises them that knew each version of the baseline when it was learnt."""
    which = baseline.at(START_NS + np.arange(len(seconds)) * SECOND_NS)
    return raised(seconds, which, baseline.numbers)


def raised_after(seconds: Floats, numbers: Floats) -> Raised:
    """Alarms against one version that does not change, shape (1, versions)."""
    return raised(seconds, np.zeros(len(seconds), np.int64), numbers)


def delays(at_s: NDArray[np.int64], begins: NDArray[np.int64], long_s: int) -> Floats:
    """Seconds to the first alarm of each case; those of cases that have one."""
    place = np.searchsorted(at_s, begins, side="right")
    after = np.append(at_s, np.iinfo(np.int64).max)[place] - begins
    return after[after <= long_s + _GRACE_S].astype(np.float64)


def median(values: Floats) -> float:
    """The median; infinite of nothing."""
    return float(np.median(values)) if len(values) else INFINITE
