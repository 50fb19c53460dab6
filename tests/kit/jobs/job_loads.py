"""Jobs on this machine: processes in control groups, or listed in a folder that looks like one, each with a load."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

LOAD = """
import mmap, os, sys, time
path, size, rate, begin, end, last = sys.argv[1], *map(float, sys.argv[2:])
size = int(size)
block = mmap.mmap(-1, size)
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_DSYNC)
os.posix_fallocate(fd, 0, 64 << 20)
print("ready", flush=True)
n = 0
while (now := time.time()) < last:
    if begin <= now < end:
        os.pwrite(fd, block, n * size % (64 << 20))
        n += 1
        if rate:
            time.sleep(1 / rate)
    else:
        time.sleep(0.02)
"""
"""Synchronous writes of ``size`` bytes past the cache, ``rate`` a second (0: as many as can be), from begin to end."""


class Load(NamedTuple):
    """What one process does; instants in seconds since the epoch."""

    size: int
    rate: float
    begin: float
    end: float


ROOTS = ("/sys/fs/cgroup/blkio", "/sys/fs/cgroup", "/sys/fs/cgroup/unified")
"""Where control groups may be made; the first counts I/O itself."""


def control_groups(roots: Sequence[str] = ROOTS) -> Path | None:
    """A folder for control groups that this process may make; None: there is none."""
    for root in roots:
        group = Path(root) / f"iosonde-test-{os.getpid()}"
        try:
            group.mkdir()
            if (group / "cgroup.procs").exists():
                return group
            group.rmdir()
        except OSError:
            continue
    return None


@contextmanager
def jobs(
    folder: Path, loads: dict[str, list[Load]], last: float, roots: Sequence[str] = ROOTS
) -> Iterator[Path]:
    """Processes of each job; gives the folder of their groups. They end with the block."""
    made = control_groups(roots)
    groups = made or folder / "groups"
    started: list[subprocess.Popen[str]] = []
    try:
        for job, many in loads.items():
            group = groups / f"job_{job}"
            group.mkdir(parents=True)
            for place, load in enumerate(many):
                words = [folder / f"{job}-{place}", *load, last]
                command = [sys.executable, "-c", LOAD, *map(str, words)]
                one = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                started.append(one)
                with (group / "cgroup.procs").open("a") as file:
                    file.write(f"{one.pid}\n")
        for one in started:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        yield groups
    finally:
        for one in started:
            one.kill()
            one.wait()
            if one.stdout is not None:
                one.stdout.close()
        for path in folder.glob("*-*"):
            path.unlink()
        if made is not None:
            for job in loads:
                _remove(made / f"job_{job}")
            _remove(made)


def _remove(group: Path) -> None:
    """A group goes when its last process has gone."""
    for _ in range(100):
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.05)
