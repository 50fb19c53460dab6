"""Pieces of every series of a range, day by day: one pass over windows, one over operations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.slowdown import INTERVAL_NS, Baseline
from iosonde.model.units import DAY_NS
from iosonde.weather.events.pieces.alarms import WARM_UP_NS
from iosonde.weather.events.pieces.days import DayPieces, day_pieces
from iosonde.weather.events.pieces.judged import MINUTE_NS, dense, for_events, judged_series
from iosonde.weather.events.pieces.kept_days import JudgedDay, Keeper
from iosonde.weather.events.pieces.piece import united
from iosonde.weather.events.pieces.series import JudgedSeries, cut
from iosonde.weather.events.slow_intervals import one_after_other
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


_Days = dict[int, dict[SeriesKey, JudgedDay]]


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
    """Days that were kept as they were, the others anew; those that are over are kept then."""
    days: _Days = {}
    missing: list[int] = []
    keeper = Keeper(store.root, known, whole=query.ops is None)
    for day in range(first_ns, until_ns, DAY_NS):
        kept = (
            keeper.load(day) if day + DAY_NS <= until_ns else None
        )  # a day that goes on is not kept
        if kept is None:
            missing.append(day)
        else:
            days[day] = kept
    for row in _in_a_row(missing):
        fresh = _judged(store, query, known, row, until_ns)
        days |= fresh
        for day in row:
            if day + DAY_NS <= until_ns:
                keeper.save(day, fresh.get(day, {}))
    return _united(dict(sorted(days.items())))


def _in_a_row(days: Sequence[int]) -> Iterator[list[int]]:
    row: list[int] = []
    for day in days:
        if row and day != row[-1] + DAY_NS:
            yield row
            row = []
        row.append(day)
    if row:
        yield row


def _judged(
    store: Store,
    query: SlowdownQuery,
    known: LearntBaselines,
    row: Sequence[int],
    until_ns: int,
) -> _Days:
    """Days in a row: one pass over windows, one over operations."""
    first_ns, until = row[0], min(row[-1] + DAY_NS, until_ns)
    series: dict[SeriesKey, JudgedSeries] = {}
    for frame in _windows(store, query, known, first_ns - WARM_UP_NS, until):
        series |= judged_series(frame)
    keys = list(series)
    found: _Days = {}
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        for days in _together(series, first_ns, until):
            rows = store.operations(keys, days[0] - WARM_UP_NS, min(days[-1] + DAY_NS, until))

            def work(
                one: tuple[SeriesKey, int], rows: dict[SeriesKey, Operations] = rows
            ) -> JudgedDay:
                key, day = one
                baseline = known.baselines.get(key)
                return _judged_day(key, day, series[key], rows.get(key), baseline)

            todo = [(key, day) for key in keys for day in days]
            for (key, day), part in zip(todo, pool.map(work, todo), strict=True):
                found.setdefault(day, {})[key] = part
    return found


def _judged_day(
    key: SeriesKey,
    day_ns: int,
    series: JudgedSeries,
    rows: Operations | None,
    baseline: Baseline | None,
) -> JudgedDay:
    part = cut(series, day_ns - WARM_UP_NS, day_ns + DAY_NS)
    pieces = day_pieces(key, day_ns, part, rows, baseline)
    mine = None if rows is None else rows.between(day_ns, day_ns + DAY_NS)
    if mine is None or len(mine) == 0:
        return JudgedDay(part, pieces, None, None)
    return JudgedDay(part, pieces, int(mine.due_ns[0]), int(mine.due_ns[-1]))


def _united(days: _Days) -> FoundPieces:
    """All days of every series together."""
    found = FoundPieces()
    keys = dict.fromkeys(key for day in days.values() for key in day)
    for key in sorted(keys):
        mine = [(day_ns, day[key]) for day_ns, day in days.items() if key in day]
        parts = [
            cut(one.series, day_ns - (0 if place else WARM_UP_NS), day_ns + DAY_NS)
            for place, (day_ns, one) in enumerate(mine)
        ]
        windows = one_after_other([part.windows for part in parts])
        if len(windows.start_ns) == 0:
            continue
        busy = np.concatenate([part.busy for part in parts])
        found.series[key] = parts[0]._replace(windows=windows, busy=busy)
        found.pieces[key] = DayPieces(
            united(piece for _, one in mine for piece in one.pieces.slow),
            united(piece for _, one in mine for piece in one.pieces.hung),
        )
        firsts = [one.first_ns for _, one in mine if one.first_ns is not None]
        lasts = [one.last_ns for _, one in mine if one.last_ns is not None]
        if firsts:
            found.first_ns[key] = firsts[0]
        found.last_ns[key] = max([int(windows.start_ns[-1]) + 1, *lasts])
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


def _together(
    found: Mapping[SeriesKey, JudgedSeries], first_ns: int, until_ns: int
) -> Iterator[Sequence[int]]:
    """Days in a row whose operations fit into memory together; days without any window are left out."""
    days = range(first_ns, until_ns, DAY_NS)
    rows = np.zeros(len(days), dtype=np.int64)
    for series in found.values():
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
