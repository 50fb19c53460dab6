"""Joining 1,000 jobs of 30 days with the records of 12 OSTs at 5 s.

    python -m benchmarks join_jobs [--jobs 1000] [--days 30] [--osts 12] [--folder DIR]

The store holds read and written bytes of each OST, opens and CPU of a metadata server, CPU of three data servers,
fullness and places of OSTs every 15 minutes, and as many jobs of a scheduler as of Darshan. With --folder the store is
kept, and used again. Making it is not timed. Printed: seconds, jobs a second, peak memory, and a sum of all numbers.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import process
from iosonde.jobs.environment.join import join
from iosonde.jobs.store.jobs import read_jobs, write_jobs
from iosonde.jobs.store.series import write_block, write_edges
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import SERIES, Edge, MetricBlock

S = 1_000_000_000
DAY_S = 86_400
BEGIN_S = 1_788_220_800
"""2026-09-01."""


def block(level: str, metric: str, value: np.ndarray, day: int) -> MetricBlock:
    """A day of a metric, all components."""
    step_s, source = (900, "lfs df") if len(value) < 1000 else (5, "lmt")
    unit, kind = SERIES[metric]
    times = (BEGIN_S + day * DAY_S + step_s * np.arange(len(value))) * S
    steps = np.full(len(value), step_s * S if kind == "delta" else 0)
    names = tuple(f"{level}{i:04x}" for i in range(value.shape[1]))
    return MetricBlock(source, "work", level, metric, unit, kind, names, times, steps, value)


def fill(root: Path, jobs: int, days: int, osts: int) -> None:
    """A store of everything."""
    rng = np.random.default_rng(3)
    ticks, looks = DAY_S // 5, DAY_S // 900
    for day in range(days):
        for level, metric, width in (
            *(("ost", "read_bytes", osts), ("ost", "written_bytes", osts)),
            *(("mdt", "opens", 1), ("mds", "cpu_percent", 1), ("oss", "cpu_percent", 3)),
        ):
            value = np.where(
                rng.random((ticks, width)) < 0.4, rng.integers(0, 100, (ticks, width)), 0
            )
            write_block(root, block(level, metric, value.astype(np.float64), day))
        for metric in ("total_bytes", "used_bytes"):
            value = np.full((looks, osts), 1e12) * (1 if metric[0] == "t" else 0.6)
            write_block(root, block("ost", metric, value, day))
        at = [(BEGIN_S + day * DAY_S + 900 * i) * S for i in range(looks)]
        places = [
            Edge("lctl dl", "work", t, "ost", f"ost{i:04x}", f"s{i % 3}")
            for t in at
            for i in range(osts)
        ]
        mounted = [Edge("lfs df", "work", t, "filesystem", "work", "/scratch") for t in at]
        write_edges(root, [*places, *mounted])
    rate = {"performance_bytes_per_s": Scalar(1e9, "bytes/s", "darshan")}
    made = []
    for i, begin in enumerate(rng.integers(DAY_S, (days - 1) * DAY_S, jobs).tolist()):
        begin_ns = (BEGIN_S + begin) * S
        end_ns = begin_ns + int(rng.integers(60, 1800)) * S
        one = Job(source="darshan", job_id=str(i), file_system="/scratch", app="a", scalars=rate)
        one = replace(one, start_ns=begin_ns, end_ns=end_ns)
        made += [one, replace(one, source="slurm", scalars={}, nodes=4)]
    write_jobs(root, made)


def joined(root: Path) -> tuple[int, int, int, float]:
    """Jobs, those with numbers of servers, and all numbers with their sum, of putting all together."""
    done = join(root)
    known = [s.value or 0.0 for job in read_jobs(root) for s in job.scalars.values()]
    return done.jobs, done.with_more, len(known), sum(known)


def main(jobs: int = 1000, days: int = 30, osts: int = 12, folder: Path | None = None) -> None:
    """Print one line."""
    with tempfile.TemporaryDirectory() as room:
        root = folder or Path(room)
        if not (root / "metrics").exists():
            fill(root, jobs, days, osts)
        (n, more, known, total), took = process.apart(joined, root)
        print(
            f"{n} jobs, {more} with numbers of servers: {took.wall_s:.1f} s, {n / took.wall_s:.1f} jobs/s, "
            f"peak {took.peak_mib:.0f} MiB; {known} numbers, sum {total:.10g}"
        )
