"""From a question to a sheet: which analysis and which builder belong to a kind of figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from iosonde.analysis.distributions import interval_boxes, series_boxes
from iosonde.analysis.figures import Asked
from iosonde.analysis.intervals import intervals
from iosonde.analysis.phases import phased
from iosonde.analysis.scatter import gather
from iosonde.analysis.slowdown import analyse
from iosonde.model.frames import SeriesKey, SlowdownResult
from iosonde.plots.marks import Shade
from iosonde.plots.sheet import Sheet
from iosonde.plots.sheets_boxes import hosts_sheet, statistics_sheet
from iosonde.plots.sheets_lines import slowdown_sheet, timeline_sheet
from iosonde.plots.sheets_samples import phases_sheet, points_sheet
from iosonde.store.store import Store


def sheet_of(store: Store, asked: Asked) -> Sheet | None:
    """The figure; None where nothing was measured. Raises StoreError, UsageError."""
    return _MAKE[asked.kind](store, asked)


def _points(store: Store, asked: Asked) -> Sheet | None:
    since, until = _range(asked)
    return points_sheet(gather(store, asked.query, since, until), since, until)


def _hosts(store: Store, asked: Asked) -> Sheet | None:
    return hosts_sheet(series_boxes(store, asked.query))


def _phases(store: Store, asked: Asked) -> Sheet | None:
    (since, until), query = _range(asked), asked.query
    series = phased(store, query, since, until, asked.expected)
    return phases_sheet(series, asked.phases, (since, until), query.window_ns, query.statistic)


def _statistics(store: Store, asked: Asked) -> Sheet | None:
    boxes = interval_boxes(intervals(store, asked.query))
    return statistics_sheet(boxes, asked.query.window_ns)


def _timeline(store: Store, asked: Asked) -> Sheet | None:
    return timeline_sheet(intervals(store, asked.query), asked.query.window_ns)


def _slowdown(store: Store, asked: Asked) -> Sheet | None:
    results = [
        analyse(store, replace(asked.query, window_ns=window_ns)) for window_ns in asked.windows_ns
    ]
    return slowdown_sheet(results, slow_shades(results[0]))


def slow_shades(result: SlowdownResult) -> dict[SeriesKey, list[Shade]]:
    """The slow spans of a result as stretches to shade."""
    shades: dict[SeriesKey, list[Shade]] = {}
    for span in result.spans:
        shade = Shade("slow", span.start_ns / 1e9, span.end_ns / 1e9)
        shades.setdefault(span.key, []).append(shade)
    return shades


def _range(asked: Asked) -> tuple[int, int]:
    since, until = asked.query.since_ns, asked.query.until_ns
    if since is None or until is None:
        raise ValueError("a figure needs a range with two ends")
    return since, until


_MAKE: dict[str, Callable[[Store, Asked], Sheet | None]] = {
    "points": _points,
    "hosts": _hosts,
    "phases": _phases,
    "statistics": _statistics,
    "timeline": _timeline,
    "slowdown": _slowdown,
}
