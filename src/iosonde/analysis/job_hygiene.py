"""Numbers about jobs that cannot be true: told apart before anybody uses them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note
from iosonde.stats.coverage import monitor_down, over_covered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.bool_]

SERVERS = ("server_", "oss_cpu_", "mds_cpu_", "cf_", "contention_", "others_")
"""How metrics begin that servers' monitors are behind."""
_NOT = ("cf_node_hours_ratio", "contention_node_hours_ratio", "server_missing_ratio")


class Clean(NamedTuple):
    """A table without what cannot be true, and what was found."""

    table: JobTable
    notes: tuple[Note, ...]


def clean(table: JobTable) -> Clean:
    """Zeros of a monitor that was down and coverage above 1.2 become missing; runs without I/O are left out.

    Each with a flag of its row and metric. What is clean already stays as it is.
    """
    notes: list[Note] = []
    table = _with_traffic(table, notes)
    table = _monitored(table, notes)
    return Clean(believed(table, notes), tuple(notes))


def _with_traffic(table: JobTable, notes: list[Note]) -> JobTable:
    nothing = np.zeros(len(table), dtype=bool)
    for name in ("own_bytes", "performance_bytes_per_s"):
        if name in table.metrics:
            nothing |= table.metrics[name] <= 0
    n = int(nothing.sum())
    if not n:
        return table
    notes.append(Note("no-traffic", f"{table.source}: moved nothing", n))
    rest = table.take(~nothing)
    return replace(rest, reasons=(*rest.reasons, f"{n} left out: moved nothing"))


def _monitored(table: JobTable, notes: list[Note]) -> JobTable:
    """All that the servers' monitors are behind, in rows in which they saw nothing of what the job moved."""
    own, servers = own_bytes(table), server_bytes(table)
    if own is None or servers is None:
        return table
    down = monitor_down(own, servers)
    if not down.any():
        return table
    notes.append(
        Note("monitor-down", f"{table.source}: no traffic at the servers", int(down.sum()))
    )
    for name in table.metrics:
        if name.startswith(SERVERS) and name not in _NOT:
            zero = down & ((table.metrics[name] == 0) | ~np.isfinite(table.metrics[name]))
            covers = down if name.startswith(("cf_", "contention_")) else zero
            table = without(table, name, covers & ~np.isnan(table.metrics[name]), "monitor-down")
    return table


def believed(table: JobTable, notes: list[Note]) -> JobTable:
    """Coverage factors above 1.2 are missing, and contention with them."""
    for name in [name for name in table.metrics if name.startswith("cf_")]:
        beyond = over_covered(table.metrics[name])
        if beyond.any():
            worst = float(np.nanmax(table.metrics[name]))
            what = f"{table.source}: {table.about(name).label} up to {worst:.3g}"
            notes.append(Note("over-covered", what, int(beyond.sum())))
            table = without(table, name, beyond, "over-covered")
            twin = name.replace("cf_", "contention_", 1)
            if twin in table.metrics:
                table = without(table, twin, beyond, "over-covered")
    return table


def without(table: JobTable, name: str, rows: Rows, flag: str) -> JobTable:
    """The same with a metric missing in some rows, for a reason."""
    flags = dict(table.flags)
    for row in np.flatnonzero(rows).tolist():
        flags[row, name] = tuple(dict.fromkeys((*flags.get((row, name), ()), flag)))
    column = np.where(rows, np.nan, table.metrics[name])
    return replace(table.with_metrics({name: column}), flags=flags)


def own_bytes(table: JobTable) -> Floats | None:
    """Bytes that each job moved: as it is said, else read and written; None where nothing says it."""
    return _sum(table, "own_bytes", ("own_read_bytes", "own_written_bytes"))


def server_bytes(table: JobTable) -> Floats | None:
    """Bytes that the servers moved meanwhile."""
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
