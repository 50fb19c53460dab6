"""Processes that tests started end with the test process, also when that is killed.

A watcher process waits for the end of a pipe that only the test process holds. Then it kills whatever carries this
run's mark in its environment, which children inherit, and removes the run's folder in memory, its network namespaces
and its control groups.

    python -m tests.kit.reaper MARK     the watcher itself
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "IOSONDE_TEST_RUN"
ROOT = Path(__file__).resolve().parents[2]


def memory_folder(mark: str) -> Path:
    """Where servers of a run keep their data: in memory where there is room for files."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    return (memory if usable else Path(tempfile.gettempdir())) / f"iosonde-tests-{mark}"


def tag(mark: str) -> str:
    """What names of a run's network namespaces and control groups begin with; links have 15 letters at most."""
    return f"ios{mark[:7]}"


@contextmanager
def reaper() -> Iterator[str]:
    """Mark this process; what it starts from now on dies with it. Yields the mark."""
    mark = uuid.uuid4().hex
    watcher = subprocess.Popen(
        [sys.executable, "-m", "tests.kit.reaper", mark],
        stdin=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != MARK},
        cwd=ROOT,
        start_new_session=True,
    )
    before = os.environ.get(MARK)
    os.environ[MARK] = mark
    try:
        yield mark
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before
        assert watcher.stdin is not None
        watcher.stdin.close()
        watcher.wait()


def marked(mark: str) -> list[int]:
    """Processes that carry the mark."""
    text = f"{MARK}={mark}\0".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # gone, or of another user
            continue
    return found


def _reap(mark: str) -> None:
    # A process may start another one while it dies: the next round finds that.
    while found := [pid for pid in marked(mark) if process_state(pid) not in "ZX"]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if all(process_state(pid) == "D" for pid in found):
            break  # the kernel kills them when their storage answers
        time.sleep(0.01)
    shutil.rmtree(memory_folder(mark), ignore_errors=True)
    _remove_namespaces(tag(mark))
    _remove_groups(tag(mark))


def _remove_namespaces(prefix: str) -> None:
    """Namespaces that were given a name stay when the last process in them has gone; so do links into them."""
    for name in Path("/run/netns").glob(f"{prefix}*"):
        subprocess.run(["ip", "netns", "del", name.name], capture_output=True, check=False)
    for link in Path("/sys/class/net").glob(f"{prefix}*"):
        subprocess.run(["ip", "link", "del", link.name], capture_output=True, check=False)


def _remove_groups(prefix: str) -> None:
    for group in Path("/sys/fs/cgroup").glob(f"*/{prefix}*"):
        with suppress(OSError):  # a process that the kernel has not let go is still in it
            group.rmdir()


def process_state(pid: int) -> str:
    """State of a process in one letter; Z and X: it has ended, its files are closed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


if __name__ == "__main__":
    sys.stdin.buffer.read()
    _reap(sys.argv[1])
