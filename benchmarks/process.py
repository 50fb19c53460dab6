"""Processor time and memory of processes: from ``/proc`` while they run, from the kernel when they have ended."""

import multiprocessing
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
_CPUCLOCK_SCHED = 2


@dataclass(frozen=True)
class Stat:
    """The parts of ``/proc/<pid>/stat`` that matter here."""

    state: str
    parent: int
    children_cpu_s: float
    """Of children that have ended and were waited for."""
    started: int
    """Together with the pid this names a process for ever."""


@dataclass(frozen=True)
class Use:
    """What one process uses."""

    pss_mib: float
    rss_mib: float
    anonymous_mib: float
    """Heap and stacks: what does not depend on who else maps the program."""
    fds: int
    threads: int


def stat(pid: int) -> Stat | None:
    """Of a process; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may hold anything.
    words = text.rpartition(")")[2].split()
    children_s = (int(words[13]) + int(words[14])) / _TICKS
    return Stat(words[0], int(words[1]), children_s, int(words[19]))


def children(pid: int) -> dict[int, Stat]:
    """The living and the unburied."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    found = {child: stat(child) for child in pids}
    return {child: one for child, one in found.items() if one is not None and one.parent == pid}


def use(pid: int) -> Use | None:
    """Of a process; None when it is gone or about to go."""
    folder = Path(f"/proc/{pid}")
    try:
        sizes = dict(
            re.findall(
                r"^(Pss|Rss|Pss_Anon):\s+(\d+) kB", (folder / "smaps_rollup").read_text(), re.M
            )
        )
        fds = len(os.listdir(folder / "fd"))  # noqa: PTH208 - the cheapest count there is
        threads = len(os.listdir(folder / "task"))  # noqa: PTH208
    except OSError:
        return None
    if not sizes:
        return None
    pss, rss, anonymous = (int(sizes[name]) / 1024 for name in ("Pss", "Rss", "Pss_Anon"))
    return Use(pss, rss, anonymous, fds, threads)


def cpu_s(pid: int) -> float:
    """Processor time of all threads, to the nanosecond; 0 when the process is gone."""
    try:
        return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)
    except OSError:
        return 0.0


def family_cpu_s(pid: int) -> float:
    """Of a process, its children, and those of them that have ended."""
    own = stat(pid)
    living = sum(cpu_s(child) for child in children(pid))
    return cpu_s(pid) + living + (own.children_cpu_s if own else 0.0)


def family_pss_mib(pid: int) -> float:
    """Of a process and its children; shared pages count once."""
    members = [use(one) for one in (pid, *children(pid))]
    return sum(one.pss_mib for one in members if one)


@dataclass(frozen=True)
class Took:
    """What a process of its own took, from its start to its end."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def command(*words: object, rounds: int = 1) -> Took:
    """Medians of seconds and the largest memory of ``iosonde`` with these words, run so often.

    Compiled modules are kept, as Python does. Raises SystemExit when the command fails.
    """
    iosonde = Path(sys.executable).with_name("iosonde")
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return measured([iosonde, *words], rounds, compiled)


def measured(
    words: Sequence[object],
    rounds: int = 1,
    env: dict[str, str] | None = None,
    *,
    check: bool = True,
) -> Took:
    """Medians of seconds and the largest memory of a program; its output is dropped.

    Raises SystemExit when it fails, unless ``check`` is False.
    """
    runs = []
    for _ in range(rounds):
        began = time.perf_counter()
        child = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, env=env)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if check and child.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))} ended with {child.returncode}")
        runs.append(
            (time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
        )
    wall, cpu, peak = zip(*runs, strict=True)
    return Took(statistics.median(wall), statistics.median(cpu), max(peak))


def apart(call: Callable[..., Any], *arguments: Any) -> tuple[Any, Took]:
    """What a function of a module returns in a fresh process, and what that took without its start."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found, took = pool.submit(_timed, call, arguments).result()
    return found, took


def _timed(call: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Took]:
    began, busy = time.monotonic(), time.process_time()
    found = call(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found, Took(time.monotonic() - began, time.process_time() - busy, peak)
