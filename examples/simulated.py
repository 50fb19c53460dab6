"""A site that does not exist: 40 nights on two file systems, simulated from a seed, in files as monitors leave them.

A benchmark writes 1 TiB to one shared file, every night after 02:00 UTC, on ``work`` and on ``scratch``. Planted:

- ``work`` fills up, and is slower when it is more than two thirds full, until old files are deleted on day 26;
- ``scratch`` is fuller than ``work`` ever gets, and hardly minds; nobody monitors its servers;
- in the night of day 33 somebody else opens and deletes files on ``work`` at thirty times the usual rate;
- in the night of day 36 the monitor of the data servers stops for 20 seconds.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import h5py
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Row = dict[str, object]
    Tables = dict[str, tuple[str, list[str], Floats]]

SEED = 20260201
DAYS, PURGE_DAY, STORM_DAY, GAP_DAY = 40, 26, 33, 36
RAW_DAYS = range(32, 37)
"""Of these there are the monitors' own files; of the others the summaries say what servers did."""
FIRST_S = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp())
DAY_S, HOUR_S, STEP_S = 86_400, 3600, 10
KIB, GIB = 2**10, 2**30
BYTES, OSTS, OST_KIB, RANKS = 1024 * GIB, 8, 64 * 2**30, 256
USUAL_OPENS, STORM_OPENS = 300.0, 9000.0
"""A second, by everybody else."""
BUSY_OPENS = 11_000.0
"""So many a second halve the rate of a job."""
TIRED_FROM, TIRED_BY = 0.65, 0.3
"""From this fullness on, ``work`` has lost this share of its rate."""
LAG_S = 5


class Run(NamedTuple):
    """One night's benchmark on one file system, and what was around it."""

    day: int
    file_system: str
    job_id: str
    start_s: int
    seconds: int
    gib_per_s: float
    full: Floats
    """Share of each OST's room that is used."""
    opens_per_s: float
    others: float
    """Share of the bandwidth that others use."""


class Site(NamedTuple):
    """The files that were made."""

    summaries: Path
    """CSV, a row a run, in the columns of pytokio's ``summarize_job``."""
    series: list[Path]
    """TOKIO TimeSeries (HDF5), one a night: what the servers of ``work`` did between 02:00 and 03:00."""
    fullness: Path
    """A log of ``lfs df`` on ``work``."""


def simulate(folder: Path, seed: int = SEED) -> Site:
    """Make everything. The same seed gives the same numbers."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    series: list[Path] = []
    nights: list[Run] = []
    for day in range(DAYS):
        for name in ("work", "scratch"):
            run = _run(rng, day, name)
            row = _darshan(run)
            if name == "work":
                times, tables = _servers(rng, run)
            if name == "work" and day in RAW_DAYS:
                series.append(_time_series(folder, times, tables))
                nights.append(run)
            else:
                row |= _fullness(run) | (_traffic(run, times, tables) if name == "work" else {})
            rows.append(row)
    return Site(_table(folder, rows), series, _lfs_df(folder, nights))


def _run(rng: np.random.Generator, day: int, name: str) -> Run:
    work = name == "work"
    full = 0.82 + 0.002 * day
    if work:
        full = 0.56 + 0.0085 * day if day < PURGE_DAY else 0.56 + 0.005 * (day - PURGE_DAY)
    full += 0.004 * rng.standard_normal()
    opens = USUAL_OPENS * float(_spread(rng, 1, 0.4)[0])
    if work and day == STORM_DAY:
        opens = STORM_OPENS
    others = min(0.25, 0.03 * float(_spread(rng, 1, 0.6)[0]))
    tired = 1 / (1 + np.exp((TIRED_FROM - full) / 0.005)) if work else 0.0
    rate = (8.0 if work else 12.0) * (1 - TIRED_BY * tired)
    rate *= (
        (1 - others) / (1 + opens / BUSY_OPENS) * float(_spread(rng, 1, 0.03 if work else 0.015)[0])
    )
    return Run(
        day,
        name,
        str(10_000 + 2 * day + (0 if work else 1)),
        FIRST_S + day * DAY_S + 2 * HOUR_S + STEP_S * int(rng.integers(24, 90)),
        round(BYTES / GIB / rate) + 4,
        rate,
        full + 0.01 * rng.standard_normal(OSTS),
        opens,
        others,
    )


def _spread(rng: np.random.Generator, shape: int | tuple[int, ...], sigma: float) -> Floats:
    """Factors around 1."""
    return np.exp(sigma * rng.standard_normal(shape))


def _servers(rng: np.random.Generator, run: Run) -> tuple[NDArray[np.int64], Tables]:
    """An hour of a monitor: left edges of steps (T,), and of each dataset its unit, columns and values (T, N)."""
    times = FIRST_S + run.day * DAY_S + 2 * HOUR_S + STEP_S * np.arange(HOUR_S // STEP_S)
    begins, ends = (
        np.maximum(times, run.start_s),
        np.minimum(times + STEP_S, run.start_s + run.seconds),
    )
    busy = np.clip(ends - begins, 0, STEP_S) / STEP_S
    wide, one = (len(times), OSTS), (len(times), 1)
    own = busy[:, None] / busy.sum() * BYTES / OSTS
    around = 8 * GIB * STEP_S / OSTS * run.others
    written = own + around * _spread(rng, wide, 0.4)
    if run.day == GAP_DAY:
        first = int(np.flatnonzero(busy)[4])
        written[first : first + 2] = -0.0  # how TimeSeries says that a value is missing
    opens = run.opens_per_s * STEP_S * _spread(rng, one, 0.15)
    opens[np.flatnonzero(busy)[0]] += RANKS
    osts = [f"work-OST{number:04x}" for number in range(OSTS)]
    oss = [f"oss{number}" for number in range(1, 5)]
    return times, {
        "datatargets/writebytes": ("bytes", osts, np.rint(written)),
        "datatargets/readbytes": ("bytes", osts, np.rint(0.3 * around * _spread(rng, wide, 0.4))),
        "mdtargets/opens": ("operations", ["work-MDT0000"], np.rint(opens)),
        "mdtargets/unlinks": (
            "operations",
            ["work-MDT0000"],
            np.rint(opens * _spread(rng, one, 0.1) / 3),
        ),
        "dataservers/cpuload": (
            "%",
            oss,
            (4 + 18 * busy)[:, None] * _spread(rng, (len(times), 4), 0.15),
        ),
        "mdservers/cpuload": (
            "%",
            ["mds1"],
            (1.5 + run.opens_per_s / 150) * _spread(rng, one, 0.1),
        ),
    }


def _time_series(folder: Path, times: NDArray[np.int64], tables: Tables) -> Path:
    start_s = int(times[0])
    path = folder / f"work-{datetime.fromtimestamp(start_s, UTC):%Y-%m-%d}.hdf5"
    with h5py.File(path, "w") as file:
        file.attrs.update(version="1", start=start_s, end=start_s + HOUR_S)
        for place, (unit, columns, values) in tables.items():
            group = file.require_group(place.partition("/")[0])
            if "timestamps" not in group:
                group["timestamps"] = times
            file[place] = values
            file[place].attrs.update(columns=np.array(columns, dtype="S"), units=unit)
    return path


def _darshan(run: Run) -> Row:
    """What a run's Darshan log amounts to."""
    return {
        "darshan_jobid": run.job_id,
        "_file_system": run.file_system,
        "darshan_app": "ior",
        "darshan_nprocs": RANKS,
        "darshan_start_time": run.start_s,
        "darshan_end_time": run.start_s + run.seconds,
        "darshan_walltime": run.seconds,
        "darshan_agg_perf_by_slowest_posix": round(run.gib_per_s * KIB, 3),
        "darshan_total_gibs_posix": BYTES // GIB,
        "darshan_tot_bytes_written_posix": BYTES,
        "darshan_tot_bytes_read_posix": 0,
        "darshan_biggest_write_api_files": 1,
        "darshan_biggest_read_api_files": 0,
    }


def _traffic(run: Run, times: NDArray[np.int64], tables: Tables) -> Row:
    """What the servers did meanwhile."""
    rows = (times >= run.start_s) & (times <= run.start_s + run.seconds + LAG_S)
    inside = {place: values[rows] for place, (_, _, values) in tables.items()}
    mds, oss = inside["mdservers/cpuload"], inside["dataservers/cpuload"]
    found: Row = {
        "fs_tot_bytes_written": inside["datatargets/writebytes"].sum(),
        "fs_tot_bytes_read": inside["datatargets/readbytes"].sum(),
        "fs_ave_mds_cpu": mds.mean(),
        "fs_max_mds_cpu": mds.max(),
        "fs_ave_oss_cpu": oss.mean(),
        "fs_max_oss_cpu": oss.max(),
    }
    for op in ("open", "unlink"):
        total = inside[f"mdtargets/{op}s"].sum()
        found |= {
            f"fs_tot_{op}_ops": total,
            f"fs_ave_{op}_ops_per_sec": total / (rows.sum() * STEP_S),
        }
    return found


def _fullness(run: Run) -> Row:
    return {
        "fshealth_ost_most_full_pct": 100 * run.full.max(),
        "fshealth_ost_least_full_pct": 100 * run.full.min(),
        "fshealth_ost_avg_full_pct": 100 * run.full.mean(),
        "fshealth_ost_fullness_lead_secs": run.start_s % DAY_S - 2 * HOUR_S + 300,
    }


def _table(folder: Path, rows: list[Row]) -> Path:
    path = folder / "summaries.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _lfs_df(folder: Path, nights: list[Run]) -> Path:
    """The log of a cron job at 01:55: ``BEGIN``, the time, and what ``lfs df`` says."""
    lines = []
    for run in nights:
        lines.append(f"BEGIN {FIRST_S + run.day * DAY_S + 2 * HOUR_S - 300}")
        lines.append("UUID                   1K-blocks        Used   Available Use% Mounted on")
        for number, share in enumerate(run.full):
            used = round(OST_KIB * share)
            size = f"{OST_KIB} {used} {OST_KIB - used} {100 * used // OST_KIB}%"
            lines.append(f"work-OST{number:04x}_UUID {size} /work[OST:{number}]")
        lines.append("")
    path = folder / "lfs-df.log"
    path.write_text("\n".join(lines) + "\n")
    return path
