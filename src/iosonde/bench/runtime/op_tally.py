"""Tally of one op over one or more ranks: counts, sums and a histogram, which add up without loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from iosonde.bench.runtime.histogram import Histogram
from iosonde.model.runs import RUN_QUANTILES

LEAST_COUNT: dict[str, int] = {"q90": 10, "q99": 100}
"""Least number of operations for a quantile: below, it would be the maximum."""


@dataclass(frozen=True, slots=True, eq=False)
class OpTally:
    """Tally of one op over one or more ranks. ``latencies``: ns, of operations that ended ok, within 0.1%."""

    op: str
    ok: int
    sum_ns: int
    min_ns: int | None
    max_ns: int | None
    bytes: int
    failed: Mapping[str, int]
    failed_ns: int
    latencies: Histogram

    def plus(self, other: OpTally) -> OpTally:
        """Sum of both."""
        return OpTally(
            self.op if self.op == other.op else "",
            self.ok + other.ok,
            self.sum_ns + other.sum_ns,
            present(min, self.min_ns, other.min_ns),
            present(max, self.max_ns, other.max_ns),
            self.bytes + other.bytes,
            add_counts(self.failed, other.failed),
            self.failed_ns + other.failed_ns,
            self.latencies.plus(other.latencies),
        )

    def quantile(self, q: float) -> float | None:
        """The order statistic ceil(q n) of the latencies, ns; None without one.

        A bucket's middle is cut to the exact minimum and maximum.
        """
        if self.ok == 0 or self.min_ns is None or self.max_ns is None:
            return None
        value = self.latencies.at(max(1, math.ceil(q * self.ok)))
        return float(self.max_ns if value is None else min(max(value, self.min_ns), self.max_ns))

    def statistics(self) -> dict[str, float | None]:
        """Columns of a row: min_ns, mean_ns, q25_ns ... q99_ns, max_ns."""
        found: dict[str, float | None] = {
            "min_ns": None if self.min_ns is None else float(self.min_ns),
            "mean_ns": self.sum_ns / self.ok if self.ok else None,
            "max_ns": None if self.max_ns is None else float(self.max_ns),
        }
        for name, q in RUN_QUANTILES.items():
            enough = self.ok >= LEAST_COUNT.get(name, 1)
            found[f"{name}_ns"] = self.quantile(q) if enough else None
        return found

    @property
    def failures(self) -> int:
        """Number of failed operations."""
        return sum(self.failed.values())


def present(choose: Callable[[int, int], int], first: int | None, second: int | None) -> int | None:
    """The chosen one of two values, or the only one present."""
    if first is None or second is None:
        return second if first is None else first
    return choose(first, second)


def add_counts(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Sum of counts by name."""
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}
