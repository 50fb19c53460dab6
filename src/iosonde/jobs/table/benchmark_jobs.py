"""iosonde's own benchmark runs and probes as a table of jobs, for sites without any other record.

A run is a job, its rate the performance, runs with the same parameters on the same target are its kind. What the
target was like is what probes saw in the ten minutes *before* it began: while it runs, it is itself what they see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.bench.runs.compare import main_rows
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.engine.contract import INTERVAL_NS
from iosonde.jobs.table.benchmark_kind import motif_of
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import JobTable
from iosonde.model.runs import RunRow
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints, Texts


SOURCE = "iosonde"
_FAMILIES = {
    "read": ("data_read",),
    "write": ("data_write",),
    "metadata": ("md_create", "md_stat", "md_read", "md_delete"),
}


def own_runs(root: Path) -> JobTable:
    """All completed runs of iosonde's benchmarks, by start. Raises StoreError."""
    runs = [run for run in read_runs(root, source=SOURCE) if run.finished]
    picked = [(run, rows) for run in runs if (rows := _whole(run)) and rows[0].began_ns is not None]
    picked.sort(key=lambda one: (one[1][0].began_ns or 0, one[0].run_id))
    every = [rows for _, rows in picked]
    begins = np.array([rows[0].began_ns for rows in every], dtype=np.int64)
    ends = np.array([_ended(rows) for rows in every], dtype=np.int64)
    targets = _texts([rows[0].target for rows in every])
    metrics: dict[str, Floats] = {
        "performance_ops_per_s": np.array([_rate(one) for one in every], dtype=np.float64),
        "host_load": np.array([_machine(one, "load") for one in every], dtype=np.float64),
        "room_used_percent": np.array([_room(one) for one in every], dtype=np.float64),
    }
    metrics |= _probed(Store(root), targets, begins)
    return JobTable(
        job_id=_texts([run.run_id for run, _ in picked]),
        step=_texts([""] * len(every)),
        start_ns=begins,
        end_ns=ends,
        file_system=targets,
        motif=_texts([motif_of(rows[0]) for rows in every]),
        metrics={name: column for name, column in metrics.items() if np.isfinite(column).any()},
        source=str(root),
    )


def _texts(values: Sequence[str]) -> Texts:
    return np.array(values, dtype=np.object_)


def _whole(run: StoredRun) -> list[RunRow]:
    """Rows of the most informative phase, all ranks and ops together, without waiting."""
    rows = [r for r in main_rows(run.rows) if r.op is None and r.rank is None and r.complete]
    least = min((row.waiting_factor for row in rows), default=0.0)
    return [row for row in rows if row.waiting_factor == least]


def _rate(rows: Sequence[RunRow]) -> float:
    known = [row.rate_per_s for row in rows if row.rate_per_s is not None]
    return median(known) if known else float("nan")


def _ended(rows: Sequence[RunRow]) -> int:
    ends = [r.began_ns + r.duration_ns for r in rows if r.began_ns and r.duration_ns is not None]
    return max(ends, default=NULL_NS)


def _machine(rows: Sequence[RunRow], name: str) -> float:
    value: Any = (rows[0].machine or {}).get(name)
    return float(value) if isinstance(value, int | float) else float("nan")


def _room(rows: Sequence[RunRow]) -> float:
    size, free = _machine(rows, "size_bytes"), _machine(rows, "free_bytes")
    return 100 * (1 - free / size) if size > 0 else float("nan")


def _probed(store: Store, targets: Texts, begins: Ints) -> dict[str, Floats]:
    """Median latency (s) of probes of the same target in the last complete ten minutes before each run."""
    found = {f"probe_{family}_s": np.full(len(begins), np.nan) for family in _FAMILIES}
    if not len(begins):
        return found
    since, until = int(begins.min()) - 2 * INTERVAL_NS, int(begins.max())
    windows = store.rolled_windows(
        INTERVAL_NS, statistics=("q50_ns",), since_ns=since, until_ns=until
    )
    for family, ops in _FAMILIES.items():
        of_family = windows.take(np.isin(windows["op"].astype(str), ops))
        for row, (target, begin) in enumerate(zip(targets, begins, strict=True)):
            before = begin // INTERVAL_NS * INTERVAL_NS - INTERVAL_NS
            here = (of_family["target"] == target) & (of_family["start_ns"] == before)
            middle = of_family["q50_ns"][here]
            if np.isfinite(middle).any():
                found[f"probe_{family}_s"][row] = float(np.nanmedian(middle)) / 1e9
    return found
