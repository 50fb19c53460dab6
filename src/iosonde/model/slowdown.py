"""Baselines, and windows compared with them, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import EpochChange, SeriesKey
from iosonde.model.ops import TRIPLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints


LEVELS = tuple(round(0.05 * k, 2) for k in range(1, 20))
"""Levels of the quantile functions behind the typical slowdown."""
ABOVE_HITS, LATEST_BAND = 0.25, 0.80
"""Start of the band of levels of an op with two modes: so far above its hit share, at most the second."""
TRIPLE_COLUMNS = tuple(f"{name}{end}" for name in TRIPLE for end in ("", "_lower", "_upper"))
"""typ, tail and lost, each with both ends of its interval."""
VERSION_WIDTH = 40
"""Numbers of a version: 19 levels (ns), q99 (ns), n, hit share, mu_1, mu_2, sigma_1, sigma_2, the
detectors' 3 limits (ns), their null rates: 3 shares, 3 dispersions, typ, its error, lost; share and dispersion of
cache misses (NaN = unknown)."""
NULL_RATES, NULL_TYP, NULL_TYP_ERROR, NULL_MISSES = 29, 35, 36, 38
"""Start of the null rates, positions of ``typ`` of a busy but ordinary ten minutes, of the error of a minute's, and of
the usual share of misses."""
HIT_SHARE, MODES = 21, slice(22, 26)
"""Positions of the usual share of hits; of mu_1, mu_2 (ln ns), sigma_1 and sigma_2."""
Q50 = 9
"""Position of the expected median."""
INTERVAL_NS = 600 * 10**9
"""Length of a roll-up's interval."""


@dataclass(frozen=True)
class Histograms:
    """Log-bucket histograms side by side (gamma = 1.02, bucket = ceil(ln ns / ln gamma)).

    Row i: ``bucket[offsets[i]:offsets[i + 1]]`` ascending, with ``count``. Shapes: (rows + 1,) int64,
    (entries,) uint16, (entries,) uint32.
    """

    offsets: Ints
    bucket: NDArray[np.uint16]
    count: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def buffers(self) -> tuple[Any, Any, Any]:
        """Buffers as the core takes them."""
        return (
            np.ascontiguousarray(self.offsets, dtype=np.int64).data,
            np.ascontiguousarray(self.bucket, dtype=np.uint16).data,
            np.ascontiguousarray(self.count, dtype=np.uint32).data,
        )


@dataclass(frozen=True)
class Intervals:
    """Ten-minute intervals of several series, sorted by series and start.

    ``first`` (series + 1,): rows ``first[k]:first[k + 1]`` are of ``keys[k]``. Columns (rows,).
    An empty ``response`` row says that responses are the service times.
    """

    keys: list[SeriesKey]
    first: Ints
    start_ns: Ints
    n_due: Ints
    n_lost: Ints
    service: Histograms
    response: Histograms


@dataclass(frozen=True)
class Baseline:
    """All versions of the expectation for one series.

    ``from_ns`` (versions,) ascending: each holds until the next. ``numbers`` (versions, 40): see
    ``VERSION_WIDTH``. ``climate``: now / the reference epoch, NaN before there is one.
    """

    key: SeriesKey
    from_ns: Ints
    numbers: Floats
    stage: Ints
    epoch: Ints
    climate: Floats

    def at(self, instant_ns: Ints) -> Ints:
        """Row that applies at each instant, -1 while learning. Shape: (n,) -> (n,)."""
        return np.searchsorted(self.from_ns, instant_ns, side="right").astype(np.int64) - 1

    def median_ns(self, row: Ints) -> Floats:
        """Expected median of each row of ``at``; NaN for -1."""
        return self._pick(self.numbers[:, len(LEVELS) // 2], row)

    def hit_share(self, row: Ints) -> Floats:
        """Expected share of the fast mode; NaN if there is one mode."""
        return self._pick(self.numbers[:, HIT_SHARE], row)

    def middle_ns(self, row: Ints) -> Floats:
        """Expected latency in the middle of typ's band of levels; NaN for -1."""
        from_level = np.minimum(
            LATEST_BAND, np.ceil(20 * (self.numbers[:, HIT_SHARE] + ABOVE_HITS) - 1e-9) / 20
        )
        first = np.where(np.isnan(from_level), 0, np.round(20 * from_level) - 1).astype(np.int64)
        places = (first + len(LEVELS) - 1) // 2
        return self._pick(self.numbers[np.arange(len(places)), places], row)

    def _pick(self, column: Floats, row: Ints) -> Floats:
        found = np.full(len(row), np.nan)
        known = row >= 0
        found[known] = column[row[known]]
        return found


@dataclass(frozen=True)
class JudgedIntervals:
    """Intervals judged by earlier baselines, and all baselines.

    ``columns``: the 9 of ``TRIPLE_COLUMNS`` (float64), ``flagged`` (bool), ``stage`` and ``epoch``
    (int64), one row an interval.
    """

    intervals: Intervals
    columns: dict[str, NDArray[Any]]
    baselines: dict[SeriesKey, Baseline]
    changes: list[EpochChange]
