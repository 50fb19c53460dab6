"""Cache of windows with baseline and slowdown.

A baseline looks back for days; a live page asks every few seconds. Windows of the past do not
change unless a row arrives late, so what was computed is kept, and each request reads again only
from the earliest row that arrived since (``arrivals``)::

    kept windows  ........................|
    new rows                            * * *        due
    read again                          |------->    replaces the windows from there on

A window's baseline depends on the windows before it only, so those before the earliest new row keep
theirs. Everything is computed by ``store``, ``stats`` and ``analysis``; here it is only kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.engine.kept import Kept
from iosonde.model.frames import Frame, WindowTable
from iosonde.model.ops import DEFAULT_TRAILING_NS
from iosonde.serve.arrivals import Arrivals, earliest_due_ns
from iosonde.weather.slowdown.baseline import LearntBaselines, learn
from iosonde.weather.slowdown.slowdown import (
    CONTROLS,
    add_slowdown,
    host_lateness,
    in_op_order,
    judged,
    statistic_columns,
    with_host_busy,
)
from iosonde.weather.slowdown.trailing import trailing_median
from iosonde.weather.slowdown.young import with_young
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_KEPT = 24
"""Most cached targets times window lengths; the least recently used goes first."""
MOST_HISTORY = 60_480
"""Most windows of a series before a range: seven days of 10 s. Shorter windows look back less."""
MOST_BYTES = 256 << 20
"""Most bytes of cached windows; the newest answer is always kept."""
_LEARN_EVERY_NS = 600 * 10**9
_FEW = 8
"""Most new windows of a series whose baselines are computed one by one."""
_COLUMNS = statistic_columns("median")
_STATISTICS = (
    *("q50_ns", "q50_lower_ns", "q50_upper_ns", "q90_ns", "max_ns"),
    *CONTROLS,
)
"""Statistics for the page, and for judging a window in ``weather.slowdown.slowdown``."""


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
        rated = with_young(rated, known, self._reach_ns(key))
        found = judged(rated.take(shown), known, "typ")
        return with_host_busy(found.with_columns(host_lateness(self._store, found)))

    def _rated_windows(
        self, key: HistoryKey, since_ns: int, until_ns: int | None, now_ns: int
    ) -> WindowTable:
        """Windows with their baselines: cached, unless those from the range up to now are too many."""
        trailing_ns = self._reach_ns(key)
        if until_ns is not None and (now_ns - since_ns) // key.window_ns > MOST_HISTORY:
            read = self._read(key, since_ns - trailing_ns, until_ns)
            return in_op_order(add_slowdown(read, _COLUMNS, trailing_ns))
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
            windows = in_op_order(add_slowdown(read, _COLUMNS, trailing_ns))
            return _KeptWindows(windows, from_ns, now_ns)
        windows = kept.windows
        if (due_ns := earliest_due_ns(news, key.host, key.target)) is not None:
            start_ns = due_ns // key.window_ns * key.window_ns
            older = windows.take(windows["start_ns"] < start_ns)
            fresh = self._read(key, start_ns)
            windows = in_op_order(
                _together(older, _rated(older, fresh, key.window_ns, trailing_ns))
            )
        return _KeptWindows(windows, kept.from_ns, now_ns)

    def _read(self, key: HistoryKey, since_ns: int, until_ns: int | None = None) -> WindowTable:
        return self._store.windows(
            key.window_ns,
            target=key.target,
            host=key.host,
            since_ns=since_ns,
            until_ns=until_ns,
            statistics=_STATISTICS,
            levels=True,
        )


def _bytes_of(windows: WindowTable) -> int:
    return sum(column.nbytes for column in windows.columns.values())


def _rated(older: Frame, fresh: Frame, window_ns: int, trailing_ns: int) -> Frame:
    """``fresh`` windows with baseline and slowdown, given the ``older`` ones before them."""
    lengths = [rows.stop - rows.start for _, rows in fresh.series()]
    if max(lengths, default=0) > _FEW or len(older) == 0:
        names = fresh.keys()
        whole = _together(Frame({name: older[name] for name in names}), fresh)
        rated = add_slowdown(_sorted(whole), _COLUMNS, trailing_ns)
        first = fresh["start_ns"].min() if len(fresh) else 0
        return rated.take(rated["start_ns"] >= first)
    before = {key: older.take(rows) for key, rows in older.series()}
    parts = []
    for key, rows in fresh.series():
        known = fresh.take(rows)
        past = before.get(key)
        for place in range(len(known)):
            one = known.take(slice(place, place + 1))
            baseline = _baseline(past, known.take(slice(0, place)), one, trailing_ns)
            parts.append(_with_baseline(one, baseline, window_ns))
    return _together(*parts) if parts else add_slowdown(fresh, _COLUMNS, trailing_ns)


def _baseline(past: Frame | None, known: Frame, one: Frame, trailing_ns: int) -> float:
    """Baseline of a single window: exactly that of ``trailing_median``.

    A median does not depend on the order of the windows in reach, so they are handed over by value:
    many times quicker for long histories.
    """
    start = int(one["start_ns"][0])
    medians = []
    for part in (past, known):
        if part is not None:
            reached = (part["start_ns"] >= start - trailing_ns) & (part["start_ns"] < start)
            medians.append(part["q50_ns"][reached])
    values = np.sort(np.concatenate(medians) if medians else np.empty(0))
    values = values[~np.isnan(values)]
    order = np.arange(len(values) + 1, dtype=np.int64)
    answer = trailing_median(order, np.append(values, one["q50_ns"]), len(order) + 1)
    return float(answer[-1])


def _with_baseline(one: Frame, baseline: float, window_ns: int) -> Frame:
    """Judge one window by ``add_slowdown`` with a known baseline.

    It gets as many windows before it as a baseline needs, all of that median.
    """
    if np.isnan(baseline):
        return add_slowdown(one, _COLUMNS, window_ns)
    copies = 6
    rows = np.zeros(copies, dtype=np.intp)
    series = one.take(rows)
    start = series["start_ns"] + (np.arange(copies) - copies + 1) * window_ns
    median = np.where(np.arange(copies) < copies - 1, baseline, series["q50_ns"])
    series = series.with_columns({"start_ns": start, "q50_ns": median})
    return add_slowdown(series, _COLUMNS, copies * window_ns).take(slice(copies - 1, copies))


def _sorted(windows: Frame) -> Frame:
    """Windows by series, each sorted by start."""
    order = np.lexsort([windows[name] for name in ("start_ns", "period_ns", "op")])
    return windows.take(order)


def _together(*frames: Frame) -> Frame:
    names = frames[0].keys()
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([frame[name] for frame in frames]) for name in names
    }
    return Frame(columns)
