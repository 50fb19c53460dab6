"""The slowdown that a target's probes saw, as one series over all that watch it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.blame import SlowdownSeries
from iosonde.model.frames import Frame, SlowdownQuery
from iosonde.weather.slowdown.own_windows import analyse_own
from iosonde.weather.slowdown.slowdown import analyse, learned
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants

WINDOW_NS = 60_000_000_000
_FEWEST = 24


def probed_slowdown(
    root: Path,
    target: str,
    wide_ns: tuple[int, int],
    event_ns: tuple[int, int],
    slot_ns: int,
) -> tuple[SlowdownSeries, str] | None:
    """Slowdown of the op that the event slowed down most, and that op; None: nobody probed it in the event.

    Windows of a minute against what is usual, where they hold enough operations, else those that each series is judged
    in; where slots are shorter or nothing is usual yet, single operations against their median. Windows that the
    probing host explains are left out. Raises StoreError.
    """
    found = None
    if slot_ns >= WINDOW_NS:
        query = SlowdownQuery(target=target, since_ns=wide_ns[0], until_ns=wide_ns[1])
        store = Store(root)
        known = learned(store, query)
        # Attribution counts slots: a longer window than is needed costs it most of them.
        found = _of_windows(analyse(store, query, known=known).windows, event_ns)
        found = found or _of_windows(analyse_own(store, query, known).windows, event_ns)
    return found or _single(root, target, wide_ns, event_ns)


def _of_windows(windows: Frame, event_ns: tuple[int, int]) -> tuple[SlowdownSeries, str] | None:
    if not len(windows):
        return None
    factor = np.where(windows["host_busy"].astype(bool), np.nan, windows["slowdown"])
    inside = (event_ns[0] - WINDOW_NS, event_ns[1])
    return _worst(windows, windows["start_ns"], factor.astype(np.float64), inside)


def _single(
    root: Path, target: str, wide_ns: tuple[int, int], event_ns: tuple[int, int]
) -> tuple[SlowdownSeries, str] | None:
    columns = ("host", "op", "due_ns", "service_ns", "outcome")
    samples = Store(root).samples(columns, target=target, since_ns=wide_ns[0], until_ns=wide_ns[1])
    good = samples.take(samples["outcome"] == "ok")
    if not len(good):
        return None
    factor = np.full(len(good), np.nan)
    hosts, ops = good["host"].astype(str), good["op"].astype(str)
    for host in np.unique(hosts):
        for op in np.unique(ops):
            rows = np.flatnonzero((hosts == host) & (ops == op))
            if len(rows) >= _FEWEST:
                service = good["service_ns"][rows].astype(np.float64)
                factor[rows] = service / max(float(np.median(service)), 1.0)
    return _worst(good, good["due_ns"], factor, event_ns)


def _worst(
    frame: Frame, time_ns: Instants, factor: Floats, event_ns: tuple[int, int]
) -> tuple[SlowdownSeries, str] | None:
    """The op whose middle factor in the event is largest beside that of the rest."""
    inside = (time_ns >= event_ns[0]) & (time_ns < event_ns[1])
    known = np.isfinite(factor)
    ops = frame["op"].astype(str)
    best: tuple[float, str] | None = None
    for op in np.unique(ops):
        of_op = known & (ops == op)
        if (of_op & inside).any():
            beside = _middle(factor, of_op & ~inside) if (of_op & ~inside).any() else 1.0
            rise = _middle(factor, of_op & inside) / max(beside, 1e-9)
            best = max(best or (rise, str(op)), (rise, str(op)))
    if best is None:
        return None
    rows = known & (ops == best[1])
    return SlowdownSeries(time_ns[rows].astype(np.int64), factor[rows]), best[1]


def _middle(factor: Floats, rows: Flags | Sequence[int]) -> float:
    return float(np.median(factor[rows]))
