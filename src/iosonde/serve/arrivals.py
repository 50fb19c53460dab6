"""Recently arrived rows of the store with their arrival time: one reader of the spool for all clients.

Rows are remembered by the instant at which this server saw them, not by when they were due: an
operation that hung for an hour is news when it ends. So "what is new since your last answer" is
exact, for the feed and for windows that are kept.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.errors import StoreError
from iosonde.model.frames import Frame
from iosonde.weather.stored.answers import follow

if TYPE_CHECKING:
    from iosonde.weather.stored.follow import RowsKey

KEPT_NS = 600_000_000_000
"""Time that news is kept; clients absent for longer reload the series."""
_LEAST_NS = 300_000_000
"""Least interval between polls of the store, for all clients together."""
_SKEW_NS = 10_000_000_000
"""Tolerated clock skew: a later instant can only come from before the clock was set back."""


class Batch(NamedTuple):
    """Rows that arrived by ``seen_ns`` (ns since the epoch, this host's clock)."""

    seen_ns: int
    rows: Mapping[RowsKey, Frame]


class Arrivals:
    """News of one store. Safe to use from several threads."""

    def __init__(self, root: Path, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._follower = follow(root)
        self._batches: deque[Batch] = deque()
        self._whole_since_ns: int | None = None
        self._polled_ns = 0
        self.troubles: tuple[str, ...] = ()
        """One line for everything in the spool that cannot be read."""

    def refresh(self) -> None:
        """Poll the store, unless it was just polled. Never raises: see ``troubles``."""
        with self._lock:
            # The clock may have been set back; then look, too.
            if 0 <= self._clock() - self._polled_ns < _LEAST_NS:
                return
            try:
                news = self._follower.poll()
            except StoreError as error:
                self.troubles = (str(error),)
                self._polled_ns = self._clock()
                self._start_again(self._polled_ns)
                return
            # After the poll: whoever read the store before this instant may lack these rows.
            now_ns = self._polled_ns = self._clock()
            self.troubles = tuple(news.damaged)
            if news.unfollowed or self._whole_since_ns is None:
                self._start_again(now_ns)
            if news.rows:
                self._batches.append(Batch(now_ns, news.rows))
            while self._batches and self._batches[0].seen_ns < now_ns - KEPT_NS:
                self._whole_since_ns = self._batches.popleft().seen_ns

    def since(self, seen_ns: int) -> list[Batch] | None:
        """Batches seen after ``seen_ns``; None when some may be missing."""
        with self._lock:
            whole_ns = self._whole_since_ns
            from_the_future = seen_ns > self._polled_ns + _SKEW_NS
            if whole_ns is None or seen_ns < whole_ns or from_the_future:
                return None
            return [batch for batch in self._batches if batch.seen_ns > seen_ns]

    def _start_again(self, now_ns: int) -> None:
        self._batches.clear()
        self._whole_since_ns = now_ns


def earliest_due_ns(batches: list[Batch], host: str, target: str) -> int | None:
    """Due time of the target's earliest row in batches; None without a row."""
    return min(
        (
            int(frame["due_ns"].min())
            for batch in batches
            for key, frame in batch.rows.items()
            if key.host == host and key.target == target
        ),
        default=None,
    )
