"""All analyses of a year of benchmark jobs, 7,500 rows by 186 columns, on one core.

    OMP_NUM_THREADS=1 taskset -c 0 python -m benchmarks year_table [--path TABLE]

The table is the published one of "A Year in the Life of a Parallel File System" (SC18;
``umami/tables/year_edison.csv.gz`` of the shared data, ``IOSONDE_DATA``).
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.latency import Floats
from iosonde.connectors.tables.csv_text import numbers_of
from iosonde.jobs.climate import clusters, prediction
from iosonde.jobs.correlate import simpson
from iosonde.jobs.explain import neighbour_loss as local_loss
from iosonde.stats import association
from iosonde.stats import change_points as lasting
from iosonde.stats import regime_search as climates
from iosonde.stats import selection as forward
from tests.kit.samples.latencies import DATA

YEAR = DATA / "umami/tables/year_edison.csv.gz"
SERVER = ("fs_ave", "fs_max", "fshealth", "jobsdb", "topology")
"""How columns begin that do not describe the job itself."""
MOTIF = ("tot_bytes_read_posix", "tot_bytes_written_posix", "tot_opens_posix", "nprocs")
BUDGET_S = 6.0
T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """Numbers (rows, columns) in the order of time; ``stratum`` (rows,): motif on a file system, -1 where none."""

    values: Floats
    names: list[str]
    stratum: NDArray[np.int64]
    system: NDArray[np.int64]
    motif: NDArray[np.int64]
    at_days: Floats
    y: Floats

    def columns(self, *names: str) -> Floats:
        """Those columns, (rows, names)."""
        return self.values[:, [self.names.index(name) for name in names]]

    def parts(self) -> list[NDArray[np.intp]]:
        """Rows of each stratum."""
        return [np.flatnonzero(self.stratum == one) for one in range(self.stratum.max() + 1)]


def read(path: Path) -> Table:
    """Read and group. The first column is a row number without a name."""
    with gzip.open(path, "rt") as text:
        lines = csv.reader(text)
        names = next(lines)
        rows = [row[-len(names) :] for row in lines]
    values = np.column_stack([numbers_of(cells)[0] for cells in zip(*rows, strict=True)])
    order = np.argsort(values[:, names.index("darshan_start_time")], kind="stable")
    values, rows = values[order], [rows[i] for i in order]
    system, app = (
        np.array([row[names.index(name)].split("/")[-1] for row in rows])
        for name in ("_file_system", "darshan_app")
    )
    found = Table(values, names, *[np.empty(0, np.int64)] * 3, np.empty(0), np.empty(0))
    read_b, written_b, volume, speed, start, read_files, written_files = found.columns(
        "darshan_tot_bytes_read_posix",
        "darshan_tot_bytes_written_posix",
        "darshan_total_gibs_posix",
        "darshan_agg_perf_by_slowest_posix",
        "darshan_start_time",
        "darshan_biggest_read_api_files",
        "darshan_biggest_write_api_files",
    ).T
    reads = read_b > written_b
    single = np.where(reads, read_files, written_files) < 200
    motif = np.char.add(np.char.add(app, np.where(reads, "R", "W")), np.where(single, "1", "n"))
    _, stratum = np.unique(np.char.add(system, motif), return_inverse=True)
    used = (system != "") & (volume >= 1) & (np.bincount(stratum) > 100)[stratum]
    stratum = np.where(used, np.searchsorted(np.unique(stratum[used]), stratum), -1)
    y = np.full(len(rows), np.nan)
    for one in range(stratum.max() + 1):
        y[stratum == one] = speed[stratum == one] / np.nanmax(speed[stratum == one])
    systems, motifs = (np.unique(key, return_inverse=True)[1] for key in (system, motif))
    return Table(values, names, stratum, systems, motifs, start / 86_400, y)


def main(path: Path = YEAR) -> None:
    """Print what each question took, and all of them together."""
    began = time.perf_counter()
    table = _timed("read and group", lambda: read(path))
    print(f"{len(table.values)} rows, {len(table.names)} columns, {len(table.parts())} strata")
    _ask(table)
    took = time.perf_counter() - began
    print(
        f"{'all':44}{took:7.2f} s   (at most {BUDGET_S:g} s: {'yes' if took <= BUDGET_S else 'NO'})"
    )
    plain = [_clock(lambda: _scipy(table)) for _ in range(3)]
    ours = [_clock(lambda: _associate(table)) for _ in range(3)]
    print(
        f"scipy column by column, without corrections: {min(plain) / min(ours):.1f} times as long"
    )


def _ask(table: Table) -> None:
    x, y, at, parts = table.values, table.y, table.at_days, table.parts()
    server = x[:, [i for i, name in enumerate(table.names) if name.startswith(SERVER)]]
    known = np.flatnonzero(table.stratum >= 0)
    _timed("associations, all columns, by stratum", lambda: _associate(table))
    _timed(
        "signs pooled and within file systems",
        lambda: simpson.simpson(y[known], server[known], table.system[known]),
    )
    _timed("forward selection", lambda: [forward.select(y[rows], server[rows]) for rows in parts])
    asked = _timed("local losses of every bad job", lambda: _losses(table, server))
    _timed("climates of each file system", lambda: _climates(table))
    moved = _timed(
        "lasting shifts of each stratum",
        lambda: [lasting.shifts(at[rows], y[rows]) for rows in parts],
    )
    counters = table.columns(*(f"darshan_{name}" for name in MOTIF))
    found = _timed("motifs", lambda: clusters.clusters(clusters.log_amounts(counters[known])))
    told = _timed(
        "prediction, five ways",
        lambda: prediction.validate(y[known], server[known], at[known], table.stratum[known], 1),
    )
    agreed = clusters.adjusted_rand(found.label, table.motif[known])
    print(f"{asked} bad jobs; {sum(len(one.found) for one in moved)} shifts; ", end="")
    print(f"motifs: adjusted Rand {agreed:.2f}, {found.unclustered:.1%} unclustered; ", end="")
    if told is not None:
        print(f"R2 random {told.random.r2:.2f}, later {told.metrics.r2:.2f}, ", end="")
        print(f"with climate {told.both.r2:.2f}, climate alone {told.climate.r2:.2f}")


def _associate(table: Table) -> None:
    for rows in table.parts():
        association.associations(table.y[rows], table.values[rows])


def _scipy(table: Table) -> None:
    from scipy import stats

    for rows in table.parts():
        y, x = table.y[rows], table.values[rows]
        for column in x.T:
            both = np.isfinite(column) & np.isfinite(y)
            if both.sum() > 3 and np.ptp(column[both]) > 0:
                stats.pearsonr(column[both], y[both])
                stats.spearmanr(column[both], y[both])


def _losses(table: Table, server: Floats) -> int:
    asked = 0
    for rows in table.parts():
        y = table.y[rows]
        bad = np.flatnonzero(y <= np.nanpercentile(y, 25))
        asked += len(local_loss.losses_of_rows(y, server[rows], bad))
    return asked


def _climates(table: Table) -> None:
    day = np.floor(table.at_days - np.nanmin(table.at_days))
    for system in np.unique(table.system[table.stratum >= 0]):
        strata = np.unique(table.stratum[(table.system == system) & (table.stratum >= 0)])
        days = np.full((int(np.nanmax(day)) + 1, len(strata)), np.nan)
        for column, stratum in enumerate(strata):
            rows = np.flatnonzero((table.stratum == stratum) & (table.y > 0))
            days[day[rows].astype(np.intp), column] = np.log(table.y[rows])
        climates.regimes(days)


def _timed(what: str, ask: Callable[[], T]) -> T:
    began = time.perf_counter()
    answer = ask()
    print(f"{what:44}{time.perf_counter() - began:7.2f} s", flush=True)
    return answer


def _clock(ask: Callable[[], None]) -> float:
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began
