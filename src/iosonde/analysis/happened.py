"""What happened to the targets of a store: slow events, who saw them, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

import numpy as np

from iosonde.analysis.events import COLUMNS, slow_events
from iosonde.analysis.recurrence import recurrences
from iosonde.analysis.scope import scopes
from iosonde.analysis.slowdown import analyse
from iosonde.analysis.usual import against, learn
from iosonde.model.events import Recurring, Seen, SlowEvent
from iosonde.model.frames import Frame, SlowdownQuery
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.store.store import Store

WINDOW_NS = 60_000_000_000
WEEKS = 8
"""Weeks in which something must come back."""
WEEK_NS = 7 * 86_400 * 10**9
_LEAST_HOSTS = 3
"""Hosts that must watch a target before one of them can be told from the storage."""


def happened(
    store: Store, since_ns: int | None, until_ns: int | None, targets: Sequence[str] = ()
) -> tuple[list[SlowEvent], list[Seen]]:
    """Slow events of [since, until) by start, and who saw them where several hosts watch a target.

    ``targets``: only these; all for none. Raises StoreError.
    """
    windows = _minutes(store, since_ns, until_ns)
    if targets and len(windows):
        windows = windows.take(np.isin(windows["target"].astype(str), list(targets)))
    if len(windows) == 0:
        return [], []
    events = slow_events(windows)
    shared = [event for event in events if _hosts(windows, event.target) >= _LEAST_HOSTS]
    spans = sorted(
        {(e.target, e.ops[0].op, e.start_ns, e.end_ns or e.seen_until_ns) for e in shared if e.ops}
    )
    return events, scopes(windows, spans) if spans else []


def recurring(
    store: Store,
    until_ns: int,
    random: np.random.Generator,
    zone: tzinfo | None = None,
    targets: Sequence[str] = (),
) -> list[Recurring]:
    """What came back within the last ``WEEKS`` weeks, from roll-ups. Raises StoreError."""
    windows = tens(store, until_ns - WEEKS * WEEK_NS, until_ns)
    if targets and len(windows):
        windows = windows.take(np.isin(windows["target"].astype(str), list(targets)))
    if len(windows) == 0:
        return []
    return recurrences(windows, slow_events(windows), random, zone)


def _minutes(store: Store, since_ns: int | None, until_ns: int | None) -> Frame:
    query = SlowdownQuery(since_ns=since_ns, until_ns=until_ns, window_ns=WINDOW_NS)
    return for_events(analyse(store, query).windows)


def for_events(windows: Frame) -> Frame:
    """Windows that ``analyse`` judged, as events are found in: of those of a busy host nothing is known."""
    if len(windows) == 0:
        return windows
    # While the baseline learns, the median stands in for the typical operation.
    typ = np.where(np.isnan(windows["typ"]), windows["slowdown"], windows["typ"])
    columns = {name: windows[name] for name in (*COLUMNS, "period_ns")}
    return Frame({**columns, "typ": np.where(windows["host_busy"], np.nan, typ)})


def tens(store: Store, since_ns: int, until_ns: int) -> Frame:
    """Windows of ten minutes from roll-ups, with what recurs is looked for in. Raises StoreError."""
    windows = store.rolled_windows(
        INTERVAL_NS, since_ns=since_ns, until_ns=until_ns, statistics=("mean_ns",), levels=True
    )
    if len(windows) == 0:
        return windows
    found = against(windows, learn(store, until_ns=until_ns))
    whole = windows.with_columns({name: found[name] for name in ("typ", "tail", "lost")})
    return Frame({name: whole[name] for name in (*COLUMNS, "period_ns")})


def _hosts(windows: Frame, target: str) -> int:
    return len(np.unique(windows["host"][windows["target"] == target].astype(str)))
