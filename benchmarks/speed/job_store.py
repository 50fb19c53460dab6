"""Commands about jobs and small imports in a store of 100,000 jobs with 60 numbers each.

    python -m benchmarks job_store [--jobs 100000] [--numbers 60] [--kinds 40] [--rounds 5] [--folder DIR]

Jobs of as many kinds (program, mode, direction) on three file systems, each with a record of a scheduler beside it.
With --folder the store is kept, and used again. Every question runs in a process of its own; printed are medians of
CPU and wall seconds and the largest memory. ``join, small`` puts the jobs of one day together with a day of servers'
records, as an import of that day does; ``import, small`` writes fifty jobs of that day first.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import process
from benchmarks.speed.join_jobs import BEGIN_S, DAY_S, S, block
from iosonde.jobs.environment.join import join
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.series import write_block
from iosonde.jobs.table.source import from_store
from iosonde.model.jobs import Job, Scalar

DAYS, SMALL, BATCH = 365, 50, 20_000
DAY = 200
"""The day of the small import."""
SYSTEMS = ("/scratch1", "/scratch2", "/project")
KINDS = (("fpp", "read"), ("fpp", "write"), ("shared", "read"), ("shared", "write"))


def made(rng: np.random.Generator, count: int, numbers: int, kinds: int, days: range) -> list[Job]:
    """Jobs and the scheduler's records of them, in no order."""
    found = []
    names = [f"server_metric_{place:02d}" for place in range(numbers - 1)]
    for _ in range(count):
        begin = (BEGIN_S + int(rng.integers(days.start * DAY_S, days.stop * DAY_S))) * S
        end, kind = begin + int(rng.integers(60, 7200)) * S, int(rng.integers(kinds))
        number = str(int(rng.integers(1 << 40)))
        mode, direction = KINDS[kind % len(KINDS)]
        values = rng.lognormal(0, 1, numbers).tolist()
        scalars = {
            name: Scalar(value, "ratio", "made", 24, 0.0)
            for name, value in zip(names, values, strict=False)
        }
        scalars["performance_bytes_per_s"] = Scalar(1e9 * values[-1], "bytes/s", "darshan")
        one = Job(
            source="darshan",
            job_id=number,
            app=f"program{kind // len(KINDS)}",
            mode=mode,  # type: ignore[arg-type]
            direction=direction,  # type: ignore[arg-type]
            file_system=SYSTEMS[int(rng.integers(len(SYSTEMS)))],
            start_ns=begin,
            end_ns=end,
            scalars=scalars,
        )
        batch = Job(source="slurm", job_id=number, start_ns=begin - S, end_ns=end, nodes=4)
        found += [one, batch]
    return found


def fill(root: Path, jobs: int, numbers: int, kinds: int) -> None:
    """The store, month by month. In a process of its own: a child's memory counts from its parent's."""
    rng = np.random.default_rng(5)
    edges = np.linspace(0, DAYS, 13).astype(int).tolist()
    for first, last in pairwise(edges):
        write_jobs(root, made(rng, jobs // 12, numbers, kinds, range(first, last)))
    for day in (DAY - 1, DAY):
        value = rng.integers(0, 100, (DAY_S // 5, 12)).astype(np.float64)
        write_block(root, block("ost", "read_bytes", value, day))


def last_day(numbers: int, kinds: int) -> list[Job]:
    """Jobs of the day that is asked about."""
    return made(np.random.default_rng(6), SMALL, numbers, kinds, range(DAY, DAY + 1))


def prepared(root: Path, jobs: int, numbers: int, kinds: int) -> str:
    """Fill a store where there is none; the id of a job of the day that is asked about."""
    if not (root / "jobs").exists():
        fill(root, jobs, numbers, kinds)
    write_jobs(root, last := last_day(numbers, kinds))
    return last[0].job_id


def joined(root: Path, numbers: int = 0, kinds: int = 0) -> None:
    """Put the jobs of one day together with servers, after writing new ones if there are numbers."""
    keys = set()
    if numbers:
        some = made(np.random.default_rng(), SMALL, numbers, kinds, range(DAY, DAY + 1))
        write_jobs(root, some)
        keys = {one.key for one in some if one.scalars}
    span = ((BEGIN_S + DAY * DAY_S) * S, (BEGIN_S + (DAY + 1) * DAY_S) * S)
    join(root, keys=keys, span_ns=span)


def tabled(root: Path) -> int:
    """Rows of the table of all jobs."""
    return len(from_store(root))


def main(
    jobs: int = 100_000,
    numbers: int = 60,
    kinds: int = 40,
    rounds: int = 5,
    folder: Path | None = None,
) -> None:
    """Print a line a question; the first three without the start of a process."""
    with tempfile.TemporaryDirectory() as room:
        root = folder or Path(room)
        first, _ = process.apart(prepared, root, jobs, numbers, kinds)
        questions: dict[str, Callable[[], process.Took]] = {
            "join, small": lambda: process.apart(joined, root)[1],
            "import, small": lambda: process.apart(joined, root, numbers, kinds)[1],
            "table": lambda: process.apart(tabled, root)[1],
            "jobs": lambda: process.command("jobs", "--store", root),
            "explain --job": lambda: process.command("explain", "--job", first, "--store", root),
        }
        print(f"{jobs} jobs, {numbers} numbers, {kinds} kinds")
        print(f"{'':16} {'CPU s':>7} {'wall s':>7} {'MiB':>7}")
        for name, ask in questions.items():
            took = [ask() for _ in range(rounds)]
            cpu, wall = (
                statistics.median(getattr(one, what) for one in took)
                for what in ("cpu_s", "wall_s")
            )
            peak = max(one.peak_mib for one in took)
            print(f"{name:16} {cpu:7.2f} {wall:7.2f} {peak:7.0f}", flush=True)
