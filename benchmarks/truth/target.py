"""One row of the table: what was measured, what is wanted, and what others make of the same data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """``prototype``: the figure of the reference; ``seed``: what the plain way says on the same data.

    The plain way is the ratio of medians for latencies; for metrics each target says what.

    ``error`` is the standard error of ``measured`` where it is a share or a median of few. A row is
    met when ``measured`` lies in [low, high]; small runs are granted two standard errors.

    Rows with a ``column`` are one cell each of a table with a line for each ``what``; ``note`` stands
    behind the number there.
    """

    target: str
    what: str
    measured: float
    low: float
    high: float
    prototype: str
    seed: str
    error: float = 0.0
    column: str = ""
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure as measured is within the limits."""
        return self.low <= self.measured <= self.high

    @property
    def met_within_error(self) -> bool:
        """Whether it is within two standard errors of them."""
        return self.low - 2 * self.error <= self.measured <= self.high + 2 * self.error

    def wanted(self) -> str:
        """The limits in words."""
        if self.high == float("inf"):
            return f">= {self.low:g}"
        return f"<= {self.high:g}" if self.low == 0 else f"{self.low:g} .. {self.high:g}"


def share(hits: int, n: int) -> tuple[float, float]:
    """A share and its standard error, which is never quite zero."""
    p = hits / n
    padded = (hits + 1) / (n + 2)
    return p, (padded * (1 - padded) / n) ** 0.5
