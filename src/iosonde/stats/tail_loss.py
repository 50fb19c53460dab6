"""What the tail of a fixed amount of work costs: the rate while everybody is busy, against that at the last end.

Source: Petesch and Swan, "Instrumenting IOR to Diagnose Performance Issues on Lustre File Systems", section VII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


class Tail(NamedTuple):
    """Rates of a phase in amounts (bytes, operations) a second. None: cannot be said."""

    sustained_per_s: float | None
    """While all ranks were busy; None where there was no such time."""
    first_per_s: float | None
    """From the first begin to the first end of a rank."""
    last_per_s: float
    """From the first begin to the last end: what a benchmark prints."""
    first_s: float
    """How long after the first begin the first rank ended."""
    last_s: float
    """How long after the first begin the last rank ended."""
    ranks: int

    @property
    def loss(self) -> float | None:
        """1 - rate at the last end / sustained rate."""
        return None if not self.sustained_per_s else 1 - self.last_per_s / self.sustained_per_s


def tail_of(rank: Ints, begin_ns: Ints, end_ns: Ints, amount: Floats) -> Tail | None:
    """The tail of pieces of work: one a rank, or one an operation. Shapes (n,); ``rank`` says whose a piece is.

    Within a piece the amount moves evenly. Pieces that take no time, or have no finite amount, are left out; None
    where nothing is left, and where all of it together took no time.
    """
    good = (end_ns > begin_ns) & np.isfinite(amount) & (amount > 0)
    if not good.any():
        return None
    begin, end, amount = begin_ns[good], end_ns[good], amount[good]
    _, whose = np.unique(rank[good], return_inverse=True)
    ranks = int(whose.max()) + 1
    begins = np.full(ranks, np.iinfo(np.int64).max)
    ends = np.full(ranks, np.iinfo(np.int64).min)
    np.minimum.at(begins, whose, begin)
    np.maximum.at(ends, whose, end)
    origin, busy, first, last = begins.min(), begins.max(), ends.min(), ends.max()

    def rate(since: np.int64, until: np.int64) -> float | None:
        if until <= since:
            return None
        inside = np.minimum(end, until) - np.maximum(begin, since)
        moved = amount * np.clip(inside, 0, None) / (end - begin)
        return float(moved.sum()) * 1e9 / float(until - since)

    whole = rate(origin, last)
    if whole is None:
        return None
    of = (float(first - origin) / 1e9, float(last - origin) / 1e9)
    return Tail(rate(busy, first), rate(origin, first), whole, *of, ranks)
