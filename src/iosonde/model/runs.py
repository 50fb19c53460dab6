"""Runs of benchmarks as rows: a phase as a whole, per op, per rank (``schema/tables/runs.toml``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

RUN_QUANTILES: dict[str, float] = {"q25": 0.25, "q50": 0.5, "q75": 0.75, "q90": 0.9, "q99": 0.99}
"""Quantiles of a row; each is the order statistic ceil(q n)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One row of the table ``runs``; the fields are its columns. None = missing.

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
    iteration: int = 0
    waiting_factor: float = 0.0
    repeat: int = 0
    op: str | None = None
    rank: int | None = None
    ranks: int
    began_ns: int | None = None
    duration_ns: int | None = None
    ops: int
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
    parameters: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] | None = None
