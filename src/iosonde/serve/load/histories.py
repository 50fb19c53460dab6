"""Shared history of several routes: computed once, refreshed in the background when stale."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from iosonde.jobs.load.answers import LoadHistory
from iosonde.model.errors import IosondeError
from iosonde.serve.privacy.load import aliased_load
from iosonde.serve.privacy.pseudonyms import Pseudonyms

KEEP_S = 300.0
"""Time that a history is reused: records come every half minute; a year's history takes a minute."""


class LoadVersion(NamedTuple):
    """``number`` grows with each refresh of the history."""

    number: int
    history: LoadHistory


class Histories:
    """The newest version. ``seconds``: a monotonic clock. Thread-safe."""

    def __init__(
        self,
        read: Callable[[], LoadHistory],
        names: Pseudonyms,
        seconds: Callable[[], float],
    ) -> None:
        self._read = read
        self._names = names
        self._seconds = seconds
        self._making = threading.Lock()
        self._kept: LoadVersion | None = None
        self._made_at = 0.0

    def newest(self) -> LoadVersion:
        """Current history; waits only for the first. Raises what reading raises."""
        kept = self._kept
        if kept is None:
            with self._making:
                return self._kept or self._make()
        if self._seconds() - self._made_at >= KEEP_S and self._making.acquire(blocking=False):
            threading.Thread(target=self._renew, daemon=True).start()
        return kept

    def _renew(self) -> None:
        try:
            self._make()
        except IosondeError:
            self._made_at = (
                self._seconds()
            )  # the old one stays; the next reader after a while tries again
        finally:
            self._making.release()

    def _make(self) -> LoadVersion:
        number = self._kept.number + 1 if self._kept else 1
        self._kept = LoadVersion(number, aliased_load(self._read(), self._names))
        self._made_at = self._seconds()
        return self._kept
