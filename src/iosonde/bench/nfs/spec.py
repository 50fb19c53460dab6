"""Parameters of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.model.errors import UsageError

STABILITIES = ("unstable", "stable")
MS, SECOND = 10**6, 10**9


@dataclass(frozen=True, slots=True)
class SweepSpec:
    """Writes of 8 bytes at rising rates beside reads of one byte. Times in ns, rates per second."""

    connections: int = 4
    first_per_s: float = 100.0
    last_per_s: float = 10_000.0
    factor: float = 1.5
    refine: int = 3
    """Points inserted between the last rate without waiting reads and the first with."""
    duration_ns: int = 10 * SECOND
    """Duration of one point."""
    probe_period_ns: int = 100 * MS
    ceiling_ns: int = 1 * SECOND
    """Latency of a read that ends the sweep."""
    limit_ns: int = 600 * SECOND
    """Time after which no point starts."""
    patience_ns: int = 60 * SECOND
    """Longest wait for answers after a point, and for the server's queue after that."""
    window: int = 4096
    file_bytes: int = 100 << 20
    stability: str = "unstable"
    reserved_port: bool = False
    seed: int = 0

    def check(self) -> None:
        """Raise UsageError for impossible parameters."""
        if not 0 < self.first_per_s <= self.last_per_s:
            raise UsageError("--from is above --to", expected="rising rates")
        if not 1.05 <= self.factor <= 100:
            raise UsageError(f"--factor {self.factor:g}", expected="1.05 to 100")
        if self.duration_ns < 2 * self.probe_period_ns or self.probe_period_ns < MS:
            raise UsageError(
                "a point would have fewer than two reads", expected="--duration of two periods"
            )
        if self.file_bytes < 8:
            raise UsageError("files of less than 8 bytes", expected="--file-size 1M")
        if self.window < self.connections:
            raise UsageError("--window below --connections", expected="a larger window")

    def rates(self) -> Iterator[float]:
        """Rates of writes, rising, with the last one included."""
        rate = self.first_per_s
        while rate < self.last_per_s * (1 - 1e-9):
            yield rate
            rate *= self.factor
        yield self.last_per_s

    def parameters(self) -> dict[str, Any]:
        """Parameters for the store."""
        return asdict(self)
