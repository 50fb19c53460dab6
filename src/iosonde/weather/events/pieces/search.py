"""Pieces of every series of a range, day by day: one pass over windows, one over operations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.events.pieces.alarms import WARM_UP_NS
from iosonde.weather.events.pieces.days import DayPieces, JudgedSeries, day_pieces
from iosonde.weather.events.pieces.judged import MINUTE_NS, dense, for_events, judged_series
from iosonde.weather.events.pieces.piece import united
from iosonde.weather.samples.operations import Operations
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.slowdown import judged_windows
from iosonde.weather.store import Store

_ROWS = 2_500_000
"""Operations that are in memory at a time, about: 60 MiB."""
_BACK_DAYS = (0, 3, 15, 63)
"""How many days further back an event is followed that lasts over the begin of the range."""
_MOST_THREADS = 8


@dataclass
class FoundPieces:
    """Pieces of every series by begin, its windows, its first operation, and its last operation or window."""

    pieces: dict[SeriesKey, DayPieces] = field(default_factory=dict)
    series: dict[SeriesKey, JudgedSeries] = field(default_factory=dict)
    first_ns: dict[SeriesKey, int] = field(default_factory=dict)
    last_ns: dict[SeriesKey, int] = field(default_factory=dict)
    windows: list[Frame] = field(default_factory=list)


def search(store: Store, query: SlowdownQuery, known: LearntBaselines) -> FoundPieces:
    """Pieces that reach into the range of a query, each from its real begin on. Raises StoreError."""
    numbers = [past.number for past in known.past.values() if len(past.number)]
    if not numbers:
        return FoundPieces()
    first = min(int(number[0]) for number in numbers) * INTERVAL_NS
    last = max(int(number[-1]) + 1 for number in numbers) * INTERVAL_NS
    until = last if query.until_ns is None else min(last, query.until_ns)
    since = first if query.since_ns is None else max(first, query.since_ns)
    found = FoundPieces()
    for back in _BACK_DAYS:
        day = max(first // DAY_NS, (since - WARM_UP_NS) // DAY_NS - back) * DAY_NS
        if day >= until:
            break
        found = _searched(store, query, known, day, until)
        edge = day - WARM_UP_NS + MINUTE_NS
        if day <= first or not _cut(found, since, edge):
            break
    return found


def _cut(found: FoundPieces, since_ns: int, edge_ns: int) -> bool:
    """Whether a piece that lasts into the range begins where the search began."""
    return any(
        piece.begin_ns <= edge_ns and piece.end_ns > since_ns
        for pieces in found.pieces.values()
        for piece in (*pieces.slow, *pieces.hung)
    )


def _searched(
    store: Store, query: SlowdownQuery, known: LearntBaselines, first_ns: int, until_ns: int
) -> FoundPieces:
    found = FoundPieces(windows=_windows(store, query, known, first_ns - WARM_UP_NS, until_ns))
    for frame in found.windows:
        found.series |= judged_series(frame)
    for key, series in found.series.items():
        found.last_ns[key] = int(series.windows.start_ns[-1]) + 1
        found.pieces[key] = DayPieces([], [])
    keys = list(found.series)
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        for days in _together(found, first_ns, until_ns):
            rows = store.operations(keys, days[0] - WARM_UP_NS, min(days[-1] + DAY_NS, until_ns))

            def work(
                one: tuple[SeriesKey, int], rows: dict[SeriesKey, Operations] = rows
            ) -> DayPieces:
                key, day = one
                baseline = known.baselines.get(key)
                return day_pieces(key, day, found.series[key], rows.get(key), baseline)

            todo = [(key, day) for key in keys for day in days]
            for (key, _), part in zip(todo, pool.map(work, todo), strict=True):
                found.pieces[key].slow.extend(part.slow)
                found.pieces[key].hung.extend(part.hung)
            for key, operations in rows.items():
                found.first_ns.setdefault(key, int(operations.due_ns[0]))
                found.last_ns[key] = max(found.last_ns[key], int(operations.due_ns[-1]))
    found.pieces = {
        key: DayPieces(united(part.slow), united(part.hung)) for key, part in found.pieces.items()
    }
    return found


def _windows(
    store: Store, query: SlowdownQuery, known: LearntBaselines, since_ns: int, until_ns: int
) -> list[Frame]:
    """Windows of a minute of dense series, of ten minutes of the others, as events are found in."""
    frames = []
    for often, window_ns in ((True, MINUTE_NS), (False, INTERVAL_NS)):
        if not any(dense(key.period_ns) == often for key in known.past):
            continue
        asked = replace(
            query,
            since_ns=since_ns + window_ns,
            until_ns=until_ns,
            window_ns=window_ns,
            statistic="typ",
            trailing_ns=window_ns,
        )
        windows = judged_windows(store, asked, known)
        chosen = np.array([dense(int(period)) == often for period in windows["period_ns"]], bool)
        if chosen.any():
            frames.append(for_events(windows.take(chosen)))
    return frames


def _together(found: FoundPieces, first_ns: int, until_ns: int) -> Iterator[Sequence[int]]:
    """Days in a row whose operations fit into memory together; days without any window are left out."""
    days = range(first_ns, until_ns, DAY_NS)
    rows = np.zeros(len(days), dtype=np.int64)
    for series in found.series.values():
        place = (series.windows.start_ns - first_ns) // DAY_NS
        inside = (place >= 0) & (place < len(days))
        np.add.at(rows, place[inside], series.windows.n[inside])
    chosen: list[int] = []
    held = 0
    for day, n in zip(days, rows.tolist(), strict=True):
        if chosen and (held + n > _ROWS or n == 0):
            yield chosen
            chosen, held = [], 0
        if n:
            chosen.append(day)
            held += n
    if chosen:
        yield chosen
