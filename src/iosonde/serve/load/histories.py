"""Shared history of several routes: computed once, refreshed in the background when stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from iosonde.engine.kept import Kept
from iosonde.jobs.load.answers import LoadHistory
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
        self._read, self._names = read, names
        self._kept: Kept[None, LoadVersion] = Kept(keep=KEEP_S, clock=seconds, behind=True)

    def newest(self) -> LoadVersion:
        """Current history; waits only for the first. Raises what reading raises."""
        return self._kept.get(None, self._renewed)

    def _renewed(self, kept: LoadVersion | None) -> LoadVersion:
        number = kept.number + 1 if kept else 1
        return LoadVersion(number, aliased_load(self._read(), self._names))
