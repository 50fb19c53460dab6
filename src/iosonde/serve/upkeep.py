"""Work on the store while the page is served: sealing where agents write to it, fetching where it lies in a bucket."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from iosonde.model.errors import IosondeError
from iosonde.weather.seal import seal

_SEAL_S = 600.0


class Upkeep(NamedTuple):
    """What is done now and then. ``work`` raises IosondeError or OSError where it cannot."""

    name: str
    work: Callable[[], object]
    every_s: float


def sealing(root: Path, every_s: float = _SEAL_S) -> Upkeep:
    """Closed spool segments become Parquet, so that a store with a server needs no timer."""
    return Upkeep("sealer", lambda: seal(root), every_s)


class Repeated:
    """Does ``upkeep`` now and then, in a thread of its own, until stopped.

    It notes a trouble once and tries again: a full store may get room.
    """

    def __init__(self, upkeep: Upkeep, warn: Callable[[str], None]) -> None:
        self._upkeep, self._warn = upkeep, warn
        self._ended = threading.Event()
        self._last_note = ""
        self._thread = threading.Thread(target=self._run, name=upkeep.name, daemon=True)

    def start(self) -> None:
        """Begin with the first time."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way."""
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
