"""Figure requests to sheets: analysis and builder for each kind of figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from iosonde.drawing.marks import BUSY, Shade
from iosonde.drawing.sheet import Sheet
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.frames import SeriesKey, SlowSpan
from iosonde.weather.bursts.bursts import RunBursts, bursts
from iosonde.weather.bursts.sheet import bursts_sheet
from iosonde.weather.events.timeline import happened
from iosonde.weather.figures.boxes import hosts_sheet, statistics_sheet
from iosonde.weather.figures.densities import densities
from iosonde.weather.figures.density import density_sheet
from iosonde.weather.figures.distributions import interval_boxes, series_boxes
from iosonde.weather.figures.intervals import intervals
from iosonde.weather.figures.lines import slowdown_sheet, timeline_sheet
from iosonde.weather.figures.phases import phased
from iosonde.weather.figures.points import phases_sheet, points_sheet
from iosonde.weather.figures.request import SEED, FigureRequest
from iosonde.weather.figures.run_boxes import by_phase, run_boxes_sheet
from iosonde.weather.figures.sparse import sparse_sheet
from iosonde.weather.samples.periods import Part
from iosonde.weather.samples_to_draw import gather, thinned
from iosonde.weather.series.stretches import stretches, together
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store

Say = Callable[[Sequence[RunBursts]], Sequence[str]]
"""Sentences about runs: findings writes them, a figure only has them below it."""


def sheet_of(store: Store, asked: FigureRequest, say: Say | None = None) -> Sheet | None:
    """The figure; None without data. ``say``: sentences about bursts.

    Raises StoreError, UsageError.
    """
    if asked.kind == "bursts":
        return _bursts(store, asked, say)
    return _MAKE[asked.kind](store, asked)


def _bursts(store: Store, asked: FigureRequest, say: Say | None) -> Sheet | None:
    query = asked.query
    part = Part(query.target, query.host, None, query.since_ns, query.until_ns, query.ops)
    runs: list[RunBursts] = []
    for run_id in query.runs or (None,):
        with suppress(NothingMeasuredError):
            some = replace(part, run_id=run_id)
            runs += bursts(store, some, asked.short_ns, everything=True)
    if not runs:
        return None
    return bursts_sheet(runs, say(runs) if say else ())


def _points(store: Store, asked: FigureRequest) -> Sheet | None:
    since, until = asked.span_ns
    if asked.sparse is not None:
        found = thinned(store, asked.query, asked.sparse, asked.above_ns, SEED)
        return sparse_sheet(found, since, until, asked.above_ns, SEED)
    samples = gather(store, asked.query, since, until)
    if asked.query.runs is not None:
        samples = by_phase(samples, asked.query.runs)
    return points_sheet(samples, since, until)


def _density(store: Store, asked: FigureRequest) -> Sheet | None:
    return density_sheet(densities(store, asked.query))


def _hosts(store: Store, asked: FigureRequest) -> Sheet | None:
    return hosts_sheet(series_boxes(store, asked.query))


def _phases(store: Store, asked: FigureRequest) -> Sheet | None:
    (since, until), query = asked.span_ns, asked.query
    series = phased(store, query, since, until, asked.expected)
    return phases_sheet(series, asked.phases, (since, until), query.window_ns, query.statistic)


def _statistics(store: Store, asked: FigureRequest) -> Sheet | None:
    if asked.query.runs is not None:
        return run_boxes_sheet(series_boxes(store, asked.query), asked.query.runs)
    boxes = interval_boxes(intervals(store, asked.query))
    return statistics_sheet(boxes, asked.query.window_ns)


def _timeline(store: Store, asked: FigureRequest) -> Sheet | None:
    return timeline_sheet(intervals(store, asked.query), asked.query.window_ns)


def _slowdown(store: Store, asked: FigureRequest) -> Sheet | None:
    queries = [replace(asked.query, window_ns=window_ns) for window_ns in asked.windows_ns]
    now_ns = asked.span_ns[1] if asked.now_ns is None else asked.now_ns
    results = [analyse(store, query, known=asked.known) for query in queries]
    found = happened(store, queries[0], now_ns, known=asked.known)
    spans = together(results[0].spans, stretches(found), asked.query.ops)
    return slowdown_sheet(results, slow_shades(spans), spans)


def slow_shades(spans: Iterable[SlowSpan]) -> dict[SeriesKey, list[Shade]]:
    """Slow spans as shades; those that the probing host explains have their own colour."""
    shades: dict[SeriesKey, list[Shade]] = {}
    for span in spans:
        kind = BUSY if span.host_busy else "slow"
        shade = Shade(kind, span.start_ns / 1e9, span.end_ns / 1e9)
        shades.setdefault(span.key, []).append(shade)
    return shades


_MAKE: dict[str, Callable[[Store, FigureRequest], Sheet | None]] = {
    "points": _points,
    "hosts": _hosts,
    "phases": _phases,
    "statistics": _statistics,
    "timeline": _timeline,
    "slowdown": _slowdown,
    "density": _density,
}
