"""Short spans in which operations are slower than the rest of the same run.

At several window lengths, windows by when operations began; in each the mean, q50, q95 and q99, over the median
of that statistic over all windows ("its usual"). A window is unusual when one of mean, q95 and q99 reaches twice
its usual and lies outside what the statistic does from window to window, *and* more of its operations took long
than chance allows in all the windows looked at. Neighbouring unusual windows are one span. Spans of all lengths
compete: the least likely is kept, and what overlaps it dropped. A burst begins with the first operation that took
long in its span and ends with the last. The median is judged beside them by the rule that makes a window slow.
Source: interval statistics of Kunkel and Betke 2019; scan statistics over several window lengths, e.g. Glaz et al.
2001; docs/methods/bursts.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats.ranks import quantile_ranks
from iosonde.stats.tails import poisson_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats, Ints


STATISTICS: tuple[str, ...] = ("mean", "q50", "q95", "q99")
SEEN_BY: tuple[str, ...] = ("mean", "q95", "q99")
"""Statistics that define a burst; the median is judged beside them."""
FACTOR_AT, LOWER_AT = 2.0, 1.5
"""Least unusual factor; for a median the lower end of its interval must also reach the second."""
DEVIATIONS = 3.0
"""Least distance in scaled median absolute deviations of the log factor."""
WINDOWS_S: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
WANTED, FEWEST = 100, 20
"""Wanted and least number of operations of the shortest window, in the median window."""
FEWEST_WINDOWS = 8
LONG_AT: tuple[float, ...] = (2.0, 6.0, 18.0)
"""Multiples of the usual q95 that define long operations: few very long ones count as much as many."""
FEWEST_LONG = 3
"""Least number of long operations of a burst; fewer are stragglers."""
CHANCE = 0.01
"""Probability of any false burst in a run with independent long operations."""
_BRIDGED = 1
_SMALLEST = 1e-3
_MOST_WINDOWS = 1_000_000


@dataclass(frozen=True)
class Burst:
    """A burst. Instants as those given in; factors are observed / usual.

    ``peaks``: the largest factor of a window, by statistic; ``seen_by``: the statistics that are unusual in a
    window of it; ``n``: operations that began in it, of which ``n_long`` took longer than ``long_ns``;
    ``chance``: probability of so many long operations in some window of the run.
    """

    start_ns: int
    end_ns: int
    n: int
    n_long: int
    long_ns: float
    window_ns: int
    peaks: dict[str, float]
    seen_by: tuple[str, ...]
    chance: float


@dataclass(frozen=True)
class BurstsFound:
    """All bursts of a run by time, and the window scales of the search, shortest first."""

    scales: tuple[WindowScale, ...]
    bursts: list[Burst]

    @property
    def usual_ns(self) -> dict[str, float]:
        """Usual value of each statistic in the shortest windows."""
        return self.scales[0].usual

    def peaks(self, start_ns: int, end_ns: int) -> dict[str, float]:
        """Largest factor of a shortest window within [start, end), by statistic; empty for none."""
        return self.scales[0].peaks(start_ns, end_ns)

    def median_sees(self, start_ns: int, end_ns: int) -> bool:
        """True if, at any window length, a window in [start, end) counts as slow by its median."""
        return any(scale.median_sees(start_ns, end_ns) for scale in self.scales)


class _Run(NamedTuple):
    began_ns: Ints
    service_ns: Floats
    long_ns: float
    long: Flags


def windows_for(began_ns: Ints) -> tuple[int, ...]:
    """Window lengths (ns) that the density of a run allows, ascending; empty when there are too few operations.

    ``began_ns``: (operations,). The median window of each holds ``WANTED`` operations, or ``FEWEST`` where no
    length gives more; each gives at least ``FEWEST_WINDOWS`` windows.
    """
    if len(began_ns) < FEWEST * FEWEST_WINDOWS:
        return ()
    since = began_ns - began_ns.min()
    allowed: list[tuple[int, float]] = []
    for window_s in WINDOWS_S:
        window = int(window_s * 1e9)
        windows = int(since.max()) // window + 1
        if windows < FEWEST_WINDOWS:
            break
        if windows > _MOST_WINDOWS:
            continue
        middle = float(np.median(np.bincount(since // window)))
        if middle >= FEWEST:
            allowed.append((window, middle))
    full = tuple(window for window, middle in allowed if middle >= WANTED)
    return full or tuple(window for window, _ in allowed)


def find_bursts(
    began_ns: Ints,
    service_ns: Floats,
    windows_ns: Sequence[int],
    unit_ns: Floats | None = None,
) -> BurstsFound | None:
    """Bursts of one op. Shapes: (operations,) each, ``began_ns`` ascending; ``service_ns`` finite.

    ``unit_ns`` (operations,): what each latency is measured in, for operations that are not alike; the statistics
    are then in units.

    None when the first window length gives fewer than ``FEWEST_WINDOWS`` windows with operations.
    Raises ValueError for a window that is not above 0.
    """
    if not windows_ns or min(windows_ns) <= 0:
        raise ValueError("window lengths must be above 0")
    if len(began_ns) == 0:
        return None
    value = service_ns if unit_ns is None else service_ns / unit_ns
    scales = [WindowScale(began_ns, value, window) for window in windows_ns]
    if len(scales[0].counts) < FEWEST_WINDOWS:
        return None
    usual = scales[0].usual
    cuts = [factor * usual["q95"] for factor in LONG_AT]
    runs = [_Run(began_ns, service_ns, cut, value > cut) for cut in cuts]
    allowed = CHANCE / (len(runs) * sum(len(scale.counts) for scale in scales))
    candidates = [
        burst
        for scale in scales
        if len(scale.counts) >= FEWEST_WINDOWS
        for run in runs
        for burst in scale.bursts(run, allowed)
    ]
    return BurstsFound(tuple(scales), least_likely(candidates))


class WindowScale:
    """Window statistics of a run at one window length."""

    def __init__(self, began_ns: Ints, service_ns: Floats, window_ns: int) -> None:
        self.window_ns = window_ns
        number = (began_ns - began_ns[0]) // window_ns
        places, first, self.counts = np.unique(number, return_index=True, return_counts=True)
        self.starts: Ints = began_ns[0] + places * window_ns
        self.edges: Ints = np.append(first, len(number)).astype(np.int64)
        ordered = service_ns[np.lexsort((service_ns, number))]
        values = {"mean": np.add.reduceat(service_ns, first) / self.counts}
        for name, q in (("q50", 0.50), ("q95", 0.95), ("q99", 0.99)):
            rank = np.ceil(q * self.counts - 1e-9).astype(np.int64)
            values[name] = ordered[first + rank - 1]
        self.usual = {name: max(float(np.median(values[name])), _SMALLEST) for name in STATISTICS}
        self.factors = {name: values[name] / self.usual[name] for name in STATISTICS}
        self.unusual = {name: _outside(self.factors[name]) for name in STATISTICS}
        sizes, place = np.unique(self.counts, return_inverse=True)
        lower = np.array([(quantile_ranks(int(n), 0.5) or (0, 0, 0))[0] for n in sizes])[place]
        ends = ordered[first + np.maximum(lower, 1) - 1] / self.usual["q50"]
        self.median_lower: Floats = np.where(lower > 0, ends, np.nan)
        """Lower end of the 95% interval of the median's factor; NaN for too few operations."""
        self.unusual["q50"] &= self.median_lower >= LOWER_AT

    def peaks(self, start_ns: int, end_ns: int) -> dict[str, float]:
        """See ``BurstsFound.peaks``."""
        inside = self._inside(start_ns, end_ns)
        if not inside.any():
            return {}
        return {name: float(self.factors[name][inside].max()) for name in STATISTICS}

    def median_sees(self, start_ns: int, end_ns: int) -> bool:
        """See ``BurstsFound.median_sees``."""
        return bool(self.unusual["q50"][self._inside(start_ns, end_ns)].any())

    def _inside(self, start_ns: int, end_ns: int) -> Flags:
        flags: Flags = (self.starts < end_ns) & (self.starts + self.window_ns > start_ns)
        return flags

    def bursts(self, run: _Run, allowed: float) -> list[Burst]:
        """Spans of significantly unusual windows."""
        long = np.add.reduceat(run.long.astype(np.int64), self.edges[:-1])
        chance = poisson_tail(long, self.counts * run.long.mean())
        seen = np.logical_or.reduce([self.unusual[name] for name in SEEN_BY])
        seen &= (chance <= allowed) & (long >= FEWEST_LONG)
        return [self._burst(run, begin, end, allowed) for begin, end in _spans(seen)]

    def _burst(self, run: _Run, begin: int, end: int, allowed: float) -> Burst:
        window = slice(begin, end)
        rows = slice(int(self.edges[begin]), int(self.edges[end]))
        long = np.flatnonzero(run.long[rows]) + rows.start
        ended = run.began_ns[long] + run.service_ns[long].astype(np.int64)
        expected = (rows.stop - rows.start) * run.long.mean()
        found = float(poisson_tail(np.array([len(long)]), np.array([expected]))[0])
        return Burst(
            start_ns=int(run.began_ns[long[0]]),
            end_ns=int(ended.max()),
            n=int(long[-1] - long[0]) + 1,
            n_long=len(long),
            long_ns=run.long_ns,
            window_ns=self.window_ns,
            peaks={name: float(self.factors[name][window].max()) for name in STATISTICS},
            seen_by=tuple(name for name in SEEN_BY if self.unusual[name][window].any()),
            chance=min(1.0, found * CHANCE / allowed),
        )


def _outside(factor: Floats) -> Flags:
    """Mask of windows that are unusual in a statistic."""
    logs = np.log(np.maximum(factor, 1e-9))
    scale = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    flags: Flags = factor >= max(FACTOR_AT, np.exp(DEVIATIONS * scale))
    return flags


def _spans(unusual: Flags) -> list[tuple[int, int]]:
    """(first, one after the last) of consecutive unusual windows, with gaps of up to ``_BRIDGED`` usual ones.

    Windows in which nothing began, because everything waited, are no rows and so never part a span.
    """
    rows = np.flatnonzero(unusual)
    if len(rows) == 0:
        return []
    breaks = np.flatnonzero(np.diff(rows) > _BRIDGED + 1)
    firsts = rows[np.concatenate(([0], breaks + 1))]
    lasts = rows[np.concatenate((breaks, [len(rows) - 1]))]
    return [(int(begin), int(end) + 1) for begin, end in zip(firsts, lasts, strict=True)]


def least_likely(candidates: list[Burst]) -> list[Burst]:
    """Least likely of overlapping bursts, the shortest of equal ones; by time."""
    kept: list[Burst] = []
    for burst in sorted(candidates, key=lambda b: (b.chance, b.end_ns - b.start_ns)):
        if all(burst.end_ns <= b.start_ns or b.end_ns <= burst.start_ns for b in kept):
            kept.append(burst)
    return sorted(kept, key=lambda burst: burst.start_ns)
