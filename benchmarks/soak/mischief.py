"""What happens to an agent that is soaked: faults in its targets, killed workers, a store without room."""

import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from benchmarks import process

OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
ERRORS = ("EIO", "ESTALE", "ENOSPC", "ETIMEDOUT", "EACCES")
FULL_S = (3.0, 8.0)


def faults(dice: random.Random, begin_s: float, end_s: float, every_s: float) -> Iterator[str]:
    """``[[target.fault]]`` tables one after the other, about ``every_s`` apart, all over before ``end_s``."""
    at = begin_s
    while True:
        at += dice.uniform(0.3, 1.7) * every_s
        lasts = dice.uniform(0.5, min(8.0, every_s))
        if at + lasts > end_s:
            return
        op = "" if dice.random() < 0.2 else f'op = "{dice.choice(OPS)}"\n'
        what = dice.choice(
            (
                "hang = true",
                "hang = true",
                f'delay = "{dice.randint(20, 900)}ms"',
                f"multiply = {dice.uniform(2, 50):.1f}",
                f'error = "{dice.choice(ERRORS)}"',
            )
        )
        yield f'[[target.fault]]\n{op}after = "{at:.2f}s"\nfor = "{lasts:.2f}s"\n{what}\n'
        at += lasts


class Mischief:
    """A thread that hurts a running agent until told to stop."""

    def __init__(
        self, pid: int, dice: random.Random, kill_every_s: float, store: Path | None
    ) -> None:
        self.kills = self.hups = self.fulls = 0
        self._pid, self._dice, self._every_s, self._store = pid, dice, kill_every_s, store
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mischief")
        self._thread.start()

    def stop(self) -> None:
        """Undo what can be undone."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        turn = 0
        while not self._stop.wait(self._dice.uniform(0.5, 1.5) * self._every_s):
            self._kill_a_worker()
            if turn % 3 == 1 and self._store:
                self._fill_the_store(self._store)
            if turn % 4 == 2:
                os.kill(self._pid, signal.SIGHUP)
                self.hups += 1
            turn += 1

    def _kill_a_worker(self) -> None:
        living = [pid for pid, one in process.children(self._pid).items() if one.state != "Z"]
        if living:
            os.kill(self._dice.choice(living), signal.SIGKILL)
            self.kills += 1

    def _fill_the_store(self, mount: Path) -> None:
        """A tmpfs can be made as small as what it holds."""
        room = os.statvfs(mount)
        total = room.f_blocks * room.f_frsize
        for _ in range(20):
            room = os.statvfs(mount)
            if remount(mount, (room.f_blocks - room.f_bfree) * room.f_frsize):
                self.fulls += 1
                break
        self._stop.wait(self._dice.uniform(*FULL_S))
        if not remount(mount, total):
            raise RuntimeError(f"cannot give {mount} its {total} bytes back")


def remount(mount: Path, size_bytes: int) -> bool:
    """Change the size of a tmpfs; false when it holds more than that meanwhile."""
    command = ["mount", "-o", f"remount,size={size_bytes}", str(mount)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
