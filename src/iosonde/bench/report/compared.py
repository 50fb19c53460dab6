"""Two runs side by side: the verdict that ``iosonde compare RUN RUN`` prints, as sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.compare.sides import compare_runs
from iosonde.bench.compare.words import HEAD, run_cells, say_notes, say_runs
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.model.errors import NothingMeasuredError
from iosonde.weather.compare.ratios import MARGIN


@dataclass(frozen=True)
class ComparedRuns:
    """B relative to A. ``head``, ``rows``: a row per measure. ``note``: differences of the runs, cautions."""

    say: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


def compared_runs(root: Path, names: tuple[str, str]) -> ComparedRuns:
    """Compare two runs. Raises UsageError (both the same, or of two kinds), NothingMeasuredError, StoreError."""
    a, b = (_run(root, name) for name in names)
    found = compare_runs(root, (a,), (b,), MARGIN)
    return ComparedRuns(say_runs(found), HEAD, run_cells(found), "; ".join(say_notes(found)))


def _run(root: Path, run_id: str) -> StoredRun:
    found = read_runs(root, run_id=run_id)
    if not found:
        raise NothingMeasuredError(f"there is no run {run_id!r}", hint="'iosonde runs'")
    return found[0]
