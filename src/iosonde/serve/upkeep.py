"""Upkeep of the store while serving: sealing if agents write to it, fetching if it is in a bucket."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from iosonde.model.errors import IosondeError
from iosonde.weather.upkeep.answers import seal

_SEAL_S = 600.0


class Upkeep(NamedTuple):
    """Periodic work. ``work`` raises IosondeError or OSError on failure."""

    name: str
    work: Callable[[], object]
    every_s: float


def sealing(root: Path, every_s: float = _SEAL_S) -> Upkeep:
    """Sealing of closed spool segments, so that a store with a server needs no timer."""
    return Upkeep("sealer", lambda: seal(root), every_s)


class Repeated:
    """Runs ``upkeep`` periodically in its own thread, until stopped.

    It notes a trouble once and tries again: a full store may get room.
    """

    def __init__(self, upkeep: Upkeep, warn: Callable[[str], None]) -> None:
        self._upkeep, self._warn = upkeep, warn
        self._ended = threading.Event()
        self._last_note = ""
        self._thread = threading.Thread(target=self._run, name=upkeep.name, daemon=True)

    def start(self) -> None:
        """Start with the first run."""
        self._thread.start()

    def stop(self) -> None:
        """End after the current run."""
        self._ended.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while True:
            try:
                self._upkeep.work()
            except (IosondeError, OSError) as error:
                if str(error) != self._last_note:
                    self._warn(f"note: {error}")
                    self._last_note = str(error)
            if self._ended.wait(self._upkeep.every_s):
                return
