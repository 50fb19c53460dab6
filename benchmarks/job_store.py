"""How commands about jobs and small imports grow with the store: 100,000 jobs of a year with 60 numbers each.

    python -m benchmarks.job_store [--jobs 100000] [--numbers 60] [--kinds 40] [--rounds 5] [--folder DIR]

Jobs of as many kinds (program, mode, direction) on three file systems, each with a record of a scheduler beside it.
With --folder the store is kept, and used again. Every question runs in a process of its own; printed are medians of
CPU and wall seconds and the largest memory. ``join, small`` puts the jobs of one day together with a day of servers'
records, as an import of that day does; ``import, small`` writes fifty jobs of that day first.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.join_jobs import BEGIN_S, DAY_S, S, block
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


def ask(what: str, root: Path, given: argparse.Namespace) -> None:
    """One question."""
    numbers, kinds = given.numbers, given.kinds
    if what == "fill":
        if not (root / "jobs").exists():
            fill(root, given.jobs, numbers, kinds)
        write_jobs(root, last_day(numbers, kinds))
        return
    if what == "table":
        print(len(from_store(root)))
        return
    day = range(DAY, DAY + 1)
    keys = set()
    if what == "import, small":
        some = made(np.random.default_rng(), SMALL, numbers, kinds, day)  # new ones each time
        write_jobs(root, some)
        keys = {one.key for one in some if one.scalars}
    span = ((BEGIN_S + DAY * DAY_S) * S, (BEGIN_S + (DAY + 1) * DAY_S) * S)
    print(join(root, keys=keys, span_ns=span))


def timed(words: list[str], rounds: int) -> str:
    """CPU s, wall s and MiB of a process."""
    runs = []
    for _ in range(rounds):
        begin = time.perf_counter()
        child = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(words)} ended with {child.returncode}")
        runs.append((usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_maxrss))
    cpu, wall, peak = zip(*runs, strict=True)
    return f"{statistics.median(cpu):7.2f} {statistics.median(wall):7.2f} {max(peak) / 1024:7.0f}"


def main() -> None:
    """Print a line a question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in (("jobs", 100_000), ("numbers", 60), ("kinds", 40), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        ask(given.ask, given.folder, given)
        return
    print(machine.line())
    with tempfile.TemporaryDirectory() as folder:
        root = given.folder or Path(folder)
        own = ["-m", "benchmarks.job_store", "--folder", str(root)]
        for name in ("jobs", "numbers", "kinds"):
            own += [f"--{name}", str(getattr(given, name))]
        own.append("--ask")
        timed([*own, "fill"], 1)
        command = ["-m", "iosonde.cli.main"]
        store = ["--store", str(root)]
        first = last_day(given.numbers, given.kinds)[0].job_id
        questions = {
            "join, small": [*own, "join, small"],
            "import, small": [*own, "import, small"],
            "table": [*own, "table"],
            "jobs": [*command, "jobs", *store],
            "explain --job": [*command, "explain", "--job", first, *store],
        }
        print(f"{given.jobs} jobs, {given.numbers} numbers, {given.kinds} kinds")
        print(f"{'':16} {'CPU s':>7} {'wall s':>7} {'MiB':>7}")
        for name, words in questions.items():
            print(f"{name:16} {timed(words, given.rounds)}", flush=True)


if __name__ == "__main__":
    main()
