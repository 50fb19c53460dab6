"""Host or storage: the same target and op from several probing hosts, event by event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from iosonde.model.arrays import Floats, Ints
from iosonde.model.events import SlowEvent, Witnesses
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.units import DAY_NS
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events.events import by_target
from iosonde.weather.events.pieces.search import SearchedSeries
from iosonde.weather.events.scope_test import WindowScope
from iosonde.weather.events.slow_intervals import RULE, OpWindows

LOOK_BACK_NS = 14 * DAY_NS
LOST = 100.0
"""As this slow counts a window in which most operations were lost."""
_MOST = 0.5
_WORDS = {
    WindowScope.STORAGE: "storage",
    WindowScope.CLIENT: "client",
    WindowScope.NOBODY: "nobody",
    WindowScope.UNDECIDED: "undecided",
}


def witnesses(
    events: Sequence[SlowEvent], found: SearchedSeries, past: Callable[[], Frame]
) -> list[Witnesses]:
    """Who saw each event of a target that at least three hosts watch, once for a stretch of an op.

    ``past``: windows of ten minutes of the two weeks before, from which each host's usual difference is learnt. Hangs
    are compared with hangs of other hosts, partly slow stretches with theirs, and what was lost with what they lost.
    """
    shared = [
        event
        for event in events
        if event.op and event.kind != "change" and len(_hosts(found, event)) >= scope.ENOUGH_HOSTS
    ]
    if not shared:
        return []
    told: dict[tuple[str, str, int, int], Witnesses] = {}
    before = past() if any(event.kind in ("slow", "lost") for event in shared) else Frame({})
    for event in shared:
        if event.kind in ("hang", "partly_slow"):
            one = _whose_pieces(event, found)
        else:
            one = _who_was_slow(event, found, before)
        same = (one.target, one.op, one.start_ns, one.end_ns)
        told.setdefault(same, one)
    return _merged(list(told.values()))


def _merged(told: Sequence[Witnesses]) -> list[Witnesses]:
    """Each answer once: what several hosts saw of one op at the same time is one stretch."""
    kept: list[Witnesses] = []
    for one in sorted(told, key=lambda w: (w.start_ns, w.target, w.op)):
        again = any(
            (other.target, other.op, other.kind, other.scope, other.hosts)
            == (one.target, one.op, one.kind, one.scope, one.hosts)
            and one.start_ns < other.end_ns
            for other in kept
        )
        if not again:
            kept.append(one)
    return kept


def _hosts(found: SearchedSeries, event: SlowEvent) -> list[str]:
    """Hosts that watch the op of an event."""
    keys = [key for key in found.series if (key.target, key.op) == (event.target, event.op)]
    return sorted({key.host for key in keys if _watched(found, key, event)})


def _watched(found: SearchedSeries, key: SeriesKey, event: SlowEvent) -> bool:
    windows = found.series[key].windows
    begin = event.start_ns - windows.window_ns
    first, last = np.searchsorted(
        windows.start_ns, [begin + 1, max(event.seen_until_ns, begin + 2)]
    )
    return bool(last > first)


def _whose_pieces(event: SlowEvent, found: SearchedSeries) -> Witnesses:
    """Hosts on which the op hung, or was partly slow, at the same time."""
    op = event.op or ""
    hosts = _hosts(found, event)
    struck = {
        key.host
        for key, one in found.series.items()
        if (key.target, key.op) == (event.target, op)
        and any(
            piece.overlaps(event.start_ns, event.seen_until_ns)
            for piece in (*one.hung, *(one.slow if event.kind == "partly_slow" else ()))
        )
    }
    blamed = tuple(host for host in hosts if host in struck)
    answer = "storage" if 2 * len(blamed) > len(hosts) else "client"
    end = event.seen_until_ns
    return Witnesses(
        event.target, op, event.start_ns, end, answer, blamed, len(hosts), 1, None, event.kind
    )


def _who_was_slow(event: SlowEvent, found: SearchedSeries, past: Frame) -> Witnesses:
    series = {
        key.host: one.windows
        for key, one in found.series.items()
        if (key.target, key.op) == (event.target, event.op)
    }
    start, end, op = event.start_ns, event.seen_until_ns, event.op or ""
    lost = event.kind == "lost"
    window_ns = max(one.window_ns for one in series.values())
    begin = start // window_ns * window_ns
    parts = {host: _coarse(one, begin, end, window_ns, lost) for host, one in series.items()}
    starts = np.arange(begin, end, window_ns)
    typ = np.stack([part[: len(starts)] for part in parts.values()], axis=1)
    offsets = np.zeros(len(parts)) if lost else scope.offsets(_past(past, event, tuple(parts)))
    whole = Witnesses(event.target, op, start, end, "undecided", (), 0, 0, None)
    seen = _decided(whole, tuple(parts), typ, offsets)
    return replace(seen, kind="lost", slowdown=None) if lost else seen


def _coarse(one: OpWindows, begin_ns: int, end_ns: int, window_ns: int, lost: bool) -> Floats:
    """Slowdown by window of ``window_ns``; windows in which most was lost are very slow, NaN where nothing is known."""
    n = max(1, -(-(end_ns - begin_ns) // window_ns))
    if lost:
        value = np.where(np.isnan(one.lost), np.nan, np.where(one.lost >= RULE.hot_lost, LOST, 1.0))
    else:
        value = np.where(one.lost >= _MOST, np.maximum(np.nan_to_num(one.typ), LOST), one.typ)
    place = (one.start_ns - begin_ns) // window_ns
    found = np.full(n, np.nan)
    for number in range(n):
        inside = value[place == number]
        known = inside[~np.isnan(inside)]
        if len(known):
            found[number] = np.median(known)
    return found


def _past(windows: Frame, event: SlowEvent, hosts: tuple[str, ...]) -> Floats:
    """(windows, hosts) of typ in the two weeks before an event."""
    if len(windows) == 0:
        return np.full((0, len(hosts)), np.nan)
    chosen = (windows["target"] == event.target) & (windows["op"] == event.op)
    chosen &= windows["start_ns"] >= event.start_ns - LOOK_BACK_NS
    chosen &= windows["start_ns"] + windows["window_ns"] <= event.start_ns
    series = {ref.host: ops[event.op or ""] for ref, ops in by_target(windows.take(chosen))}
    whole, ratios = np.array([], dtype=np.int64), np.array([])
    nothing = OpWindows(whole, ratios, ratios, ratios, whole)
    return _table({host: series.get(host, nothing) for host in hosts})[1]


def _decided(whole: Witnesses, hosts: tuple[str, ...], typ: Floats, offsets: Floats) -> Witnesses:
    """``whole`` with the commonest answer of ``typ`` (windows, hosts)."""
    here = scope.decide(typ, offsets)
    decided = here.scope[here.scope != WindowScope.UNDECIDED]
    if len(decided) == 0:
        return replace(whole, of=int(np.sum(~np.isnan(typ).all(axis=0))) if len(typ) else 0)
    answer = WindowScope(int(np.argmax(np.bincount(decided, minlength=len(WindowScope)))))
    often = here.slow[here.scope == answer].mean(axis=0) >= _MOST
    blamed = tuple(host for host, slow in zip(hosts, often, strict=True) if slow)
    return replace(
        whole,
        scope=_WORDS[answer],
        hosts=blamed if answer in (WindowScope.CLIENT, WindowScope.STORAGE) else (),
        of=len(hosts),
        windows=len(decided),
        slowdown=float(np.median(here.storage[here.scope == answer])),
    )


def _table(
    series: dict[str, OpWindows],
) -> tuple[Ints, Floats]:
    """Starts, and (windows, hosts) of typ; NaN where a host saw nothing."""
    starts = np.unique(np.concatenate([s.start_ns for s in series.values()] or [np.array([], int)]))
    typ = np.full((len(starts), len(series)), np.nan)
    for column, one in enumerate(series.values()):
        typ[np.searchsorted(starts, one.start_ns), column] = one.typ
    return starts, typ
