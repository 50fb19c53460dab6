"""Eight weeks of every place from roll-ups, and what came back in them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.events import Recurring
from iosonde.model.frames import Frame, SlowdownQuery
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.events.events import COLUMNS, WatchedTarget, place_of, slow_events
from iosonde.weather.events.recurrence import recurrences
from iosonde.weather.events.slow_intervals import RULE
from iosonde.weather.slowdown.baseline import LearntBaselines, against, learn
from iosonde.weather.slowdown.slowdown import controls, with_host_busy
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEEKS = 8
"""Weeks in which something must come back."""
_WEEK_NS = 7 * DAY_NS


class Recurrence(NamedTuple):
    """What comes back, and in how much time from the first known interval to the last it was looked for."""

    found: tuple[Recurring, ...]
    looked_ns: int


def tens(
    store: Store,
    since_ns: int,
    until_ns: int,
    target: str | None = None,
    known: LearntBaselines | None = None,
) -> Frame:
    """Windows of ten minutes from roll-ups, with what recurs is looked for in. Raises StoreError.

    Of a slow window that the probing host explains nothing is known. Its samples say so; where they are gone, the
    window counts.
    """
    windows = store.rolled_windows(
        INTERVAL_NS,
        target=target,
        since_ns=since_ns,
        until_ns=until_ns,
        statistics=("mean_ns",),
        levels=True,
    )
    if len(windows) == 0:
        return windows
    found = against(windows, known or learn(store, until_ns=until_ns))
    busy = _host_busy(store, windows, found)
    triple = {name: np.where(busy, np.nan, found[name]) for name in ("typ", "tail", "lost")}
    whole = windows.with_columns(triple)
    return Frame({name: whole[name] for name in (*COLUMNS, "period_ns")})


def _host_busy(
    store: Store, windows: Frame, found: Mapping[str, NDArray[np.generic]]
) -> NDArray[np.bool_]:
    """Which windows are slow and explained by the probing host."""
    unknown = np.full(len(windows), np.nan)
    slow = np.asarray(found["typ"], dtype=np.float64) >= RULE.quiet_typ
    columns = {"slow": slow, "q50_ns": unknown, "baseline_ns": found["usual_ns"]}
    judged = windows.with_columns({**found, **columns})
    busy: NDArray[np.bool_] = with_host_busy(judged.with_columns(controls(store, judged)))[
        "host_busy"
    ]
    return busy


def recurrence_of(
    store: Store,
    query: SlowdownQuery,
    random: np.random.Generator,
    zone: tzinfo | None = None,
    known: LearntBaselines | None = None,
) -> dict[WatchedTarget, Recurrence]:
    """What came back at every place in the eight weeks before the end of the range, from roll-ups.

    Folded in UTC and in ``zone``. ``query.since_ns`` does not matter: a week alone knows no weeks.
    Raises StoreError.
    """
    until = query.until_ns
    if until is None:
        raise ValueError("what came back needs an end of the range")
    windows = tens(store, until - WEEKS * _WEEK_NS, until, query.target, known)
    by_place: dict[WatchedTarget, list[Frame]] = {}
    for key, part in windows.series():
        by_place.setdefault(place_of(key), []).append(windows.take(part))
    return {
        place: _folded(_joined(parts), random, zone)
        for place, parts in by_place.items()
        if query.target in (None, place.target) and query.host in (None, place.host)
    }


def _joined(parts: list[Frame]) -> Frame:
    names = parts[0].keys()
    return Frame({name: np.concatenate([part[name] for part in parts]) for name in names})


def _folded(windows: Frame, random: np.random.Generator, zone: tzinfo | None) -> Recurrence:
    known = windows["start_ns"][~np.isnan(windows["typ"])]
    if len(known) == 0:
        return Recurrence((), 0)
    found = recurrences(windows, slow_events(windows), random, zone)
    return Recurrence(tuple(found), int(known.max() - known.min()) + INTERVAL_NS)
