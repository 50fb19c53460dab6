"""Sealing while the page is served, so that a store with a server needs no timer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from iosonde.model.errors import IosondeError
from iosonde.weather.seal import seal

EVERY_S = 600.0


class Sealer:
    """Seals a store now and then, in a thread of its own, until stopped.

    It notes a trouble once and tries again: a full store may get room.
    """

    def __init__(self, root: Path, warn: Callable[[str], None], every_s: float = EVERY_S) -> None:
        self._root, self._warn, self._every_s = root, warn, every_s
        self._ended = threading.Event()
        self._last_note = ""
        self._thread = threading.Thread(target=self._run, name="sealer", daemon=True)

    def start(self) -> None:
        """Begin with a first sealing."""
        self._thread.start()

    def stop(self) -> None:
        """End after the sealing that is under way."""
        self._ended.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while True:
            try:
                seal(self._root)
            except (IosondeError, OSError) as error:
                if str(error) != self._last_note:
                    self._warn(f"note: {error}")
                    self._last_note = str(error)
            if self._ended.wait(self._every_s):
                return
