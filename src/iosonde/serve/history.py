"""Cache of windows with baseline and slowdown.

A baseline looks back for days; a live page asks every few seconds. Windows of the past do not
change unless a row arrives late, so what was computed is kept, and each request reads again only
from the earliest row that arrived since (``arrivals``)::

    kept windows  ........................|
    new rows                            * * *        due
    read again                          |------->    replaces the windows from there on

A window's baseline depends on the windows before it only, so those before the earliest new row keep
theirs. Everything is computed by ``weather.rated``; here it is only kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from iosonde.engine.kept import Kept
from iosonde.model.ops import DEFAULT_TRAILING_NS
from iosonde.serve.arrivals import Arrivals, earliest_due_ns
from iosonde.weather.rated.answers import (
    judged,
    learn,
    page_windows,
    rated_after,
    rated_windows,
)

if TYPE_CHECKING:
    from iosonde.model.frames import WindowTable
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

_MOST_KEPT = 24
"""Most cached targets times window lengths; the least recently used goes first."""
MOST_HISTORY = 60_480
"""Most windows of a series before a range: seven days of 10 s. Shorter windows look back less."""
MOST_BYTES = 256 << 20
"""Most bytes of cached windows; the newest answer is always kept."""
_LEARN_EVERY_NS = 600 * 10**9


class HistoryKey(NamedTuple):
    """Key of cached windows."""

    host: str
    target: str
    window_ns: int


class _KeptWindows(NamedTuple):
    """Windows from ``from_ns`` on. ``seen_ns``: instant before the store was read."""

    windows: WindowTable
    from_ns: int
    seen_ns: int


class History:
    """Rated windows of a store. Safe to use from several threads."""

    def __init__(
        self, store: Store, arrivals: Arrivals, trailing_ns: int = DEFAULT_TRAILING_NS
    ) -> None:
        self._store = store
        self._arrivals = arrivals
        self._trailing_ns = trailing_ns
        self._kept: Kept[HistoryKey, _KeptWindows] = Kept(
            _MOST_KEPT, keep=0, most_size=MOST_BYTES, size=lambda kept: _bytes_of(kept.windows)
        )
        self._usual: Kept[tuple[str, str], LearntBaselines] = Kept(_MOST_KEPT)

    def prepared(self, clock: Callable[[], int]) -> int:
        """Instant from which the feed can tell news: pass it to ``windows``."""
        self._arrivals.refresh()
        return clock()

    def windows(
        self, key: HistoryKey, since_ns: int, until_ns: int | None, now_ns: int
    ) -> WindowTable:
        """Windows that touch [since, until) with the columns of ``weather.slowdown.slowdown``.

        ``now_ns`` is what ``prepared`` gave.

        Raises StoreError.
        """
        rated = self._rated_windows(key, since_ns, until_ns, now_ns)
        start = rated["start_ns"]
        shown = start + key.window_ns > since_ns
        if until_ns is not None:
            shown &= start < until_ns
        known = self.known(key.host, key.target, now_ns)
        return judged(self._store, rated, shown, known, self._reach_ns(key))

    def _rated_windows(
        self, key: HistoryKey, since_ns: int, until_ns: int | None, now_ns: int
    ) -> WindowTable:
        """Windows with their baselines: cached, unless those from the range up to now are too many."""
        trailing_ns = self._reach_ns(key)
        if until_ns is not None and (now_ns - since_ns) // key.window_ns > MOST_HISTORY:
            read = self._read(key, since_ns - trailing_ns, until_ns)
            return rated_windows(read, trailing_ns)
        return self._kept.get(key, lambda kept: self._fresh(key, kept, since_ns, now_ns)).windows

    def _reach_ns(self, key: HistoryKey) -> int:
        """Look-back time of a baseline."""
        return min(self._trailing_ns, MOST_HISTORY * key.window_ns)

    def known(self, host: str, target: str, now_ns: int) -> LearntBaselines:
        """Baselines of a target, some minutes old: they change every hour."""
        turn = now_ns // _LEARN_EVERY_NS
        return self._usual.get(
            (host, target), lambda _: learn(self._store, host=host, target=target), turn
        )

    def _fresh(
        self, key: HistoryKey, kept: _KeptWindows | None, since_ns: int, now_ns: int
    ) -> _KeptWindows:
        """All cached windows, with arrivals since they were read."""
        trailing_ns = self._reach_ns(key)
        from_ns = since_ns // key.window_ns * key.window_ns - trailing_ns
        news = None if kept is None else self._arrivals.since(kept.seen_ns)
        if kept is None or news is None or from_ns < kept.from_ns:
            # A margin, so that a slowly moving view does not read everything again each time.
            from_ns -= trailing_ns // 20
            read = self._read(key, from_ns)
            return _KeptWindows(rated_windows(read, trailing_ns), from_ns, now_ns)
        windows = kept.windows
        if (due_ns := earliest_due_ns(news, key.host, key.target)) is not None:
            start_ns = due_ns // key.window_ns * key.window_ns
            older = windows.take(windows["start_ns"] < start_ns)
            fresh = self._read(key, start_ns)
            windows = rated_after(older, fresh, key.window_ns, trailing_ns)
        return _KeptWindows(windows, kept.from_ns, now_ns)

    def _read(self, key: HistoryKey, since_ns: int, until_ns: int | None = None) -> WindowTable:
        return page_windows(
            self._store,
            key.window_ns,
            target=key.target,
            host=key.host,
            since_ns=since_ns,
            until_ns=until_ns,
        )


def _bytes_of(windows: WindowTable) -> int:
    return sum(column.nbytes for column in windows.columns.values())
