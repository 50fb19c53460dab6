"""A histogram as two arrays: it adds up over ranks without loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Values, ascending, and the count of each; int64, shape (buckets,)."""

    values: Counts
    counts: Counts

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> Histogram:
        """Histogram from (value, count), ascending."""
        flat = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs))
        return cls(flat[::2].copy(), flat[1::2].copy())

    def plus(self, other: Histogram) -> Histogram:
        """Sum of both."""
        if not len(other.values):
            return self
        if not len(self.values):
            return other
        every = np.concatenate([self.values, other.values])
        values, bucket = np.unique(every, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, bucket, np.concatenate([self.counts, other.counts]))
        return Histogram(values, counts)

    def at(self, rank: int) -> int | None:
        """The ``rank``-th smallest value, from 1; None if there are fewer."""
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return int(self.values[place]) if place < len(self.values) else None

    def __len__(self) -> int:
        return int(self.counts.sum())
