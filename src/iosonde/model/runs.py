"""Runs of benchmarks as rows: a phase as a whole, per op, per rank (``schema/tables/runs.toml``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

RUN_QUANTILES: dict[str, float] = {"q25": 0.25, "q50": 0.5, "q75": 0.75, "q90": 0.9, "q99": 0.99}
"""Quantiles of a row; each is the order statistic ceil(q n)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """Row of the table ``runs``; the fields are its columns. None = missing.

    ``op`` None: all operations of the phase together. ``rank`` None: all ranks together.
    """

    run_id: str
    source: str
    instrument: str = "metadata"
    host: str
    target: str
    backend: str
    pattern: str
    phase: str
    repetition: int = 0
    waiting_factor: float = 0.0
    measurement: int = 0
    op: str | None = None
    rank: int | None = None
    ranks: int | None
    began_ns: int | None = None
    duration_ns: int | None = None
    ops: int | None
    failed: int | None = None
    bytes: int | None = None
    rate_per_s: float | None = None
    stonewall_per_s: float | None = None
    corrected_per_s: float | None = None
    balance: float | None = None
    op_time_ns: int | None = None
    wait_time_ns: int | None = None
    cpu_time_ns: int | None = None
    min_ns: float | None = None
    mean_ns: float | None = None
    q25_ns: float | None = None
    q50_ns: float | None = None
    q75_ns: float | None = None
    q90_ns: float | None = None
    q99_ns: float | None = None
    max_ns: float | None = None
    outcomes: dict[str, int] | None = None
    complete: bool = True
    sustained_bytes_per_s: float | None = None
    first_bytes_per_s: float | None = None
    last_bytes_per_s: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] | None = None

    @property
    def tail_loss(self) -> float | None:
        """Share of the sustained bandwidth lost by waiting for the last rank: 1 - last / sustained."""
        if not self.sustained_bytes_per_s or self.last_bytes_per_s is None:
            return None
        return 1 - self.last_bytes_per_s / self.sustained_bytes_per_s

    @property
    def key(self) -> tuple[object, ...]:
        """Unique key of the row."""
        return (
            *(self.run_id, self.phase, self.repetition, self.waiting_factor, self.measurement),
            *(self.op, self.rank),
        )


_SMALL = ("repetition", "measurement", "rank", "ranks")
_LARGE = ("began_ns", "duration_ns", "ops", "failed", "bytes", "op_time_ns", "wait_time_ns")


def too_large(row: RunRow) -> str | None:
    """First column whose number does not fit the table; None for a good row."""
    for names, most in ((_SMALL, 2**31), (_LARGE, 2**63)):
        for name in names:
            value = getattr(row, name)
            if value is not None and not -most < value < most:
                return name
    return None


PHASE_ORDER: tuple[str, ...] = (
    *("precreate", "benchmark", "create", "stat", "write", "read", "delete"),
)
"""Phases in their usual order; cleanup and others come after them."""


def run_order(row: RunRow) -> tuple[object, ...]:
    """Sort key of rows: by run, in its course, with totals before single ranks."""
    from iosonde.model.ops import op_order

    place = PHASE_ORDER.index(row.phase) if row.phase in PHASE_ORDER else len(PHASE_ORDER)
    return (
        *(row.run_id, place, row.phase, row.repetition, row.waiting_factor, row.measurement),
        *(-1 if row.rank is None else row.rank, -1 if row.op is None else op_order(row.op)),
    )
