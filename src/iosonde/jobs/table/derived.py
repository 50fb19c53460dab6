"""Columns derived from a table of jobs: fraction of peak, coverage, contention, activity of others.

Definitions: Lockwood et al. 2017 (UMAMI); the 99th percentile instead of the best run: docs/methods.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from iosonde.jobs.table.coverage import (
    contention,
    coverage,
    node_hours,
    others_seen,
    per_second,
)
from iosonde.jobs.table.hygiene import (
    Clean,
    believed,
    clean,
    own_bytes,
    own_rw_ops,
    server_bytes,
    server_rw_ops,
)
from iosonde.jobs.table.monitors import alive, fitting
from iosonde.jobs.table.sizes import sized
from iosonde.model.errors import UsageError
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats
    from iosonde.model.jobs import By, JobTable


Peak = Literal["max", "p99", "mean", "median"]
PEAKS: tuple[str, ...] = get_args(Peak)
PERFORMANCE, FRACTION = "performance_bytes_per_s", "fraction_of_peak_ratio"
PERFORMANCES = (PERFORMANCE, "performance_ops_per_s")


def fraction_of_peak(
    table: JobTable,
    of: Peak = "max",
    by: Sequence[By] = ("file_system", "motif"),
    performance: str = PERFORMANCE,
) -> Floats:
    """(n,) performance / the peak of runs with equal ``by``; NaN if missing.

    The peak is the best run, or the 99th percentile (the best is one lucky run), the mean or the median. Of a
    performance that is good when it is low (a run time) it is of 1 / performance.
    ``by`` ("file_system",) measures every motif by the best on its file system. Raises UsageError: no such metric.
    """
    if performance not in table.metrics:
        raise UsageError(f"{table.source or 'the table'} has no {performance}")
    values = table.metrics[performance]
    if table.about(performance).good == "low":
        with np.errstate(divide="ignore", over="ignore"):
            values = np.where(values > 0, 1 / values, np.nan)
    result = np.full(len(table), np.nan)
    for rows in table.alike(*by).values():
        known = values[rows][~np.isnan(values[rows])]
        peak = _peak(known, of) if len(known) else 0.0
        if peak > 0:
            result[rows] = values[rows] / peak
    return result


def performances(table: JobTable) -> list[str]:
    """Columns that say how fast the runs were: those that are known, then those that are described as such."""
    known = [name for name in PERFORMANCES if name in table.metrics]
    own = [
        name
        for name, about in table.abouts.items()
        if about.role == "performance" and about.good and name in table.metrics
    ]
    return [*known, *(name for name in own if name not in (*known, FRACTION))]


def fractions_of_peak(table: JobTable, of: Peak = "max") -> Floats | None:
    """(n,) fraction of peak by the performance of each run; None: no performance column, NaN: missing.

    Of the two that are known the first that the run has. What a table describes itself counts for runs of a kind of
    which neither is known: runs of one kind are compared by one thing, whatever else the table (or store) holds.
    """
    found: Floats | None = None
    for name in performances(table):
        share = fraction_of_peak(table, of, performance=name)
        if found is None:
            found = share
        elif name in PERFORMANCES:
            found = np.where(np.isnan(found), share, found)
        else:
            for rows in table.strata().values():
                if np.isnan(found[rows]).all():
                    found[rows] = share[rows]
    return found


def _peak(known: Floats, of: Peak) -> float:
    if of == "p99":
        return float(np.quantile(known, 0.99))
    if of == "max":
        return float(known.max())
    return float(known.mean() if of == "mean" else np.median(known))


def with_derived(table: JobTable, of: Peak = "max") -> Clean:
    """The cleaned table (``job_hygiene``) with all derivable columns that it lacks.

    fraction_of_peak_ratio, cf_*_ratio, contention_*_ratio, others_bytes_per_s, sums of which both parts are there; and
    motifs with their classes of size (``sizes``).
    """
    table, noted = clean(table)
    notes: list[Note] = list(noted)
    table = alive(table, notes)
    table = _added(table, {**_sums(table), **_coverage(table)})
    table = believed(table, notes)
    table = sized(fitting(_added(table, {**_contention(table), **_rates(table)})))
    shares = fractions_of_peak(table, of)
    if shares is not None:
        table = _added(table, {FRACTION: shares})
    return Clean(table, tuple(notes))


_BYTES = (
    *("own_bytes", "own_read_bytes", "own_written_bytes"),
    *("server_bytes", "server_read_bytes", "server_written_bytes"),
)
_FROM: dict[str, tuple[str, ...]] = {
    "own_bytes": ("own_read_bytes", "own_written_bytes"),
    "server_rw_ops": ("server_read_ops", "server_write_ops"),
    "server_opens_closes": ("server_opens", "server_closes"),
    "cf_bandwidth_ratio": _BYTES,
    "others_bytes_per_s": _BYTES,
    "cf_ops_ratio": (
        *("own_rw_ops", "own_reads", "own_writes"),
        *("server_rw_ops", "server_read_ops", "server_write_ops"),
    ),
    "cf_opens_ratio": ("own_opens", "server_opens"),
    "cf_stats_ratio": ("own_stats", "server_getattrs"),
    "cf_node_hours_ratio": ("own_node_hours", "own_nodes", "concurrent_node_hours"),
    FRACTION: (PERFORMANCE,),
}
"""Inputs of a derived number: their flags are its flags."""


def _added(table: JobTable, more: dict[str, Floats]) -> JobTable:
    """The table with new columns, flagged by their inputs.

    Of a column that is there the rows that are missing are filled, but not those that a flag says are missing for a
    reason.
    """
    flagged: dict[str, list[int]] = {}
    for row, name in table.flags:
        flagged.setdefault(name, []).append(row)
    new: dict[str, Floats] = {}
    filled: dict[str, Flags] = {}
    of: dict[str, list[str]] = {}
    for name, column in more.items():
        known = table.metrics.get(name)
        gaps = np.full(len(table), True) if known is None else np.isnan(known) & ~np.isnan(column)
        gaps[flagged.get(name, [])] = False
        if known is not None and not gaps.any():
            continue
        new[name] = column if known is None else np.where(gaps, column, known)
        filled[name] = gaps if known is not None else np.full(len(table), True)
        for part in _FROM.get(name, (name.replace("contention_", "cf_", 1),)):
            of.setdefault(part, []).append(name)
    flags = dict(table.flags)
    # A store gives flags in any order.
    for (row, part), told in sorted(table.flags.items()):
        for name in of.get(part, ()):
            if filled[name][row]:
                flags[row, name] = tuple(dict.fromkeys((*flags.get((row, name), ()), *told)))
    return replace(table.with_metrics(new), flags=flags)


def _sums(table: JobTable) -> dict[str, Floats]:
    found = {"own_bytes": own_bytes(table), "server_rw_ops": server_rw_ops(table)}
    names = ("server_opens", "server_closes")
    if all(name in table.metrics for name in names):
        found["server_opens_closes"] = table.metrics[names[0]] + table.metrics[names[1]]
    return {name: column for name, column in found.items() if column is not None}


def _coverage(table: JobTable) -> dict[str, Floats]:
    """Coverage factors of all amounts known for both job and servers."""
    metrics = table.metrics
    pairs = {
        "cf_bandwidth_ratio": (own_bytes(table), server_bytes(table)),
        "cf_ops_ratio": (own_rw_ops(table), server_rw_ops(table)),
        "cf_opens_ratio": (metrics.get("own_opens"), metrics.get("server_opens")),
        "cf_stats_ratio": (metrics.get("own_stats"), metrics.get("server_getattrs")),
        "cf_node_hours_ratio": (_node_hours(table), metrics.get("concurrent_node_hours")),
    }
    return {
        name: coverage(own, servers)
        for name, (own, servers) in pairs.items()
        if own is not None and servers is not None
    }


def _node_hours(table: JobTable) -> Floats | None:
    if "own_node_hours" in table.metrics:
        return table.metrics["own_node_hours"]
    nodes = table.metrics.get("own_nodes")
    return None if nodes is None else node_hours(nodes, _duration(table))


def _contention(table: JobTable) -> dict[str, Floats]:
    return {
        name.replace("cf_", "contention_", 1): contention(column)
        for name, column in table.metrics.items()
        if name.startswith("cf_")
    }


def _rates(table: JobTable) -> dict[str, Floats]:
    own, servers = own_bytes(table), server_bytes(table)
    if own is None or servers is None:
        return {}
    return {"others_bytes_per_s": per_second(others_seen(own, servers), _duration(table))}


def _duration(table: JobTable) -> Floats:
    """Run times in s: from the table, else end - begin."""
    said = table.metrics.get("duration_s")
    return table.duration_s() if said is None else said
