"""From a made stream to what iosonde says about it: intervals, the guarded baseline, typ and tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import START_NS
from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import (
    INTERVAL_NS,
    LEVELS,
    VERSION_WIDTH,
    Baseline,
    Histograms,
    Intervals,
    JudgedIntervals,
)
from iosonde.weather.events.slow_intervals import sure_tail
from iosonde.weather.samples.operations import IN_TIME, Operations
from iosonde.weather.slowdown.guarded import guard
from iosonde.weather.slowdown.triples import triples

SECOND_NS = 1_000_000_000
INTERVAL_S = INTERVAL_NS // SECOND_NS
GAMMA_LOG = np.log(1.02)
_TAILS = (0.9, 0.95)


def key(op: str) -> SeriesKey:
    """The series of an op of the one made target."""
    return SeriesKey("login2", "/work", op, SECOND_NS)


def buckets(seconds: Floats) -> NDArray[np.int64]:
    """The log bucket of each latency."""
    return np.ceil(np.log(seconds * 1e9) / GAMMA_LOG).astype(np.int64)


def value_ns(bucket: NDArray[np.int64]) -> Floats:
    """What a bucket stands for."""
    return np.asarray(2 * np.exp(GAMMA_LOG * bucket) / 2.02)


def histograms(seconds: Floats, interval_s: int = INTERVAL_S) -> Histograms:
    """One row an interval of a 1 Hz stream; a shorter last one is left out."""
    rows = len(seconds) // interval_s
    bucket = buckets(seconds[: rows * interval_s])
    width = int(bucket.max(initial=0)) + 1
    row = np.repeat(np.arange(rows), interval_s)
    counts = np.bincount(row * width + bucket, minlength=rows * width).reshape(rows, width)
    where_row, where_bucket = np.nonzero(counts)
    offset = np.searchsorted(where_row, np.arange(rows + 1))
    used = counts[where_row, where_bucket]
    return Histograms(
        offset.astype(np.int64), where_bucket.astype(np.uint16), used.astype(np.uint32)
    )


def intervals(op: str, seconds: Floats, start_ns: int = START_NS) -> Intervals:
    """Ten-minute intervals of one op without losses."""
    service = histograms(seconds)
    n = len(service)
    nothing = Histograms(np.zeros(n + 1, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint32))
    return Intervals(
        [key(op)],
        np.array([0, n]),
        start_ns + np.arange(n) * INTERVAL_NS,
        np.full(n, INTERVAL_S),
        np.zeros(n, np.int64),
        service,
        nothing,
    )


def operations(seconds: Floats, start_ns: int = START_NS) -> Operations:
    """One operation a second that began when it was due and waited for no CPU."""
    n = len(seconds)
    due = start_ns + np.arange(n) * SECOND_NS
    ended = due + (seconds * 1e9).astype(np.int64)
    nothing = np.zeros(n, np.int64)
    return Operations(due, due, ended, np.full(n, IN_TIME), nothing)


def judged(op: str, seconds: Floats, start_ns: int = START_NS) -> tuple[JudgedIntervals, Baseline]:
    """What the kernel makes of a stream."""
    result = guard(intervals(op, seconds, start_ns))
    return result, result.baselines[key(op)]


@dataclass(frozen=True)
class Expected:
    """One version of a baseline, as the kernel takes it."""

    numbers: Floats

    @classmethod
    def exact(cls, seconds: Floats, hit_share: float = float("nan")) -> Expected:
        """From as many undisturbed latencies as one likes; the modes are left out."""
        numbers = np.full(VERSION_WIDTH, np.nan)
        numbers[:20] = np.quantile(seconds, [*LEVELS, 0.99], method="inverted_cdf") * 1e9
        numbers[20] = len(seconds)
        numbers[21] = hit_share
        return cls(numbers)


def slowdowns(windows: Floats, which: NDArray[np.int64], versions: Floats) -> tuple[Floats, Floats]:
    """Typ and certain tail of (n, samples) windows of seconds, each against its version (-1: none)."""
    ranked = np.sort(windows, axis=1) * 1e9
    n, size = ranked.shape
    levels, tails = (
        np.stack([_point(ranked, q, size) for q in wanted], axis=1) for wanted in (LEVELS, _TAILS)
    )
    counts = np.tile(np.array([size, size, size, 0]), (n, 1))
    found = triples(levels, tails, counts, which, versions)
    return found["typ"], sure_tail(found["tail"], found["tail_lower"])


def _point(ranked: Floats, q: float, size: int) -> Floats:
    """(n, 3): lower end, point and upper end of a quantile; NaN where too few values bound it on that side."""
    ends = int(binom.ppf(0.025, size, q)), int(binom.ppf(0.975, size, q)) + 1
    nothing = np.full(len(ranked), np.nan)
    lower, upper = (ranked[:, rank - 1] if 1 <= rank <= size else nothing for rank in ends)
    point = ranked[:, int(np.ceil(round(q * size, 9))) - 1]
    return np.stack([lower, point, upper], axis=1)


def minutes(seconds: Floats, baseline: Baseline, start_ns: int = START_NS) -> tuple[Floats, Floats]:
    """Typ and tail of every 60 s of a stream, each against what was expected by then."""
    n = len(seconds) // 60
    which = baseline.at(start_ns + np.arange(n) * 60 * SECOND_NS)
    return slowdowns(seconds[: n * 60].reshape(n, 60), which, baseline.numbers)
