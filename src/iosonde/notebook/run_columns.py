"""Benchmark runs as columns: a row per run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from iosonde.bench.report.answers import COMPARED_OPS, RunSummary
from iosonde.notebook.columns import of_records

if TYPE_CHECKING:
    from iosonde.notebook.columns import Columns

_QUARTILES = tuple(f"q75_{op.removeprefix('md_')}_ns" for op in COMPARED_OPS)
_NAMES = (*(f.name for f in fields(RunSummary) if f.name != "q75_ns"), *_QUARTILES)


def of_runs(runs: Iterable[RunSummary]) -> Columns:
    """Fields of each run; its third quartiles by op. ``first`` is its start."""
    rows = (asdict(run) | dict(zip(_QUARTILES, run.q75_ns, strict=False)) for run in runs)
    return of_records([dict.fromkeys(_NAMES) | row for row in rows], _NAMES)
