"""Removal of impossible numbers about jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.table.cells import flagged, without
from iosonde.jobs.table.coverage import monitor_down, over_covered
from iosonde.jobs.table.unit_checks import units_checked
from iosonde.model.job_metrics import job_metrics
from iosonde.model.jobs import JobTable
from iosonde.model.quality import LeftOut, Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


DATA = (
    *(
        "server_read_",
        "server_write_",
        "server_written_",
        "server_rw_",
        "server_bytes",
        "oss_cpu_",
        "others_",
    ),
    *("cf_bandwidth_", "cf_ops_", "contention_bandwidth_", "contention_ops_"),
)
METADATA = (
    *("mds_cpu_", "cf_opens_", "cf_stats_", "contention_opens_", "contention_stats_"),
    *(f"server_{name}" for name in ("open", "close", "get", "set", "stat", "mk", "rm", "link")),
    *(f"server_{name}" for name in ("unlink", "rename", "readdirs", "inode")),
)
"""Prefixes of metrics from each monitor."""
_FACTORS = ("cf_", "contention_")
CONSERVED = ("cf_bandwidth_ratio", "cf_node_hours_ratio")
"""Metrics whose sum over jobs is limited; operations are merged, split and answered by clients."""


_LOST = {
    "cf_opens_ratio": ("server_opens",),
    "cf_stats_ratio": ("server_getattrs", "server_stat"),
    "cf_ops_ratio": ("server_read_ops", "server_write_ops", "server_rw_ops"),
}
"""Totals of the servers of which a factor tells that they are too small."""
FEWEST = 5
"""Least number of rows by which others of their kind, or file system, are judged."""


class Clean(NamedTuple):
    """A table without impossible values, and notes on them."""

    table: JobTable
    notes: tuple[Note, ...]


def clean(table: JobTable) -> Clean:
    """Negative amounts, zeros of a dead monitor and coverage above 1.2 become missing; runs without I/O are left out.

    Fractions in columns of percents are read as percent, numbers of another unit than the rest are missing.

    Each with a flag of its row and metric. What is clean already stays as it is.
    """
    notes: list[Note] = []
    table = _not_negative(table, notes)
    table = units_checked(_with_traffic(table, notes), notes)
    table = _monitored(table, notes)
    return Clean(believed(table, notes), tuple(notes))


def _not_negative(table: JobTable, notes: list[Note]) -> JobTable:
    """Negative values of known metrics are missing: -1 stands for unknown. Contention may be just below 0."""
    for name, values in list(table.metrics.items()):
        if name not in job_metrics() or name.startswith("contention_") or name in table.abouts:
            continue
        rows = values < 0
        if rows.any():
            what = f"{table.source}: {table.about(name).label} below 0"
            notes.append(Note("not-a-number", what, int(rows.sum())))
            table = without(table, name, rows, "not-a-number")
    return table


def _with_traffic(table: JobTable, notes: list[Note]) -> JobTable:
    nothing = np.zeros(len(table), dtype=bool)
    for name in ("own_bytes", "performance_bytes_per_s"):
        if name in table.metrics:
            nothing |= table.metrics[name] <= 0
    n = int(nothing.sum())
    if not n:
        return table
    note = Note("no-traffic", f"{table.source}: moved nothing", n)
    notes.append(note)
    rest = table.take(~nothing)
    return replace(rest, reasons=(*rest.reasons, LeftOut(n, "moved nothing", note)))


def _monitored(table: JobTable, notes: list[Note]) -> JobTable:
    """Remove metrics of a monitor that missed the job's activity: of the data servers, or of metadata."""
    asked = {
        "the data servers": (own_bytes(table), server_bytes(table), DATA),
        "the metadata servers": (
            table.metrics.get("own_opens"),
            table.metrics.get("server_opens"),
            METADATA,
        ),
    }
    for whose, (own, servers, begins) in asked.items():
        if own is None or servers is None:
            continue
        down = monitor_down(own, servers)
        if down.any():
            what = f"{table.source}: nothing seen by {whose}"
            notes.append(Note("monitor-down", what, int(down.sum())))
            for name in [name for name in table.metrics if name.startswith(begins)]:
                zero = down & (table.metrics[name] == 0)
                covers = down & ~np.isnan(table.metrics[name])
                rows = covers if name.startswith(_FACTORS) else zero
                if rows.any():
                    table = without(table, name, rows, "monitor-down")
    return table


def believed(table: JobTable, notes: list[Note]) -> JobTable:
    """Flag coverage factors above 1.2 and take them as missing, with their contention.

    Factors of operations stay where they usually are that high in the runs of a kind (clients merge and answer
    operations); elsewhere the servers' monitor lost most of them, and their totals are missing too.
    """
    for name in [name for name in table.metrics if name.startswith("cf_")]:
        beyond = over_covered(table.metrics[name]) & ~_flagged(table, name, "over-covered")
        if not beyond.any():
            continue
        kept = beyond & _usually_over(table, name)
        worst, n = float(np.nanmax(table.metrics[name])), int(kept.sum())
        but = f"; {n} kept, as such runs usually are: clients answer operations" if n else ""
        what = f"{table.source}: {table.about(name).label} up to {worst:.3g}{but}"
        notes.append(Note("over-covered", what, int(beyond.sum())))
        table = flagged(table, name, kept, "over-covered")
        lost = beyond & ~kept
        totals = [one for one in table.metrics if one.startswith(_LOST.get(name, "-"))]
        contention = [
            one for one in [name.replace("cf_", "contention_", 1)] if one in table.metrics
        ]
        for one, rows in (
            *((one, lost) for one in (name, *totals)),
            *((one, beyond) for one in contention),
        ):
            if (rows & ~np.isnan(table.metrics[one])).any():
                table = without(table, one, rows, "over-covered")
    return table


def _usually_over(table: JobTable, name: str) -> Flags:
    """Rows of kinds whose factor of operations is above 1.2 in most runs; of rare kinds the file system's counts."""
    usual = np.zeros(len(table), dtype=bool)
    if name in CONSERVED:
        return usual
    values = table.metrics[name]
    for columns in (("file_system",), ("file_system", "motif")):
        for rows in table.alike(*columns).values():
            known = values[rows][~np.isnan(values[rows])]
            if len(known) >= FEWEST:
                usual[rows] = bool(over_covered(np.median(known)))
    return usual


def _flagged(table: JobTable, name: str, flag: str) -> Flags:
    """Rows with a flag on a metric."""
    rows = np.zeros(len(table), dtype=bool)
    rows[[row for (row, one), flags in table.flags.items() if one == name and flag in flags]] = True
    return rows


def own_bytes(table: JobTable) -> Floats | None:
    """Bytes moved by each job: as given, else read plus written; None if unknown."""
    return _sum(table, "own_bytes", ("own_read_bytes", "own_written_bytes"))


def server_bytes(table: JobTable) -> Floats | None:
    """Bytes moved by the servers meanwhile."""
    return _sum(table, "server_bytes", ("server_read_bytes", "server_written_bytes"))


def server_rw_ops(table: JobTable) -> Floats | None:
    """Reads and writes at the servers meanwhile."""
    return _sum(table, "server_rw_ops", ("server_read_ops", "server_write_ops"))


def own_rw_ops(table: JobTable) -> Floats | None:
    """Reads and writes of each job."""
    return _sum(table, "own_rw_ops", ("own_reads", "own_writes"))


def _sum(table: JobTable, whole: str, parts: tuple[str, str]) -> Floats | None:
    if whole in table.metrics:
        return table.metrics[whole]
    if all(name in table.metrics for name in parts):
        return table.metrics[parts[0]] + table.metrics[parts[1]]
    return None
