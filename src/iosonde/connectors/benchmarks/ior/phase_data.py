"""Numbers that IOR prints for a phase, and data about its ranks and operations."""

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
"""Least operations for which runs.toml has such a quantile."""
COARSE = 0.05
"""Largest relative rounding error of a rate at the time limit that is stored."""


@dataclass
class Wall:
    """State at the moment the time limit was reached."""

    least_pairs: int | None = None
    most_pairs: int | None = None
    seconds: float | None = None
    mean_gib: float | None = None
    """Per rank, with one decimal."""
    mean_mib_per_s: float | None = None
    """Per rank: the table's Stonewall(MiB)."""
    pairs: dict[int, int] = field(default_factory=dict)
    """By rank."""

    def mean_pairs(self, ranks: int | None, transfer: int | None) -> float | None:
        """Operations of the mean rank when the limit was reached, if known to 5%."""
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
    """A line of IOR's table of results, or its substitute. None: not printed, or below the precision printed."""

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
    """Bytes moved, if a line gives them."""
    began_ns: int | None = None
    wall: Wall = field(default_factory=Wall)
    reported: dict[str, Any] = field(default_factory=dict)
    alike: bool | None = None
    """True if all ranks moved the same amount; None: depends on the time limit."""
    exact: bool = False
    """True if ``total_s`` has more digits than the table prints."""
    ended: bool = True
    """True if the result line exists; False if only timers of ranks show the phase."""


@dataclass
class RankTimes:
    """Times of the ranks of one repetition. Shapes (ranks,); ``NaN`` seconds are missing."""

    rank: Ints
    whole_s: Floats
    """Open to close."""
    transfer_s: Floats
    whole_began_ns: Instants | None = None
    """ns since the epoch, if ranks print their start; negative for a rank without."""
    transfer_began_ns: Instants | None = None
    mean_bytes: float | None = None
    """Mean per rank, if the file gives no more."""


@dataclass
class OpTimes:
    """Single operations of one repetition, rank by rank. Shapes (operations,)."""

    rank: Ints
    begin_ns: Ints
    """Since the start of the phase, by each rank's own clock."""
    runtime_ns: Ints
    bytes: Ints

    def of(self, rank: int) -> OpTimes | None:
        """Operations of one rank; None if it has none."""
        own = self.rank == rank
        if not own.any():
            return None
        return OpTimes(self.rank[own], self.begin_ns[own], self.runtime_ns[own], self.bytes[own])

    def statistics(self) -> dict[str, float]:
        """Latency columns: exact order statistics ceil(q n)."""
        ordered = np.sort(self.runtime_ns)
        n = len(ordered)
        found = {"min_ns": ordered[0], "mean_ns": ordered.mean(), "max_ns": ordered[-1]}
        for name, q in RUN_QUANTILES.items():
            if n >= _LEAST.get(name, 1):
                found[f"{name}_ns"] = ordered[math.ceil(q * n) - 1]
        return {name: float(value) for name, value in found.items()}
