"""Entry points for doors: a sweep with its rows in the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.backends.nfs_place import NfsPlace
from iosonde.bench.nfs.rows import run_id_of, sweep_rows
from iosonde.bench.nfs.spec import SweepSpec
from iosonde.bench.nfs.sweep import Sweep, SweepObserver, run_sweep
from iosonde.bench.runs import store
from iosonde.model.errors import StoreError
from iosonde.model.runs import RunRow


@dataclass
class MeasuredSweep:
    """A sweep, its rows, and the reason why the store did not take them."""

    sweep: Sweep
    rows: list[RunRow]
    problem: StoreError | None


def measure_sweep(
    place: NfsPlace,
    spec: SweepSpec,
    root: Path | None,
    observer: SweepObserver,
    now_ns: Callable[[], int],
) -> MeasuredSweep:
    """Run a sweep and store it; ``root`` None stores nothing. Raises MeasureError, UsageError."""
    began_ns = now_ns()
    sweep = run_sweep(place, spec, observer, now_ns)
    rows = sweep_rows(run_id_of(began_ns), place, spec, sweep.points)
    problem = None
    if root is not None and rows:
        try:
            store.write(root, rows, began_ns)
        except StoreError as error:
            problem = error
    return MeasuredSweep(sweep, rows, problem)
