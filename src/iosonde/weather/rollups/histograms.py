"""Log-bucket histograms of many lists at once, and statistics of them.

Bucket ``ceil(ln(ns) / ln 1.02)`` (0 for ns <= 1), value ``2 * 1.02**bucket / 2.02``: within 1% of all
that lies in it. Merging adds counts, so a histogram of a day is exactly the sum of those of its parts.
Source: Masson, Rim, Lee: DDSketch, VLDB 2019, section 2.1; the core has the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.engine.order_statistics import Ragged
from iosonde.model import slowdown as model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints


GAMMA = 1.02
BUCKETS = 1650
"""Number of buckets, as in the core; the last one takes everything above a day and a half."""
_BLOCK = 1 << 22


def buckets(ns: Ints) -> Ints:
    """The bucket of each latency."""
    place = np.ceil(np.log(np.maximum(ns, 1)) / np.log(GAMMA)).astype(np.int64)
    found: Ints = np.minimum(place, BUCKETS - 1)
    return found


def values_ns() -> Floats:
    """Representative latency of each bucket, ns."""
    found: Floats = 2.0 * np.exp(np.arange(BUCKETS) * np.log(GAMMA)) / (1.0 + GAMMA)
    return found


@dataclass(frozen=True)
class SummedHistograms(model.Histograms):
    """The model's histograms (positive counts, contiguous arrays), built from lists and added up."""

    @staticmethod
    def of(lists: Ragged) -> SummedHistograms:
        """Histograms of sorted lists of latencies."""
        found = buckets(lists.values)
        new = np.ones(len(found), dtype=bool)
        new[1:] = found[1:] != found[:-1]
        begins = lists.offsets[:-1]
        new[begins[begins < len(found)]] = True
        firsts = np.flatnonzero(new)
        count = np.diff(np.append(firsts, len(found)))
        offsets = np.searchsorted(firsts, lists.offsets).astype(np.int64)
        return SummedHistograms(offsets, found[firsts].astype(np.uint16), count.astype(np.uint32))

    @staticmethod
    def of_totals(
        totals: Ints, bucket: NDArray[np.uint16], count: NDArray[np.uint32]
    ) -> SummedHistograms:
        """Histograms from concatenated rows with ``totals`` latencies each.

        Raises ValueError when counts do not add up to them.
        """
        reached, ends = np.cumsum(count, dtype=np.int64), np.cumsum(totals)
        offsets = np.concatenate(([0], np.searchsorted(reached, ends) + (ends > 0)))
        some = ends > 0
        if not (
            len(bucket) == len(count) == offsets[-1]
            and np.array_equal(reached[offsets[1:][some] - 1], ends[some])
        ):
            raise ValueError("a histogram does not hold as many latencies as its row says")
        found = SummedHistograms(offsets, bucket, count)
        found.__dict__["reached"] = reached
        return found

    @cached_property
    def reached(self) -> Ints:
        """Cumulative number of latencies up to each entry, over all rows."""
        return np.cumsum(self.count, dtype=np.int64)

    def none(self) -> SummedHistograms:
        """Empty histograms of as many rows."""
        return SummedHistograms(np.zeros_like(self.offsets), self.bucket[:0], self.count[:0])

    def totals(self) -> Ints:
        """Number of latencies of each row."""
        sums = np.concatenate(([0], self.reached))
        found: Ints = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return found

    def take(self, rows: Ints) -> SummedHistograms:
        """Some rows, in the given order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        place = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return SummedHistograms(offsets, self.bucket[place], self.count[place])

    def merged(self, firsts: Ints) -> SummedHistograms:
        """Sums of consecutive rows; ``firsts``: start of each group (ascending, from 0)."""
        ends = np.append(firsts[1:], len(self))
        parts = []
        step = max(1, _BLOCK // BUCKETS)
        for begin in range(0, len(firsts), step):
            run = np.repeat(*_runs(firsts[begin : begin + step], ends[begin : begin + step]))
            rows = slice(firsts[begin], ends[min(begin + step, len(ends)) - 1])
            offsets = self.offsets[rows.start : rows.stop + 1]
            inside = slice(offsets[0], offsets[-1])
            place = np.repeat(run, np.diff(offsets)) * BUCKETS + self.bucket[inside]
            size = len(firsts[begin : begin + step]) * BUCKETS
            parts.append(_counted(np.bincount(place, self.count[inside], size).astype(np.int64)))
        return joined(parts)

    def replaced(self, without: Ragged, instead: Ragged) -> SummedHistograms:
        """Each row with the latencies ``without``, which it holds, replaced by ``instead``."""
        parts = []
        step = max(1, _BLOCK // BUCKETS)
        for begin in range(0, len(self), step):
            rows = slice(begin, min(begin + step, len(self)))
            n = rows.stop - begin
            inside = slice(self.offsets[begin], self.offsets[rows.stop])
            row = np.repeat(np.arange(n), np.diff(self.offsets[begin : rows.stop + 1]))
            dense = np.zeros(n * BUCKETS, dtype=np.int64)
            dense[row * BUCKETS + self.bucket[inside]] = self.count[inside]
            np.subtract.at(dense, _places(without, rows), 1)
            np.add.at(dense, _places(instead, rows), 1)
            parts.append(_counted(dense))
        return joined(parts)


def _places(lists: Ragged, rows: slice) -> Ints:
    """Flat index (row and bucket) of each latency of some lists."""
    offsets = lists.offsets[rows.start : rows.stop + 1]
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    found: Ints = row * BUCKETS + buckets(lists.values[offsets[0] : offsets[-1]])
    return found


def _runs(firsts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    return np.arange(len(firsts)), ends - firsts


def _counted(dense: Ints) -> SummedHistograms:
    """Histograms from dense counts by row and bucket, row after row."""
    place = np.flatnonzero(dense)
    edges = np.arange(0, len(dense) + 1, BUCKETS)
    return SummedHistograms(
        np.searchsorted(place, edges).astype(np.int64),
        (place % BUCKETS).astype(np.uint16),
        dense[place].astype(np.uint32),
    )


def joined(parts: Sequence[SummedHistograms]) -> SummedHistograms:
    """Rows of all parts concatenated."""
    if len(parts) == 1:
        return parts[0]
    offsets: list[Any] = [np.zeros(1, dtype=np.int64)]
    entries = 0
    for part in parts:
        offsets.append(part.offsets[1:] + entries)
        entries += len(part.bucket)
    nothing = [np.zeros(0, dtype=np.uint16)], [np.zeros(0, dtype=np.uint32)]
    return SummedHistograms(
        np.concatenate(offsets),
        np.concatenate([part.bucket for part in parts] or nothing[0]),
        np.concatenate([part.count for part in parts] or nothing[1]),
    )
