"""Pieces of every series of a range, span by span: one pass over windows, one over operations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from iosonde.model.frames import SeriesKey, SlowdownQuery
from iosonde.model.slowdown import INTERVAL_NS, Baseline
from iosonde.model.units import DAY_NS
from iosonde.weather.events.pieces.alarms import WARM_UP_NS
from iosonde.weather.events.pieces.coarse import judged_coarse
from iosonde.weather.events.pieces.judged import Search, judged_in
from iosonde.weather.events.pieces.kept_spans import Keeper
from iosonde.weather.events.pieces.piece import united
from iosonde.weather.events.pieces.series import JudgedSeries, cut
from iosonde.weather.events.pieces.span_pieces import with_pieces
from iosonde.weather.events.pieces.spans import Span, in_a_row, spans
from iosonde.weather.events.slow_intervals import one_after_other
from iosonde.weather.samples.operations import Operations
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.window_length import MINUTE_NS, by_window, windows_of
from iosonde.weather.store import Store

_ROWS = 2_500_000
"""Operations that are in memory at a time, about: 60 MiB."""
_BACK_DAYS = (0, 3, 15, 63)
"""How many days further back an event is followed that lasts over the begin of the range."""
_MOST_THREADS = 8


class SearchedSeries(NamedTuple):
    """Series with their stretches; ``windows``: length of the windows of every series that the store knows."""

    series: dict[SeriesKey, JudgedSeries]
    windows: Mapping[SeriesKey, int]


_Spans = dict[Span, dict[SeriesKey, JudgedSeries]]


def search(store: Store, query: SlowdownQuery, known: LearntBaselines) -> SearchedSeries:
    """Pieces that reach into the range of a query, each from its real begin on. Raises StoreError."""
    numbers = [past.number for past in known.past.values() if len(past.number)]
    if not numbers:
        return SearchedSeries({}, {})
    first = min(int(number[0]) for number in numbers) * INTERVAL_NS
    last = max(int(number[-1]) + 1 for number in numbers) * INTERVAL_NS
    until = last if query.until_ns is None else min(last, query.until_ns)
    since = first if query.since_ns is None else max(first, query.since_ns)
    asked = Search(store, query, known, windows_of(known))
    spanned = {key: length for key, length in asked.windows.items() if length <= INTERVAL_NS}
    found: dict[SeriesKey, JudgedSeries] = {}
    for back in _BACK_DAYS:
        day = max(first // DAY_NS, (since - WARM_UP_NS) // DAY_NS - back) * DAY_NS
        if day >= until:
            break
        found = _searched(asked, spanned, day, until)
        edge = day - WARM_UP_NS + MINUTE_NS
        if day <= first or not _cut(found, since, edge):
            break
    begin = max(first, since - _BACK_DAYS[-1] * DAY_NS)
    for key, one in judged_coarse(asked, (begin, until)).items():
        found[key] = one._replace(last_ns=_last_ns(one))
    return SearchedSeries(found, asked.windows)


def _last_ns(one: JudgedSeries) -> int:
    """Its last operation or window, whichever is later."""
    return max(int(one.windows.start_ns[-1]) + 1, one.last_ns or 0)


def _cut(found: Mapping[SeriesKey, JudgedSeries], since_ns: int, edge_ns: int) -> bool:
    """Whether a piece that lasts into the range begins where the search began."""
    return any(
        piece.begin_ns <= edge_ns and piece.end_ns > since_ns
        for one in found.values()
        for piece in (*one.slow, *one.hung)
    )


def _searched(
    asked: Search, windows: Mapping[SeriesKey, int], first_ns: int, until_ns: int
) -> dict[SeriesKey, JudgedSeries]:
    """Spans that were kept as they were, the others anew; those that are over are kept then.

    ``windows``: those of the series that are searched span by span.
    """
    found: _Spans = {}
    if not windows:
        return {}
    missing: list[Span] = []
    keeper = Keeper(asked.store.root, asked.known, windows, whole=asked.query.ops is None)
    over: set[Span] = set()
    for span, is_over in spans(first_ns, until_ns):
        if is_over:
            over.add(span)
        kept = keeper.load(span) if is_over else None
        if kept is None:
            missing.append(span)
        else:
            found[span] = kept
    for row in in_a_row(missing):
        fresh = _judged(asked, windows, row, until_ns)
        found |= fresh
        for span in over.intersection(row):
            keeper.save(span, fresh.get(span, {}))
    return _united(dict(sorted(found.items())))


def _judged(
    asked: Search, windows: Mapping[SeriesKey, int], row: Sequence[Span], until_ns: int
) -> _Spans:
    """Spans in a row: one pass over windows, one over operations."""
    first_ns, until = row[0].begin_ns, min(row[-1].end_ns, until_ns)
    series: dict[SeriesKey, JudgedSeries] = {}
    for window_ns, keys_of in by_window(windows):
        series |= judged_in(asked, keys_of, window_ns, (first_ns - WARM_UP_NS, until))
    keys = list(series)
    found: _Spans = {}
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        for some in _together(series, row):
            last_ns = min(some[-1].end_ns, until)
            rows = asked.store.operations(keys, some[0].begin_ns - WARM_UP_NS, last_ns)

            def work(
                one: tuple[SeriesKey, Span], rows: dict[SeriesKey, Operations] = rows
            ) -> JudgedSeries:
                key, span = one
                baseline = asked.known.baselines.get(key)
                return _judged_span(key, span, series[key], rows.get(key), baseline)

            todo = [(key, span) for key in keys for span in some]
            for (key, span), part in zip(todo, pool.map(work, todo), strict=True):
                found.setdefault(span, {})[key] = part
    return found


def _judged_span(
    key: SeriesKey,
    span: Span,
    series: JudgedSeries,
    rows: Operations | None,
    baseline: Baseline | None,
) -> JudgedSeries:
    part = cut(series, span.begin_ns - WARM_UP_NS, span.end_ns)
    judged = with_pieces(key, span, part, rows, baseline)
    mine = None if rows is None else rows.between(*span)
    if mine is None or len(mine) == 0:
        return judged
    return judged._replace(first_ns=int(mine.due_ns[0]), last_ns=int(mine.due_ns[-1]))


def _united(judged: _Spans) -> dict[SeriesKey, JudgedSeries]:
    """All spans of every series together."""
    found = {}
    keys = dict.fromkeys(key for one in judged.values() for key in one)
    for key in sorted(keys):
        mine = [(span, one[key]) for span, one in judged.items() if key in one]
        parts = [
            cut(one, span.begin_ns - (0 if place else WARM_UP_NS), span.end_ns)
            for place, (span, one) in enumerate(mine)
        ]
        windows = one_after_other([part.windows for part in parts])
        if len(windows.start_ns) == 0:
            continue
        whole = JudgedSeries(
            windows,
            np.concatenate([part.busy for part in parts]),
            united(piece for part in parts for piece in part.slow),
            united(piece for part in parts for piece in part.hung),
            next((part.first_ns for part in parts if part.first_ns is not None), None),
            max((part.last_ns for part in parts if part.last_ns is not None), default=None),
        )
        found[key] = whole._replace(last_ns=_last_ns(whole))
    return found


def _together(
    found: Mapping[SeriesKey, JudgedSeries], row: Sequence[Span]
) -> Iterator[Sequence[Span]]:
    """Spans in a row whose operations fit into memory together; those without any window are left out."""
    begins = np.array([span.begin_ns for span in row])
    rows = np.zeros(len(row), dtype=np.int64)
    for series in found.values():
        place = np.searchsorted(begins, series.windows.start_ns, side="right") - 1
        inside = (place >= 0) & (series.windows.start_ns < row[-1].end_ns)
        np.add.at(rows, place[inside], series.windows.n[inside])
    chosen: list[Span] = []
    held = 0
    for span, n in zip(row, rows.tolist(), strict=True):
        if chosen and (held + n > _ROWS or n == 0):
            yield chosen
            chosen, held = [], 0
        if n:
            chosen.append(span)
            held += n
    if chosen:
        yield chosen
