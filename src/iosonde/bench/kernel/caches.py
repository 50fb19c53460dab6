"""Repeated dropping of this node's kernel caches while entered, if permitted."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

from iosonde.host.processes import Processes

DROP = Path("/proc/sys/vm/drop_caches")
_EVERY_S = 0.1
_ALL = b"3\n"
"""Pages, directory entries and inodes; only clean ones are dropped."""


class CacheDropper:
    """Writes to ``path`` every 0.1 s. ``allowed``: True if the kernel accepted the first write; False if not
    requested.
    """

    def __init__(self, path: Path | None = DROP) -> None:
        self._path = path
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self.allowed = False

    def __enter__(self) -> CacheDropper:
        self.allowed = self._path is not None and self._drop(self._path)
        if self.allowed:
            self._thread = threading.Thread(target=self._go_on, daemon=True)
            self._thread.start()
        return self

    def _go_on(self) -> None:
        while not self._end.wait(_EVERY_S) and self._path is not None and self._drop(self._path):
            pass

    @staticmethod
    def _drop(path: Path) -> bool:
        try:
            number = os.open(path, os.O_WRONLY)
            try:
                os.write(number, _ALL)
            finally:
                os.close(number)
        except OSError:
            return False
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()


def dropper(processes: Processes, host: str, wanted: bool) -> CacheDropper:
    """Dropper in one process per node; the others there do nothing. Every process calls it."""
    hosts = processes.all_gather(host)
    first = hosts.index(host) == processes.number
    return CacheDropper(DROP if wanted and first else None)


def say_dropped(processes: Processes, host: str, allowed: bool, wanted: bool) -> str:
    """Nodes on which caches are dropped. Every process calls it."""
    both = processes.all_gather((host, allowed))
    nodes = sorted({name for name, _ in both})
    kept = [name for name in nodes if (name, True) not in both]
    if not wanted:
        return "caches of the kernel are kept"
    if not kept:
        return f"caches of the kernel are dropped every 0.1 s on {_nodes(len(nodes))}"
    named = ", ".join(kept[:3]) + (f" and {len(kept) - 3} more" if len(kept) > 3 else "")
    return f"caches of the kernel are not dropped on {named}: only root may"


def _nodes(n: int) -> str:
    return "1 node" if n == 1 else f"{n} nodes"
