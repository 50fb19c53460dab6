"""What IOR prints of a phase, and what is known of its ranks and operations."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.runs import RUN_QUANTILES

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants, Ints

MIB = 1 << 20
_LEAST = {"q90": 10, "q99": 100}
"""Below so many operations runs.toml has no such quantile."""
COARSE = 0.05
"""A rate at the time limit whose rounding is more than this share of it is not stored."""


@dataclass
class Wall:
    """What is known of the moment when the time limit was reached."""

    least_pairs: int | None = None
    most_pairs: int | None = None
    seconds: float | None = None
    mean_gib: float | None = None
    """Of a rank, with one decimal."""
    mean_mib_per_s: float | None = None
    """Of a rank: the table's Stonewall(MiB)."""
    pairs: dict[int, int] = field(default_factory=dict)
    """Of single ranks."""

    def mean_pairs(self, ranks: int | None, transfer: int | None) -> float | None:
        """Operations of the mean rank when the limit was reached, where they are known to 5%."""
        if ranks and len(self.pairs) == ranks:
            return sum(self.pairs.values()) / ranks
        if transfer and self.mean_mib_per_s and self.seconds:
            return self.mean_mib_per_s * MIB * self.seconds / transfer
        if self.least_pairs is None or self.most_pairs is None or not ranks:
            return None
        spread = self.most_pairs - self.least_pairs
        low = self.least_pairs + spread / ranks
        high = self.most_pairs - spread / ranks
        if ranks == 1:
            low = high = self.most_pairs
        if self.mean_gib is not None and transfer:
            low = max(low, (self.mean_gib - 0.05) * 2**30 / transfer)
            high = min(high, (self.mean_gib + 0.05) * 2**30 / transfer)
        middle = (low + high) / 2
        return middle if low <= high and high - low <= 2 * COARSE * middle else None


@dataclass
class Result:
    """A line of IOR's table of results, or what stands for one. None: not said, or below what is printed."""

    access: str
    repetition: int = 0
    bw_mib: float | None = None
    iops: float | None = None
    latency_s: float | None = None
    open_s: float | None = None
    transfer_s: float | None = None
    close_s: float | None = None
    total_s: float | None = None
    bytes: int | None = None
    """That were moved, where a line says so."""
    began_ns: int | None = None
    wall: Wall = field(default_factory=Wall)
    reported: dict[str, Any] = field(default_factory=dict)
    alike: bool | None = None
    """Whether each rank moved as much; None: as the time limit says."""
    exact: bool = False
    """Whether ``total_s`` has more digits than the table prints."""
    ended: bool = True
    """Whether its line is there; False for what only timers of ranks show."""


@dataclass
class RankTimes:
    """Of the ranks of one repetition. Shapes (ranks,); ``NaN`` seconds are missing."""

    rank: Ints
    whole_s: Floats
    """Open to close."""
    transfer_s: Floats
    whole_began_ns: Instants | None = None
    """ns since the epoch, where ranks say when they began; negative where one does not."""
    transfer_began_ns: Instants | None = None
    mean_bytes: float | None = None
    """Of a rank, where that is all that is said."""


@dataclass
class OpTimes:
    """Single operations of one repetition, rank by rank. Shapes (operations,)."""

    rank: Ints
    begin_ns: Ints
    """Since the phase began, by each rank's own clock."""
    runtime_ns: Ints
    bytes: Ints

    def of(self, rank: int) -> OpTimes | None:
        """Those of one rank; None where it has none."""
        own = self.rank == rank
        if not own.any():
            return None
        return OpTimes(self.rank[own], self.begin_ns[own], self.runtime_ns[own], self.bytes[own])

    def statistics(self) -> dict[str, float]:
        """Columns of latencies: order statistics ceil(q n), exact."""
        ordered = np.sort(self.runtime_ns)
        n = len(ordered)
        found = {"min_ns": ordered[0], "mean_ns": ordered.mean(), "max_ns": ordered[-1]}
        for name, q in RUN_QUANTILES.items():
            if n >= _LEAST.get(name, 1):
                found[f"{name}_ns"] = ordered[math.ceil(q * n) - 1]
        return {name: float(value) for name, value in found.items()}
