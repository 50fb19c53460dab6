"""Sheets over time: statistics per interval, and slowdown at two scales (paper: figures 5, 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.drawing.marks import Mark, Shade, StepMarks
from iosonde.drawing.sheet import (
    NOTHING_KNOWN,
    RATIO,
    SECONDS,
    Pane,
    Sheet,
    places,
    seen_from,
)
from iosonde.model.frames import Frame, SeriesKey, SlowdownResult
from iosonde.model.ops import OF_WINDOW, op_order, op_word
from iosonde.model.units import format_count, format_seconds
from iosonde.weather.figures.distributions import column
from iosonde.weather.figures.intervals import on_grid
from iosonde.weather.slowdown.guarded import STAGES


def timeline_sheet(intervals: Mapping[SeriesKey, Frame], window_ns: int) -> Sheet | None:
    """All statistics of every interval as lines, a row an op, a column a place. None for none.

    ``intervals``: what ``weather.figures.intervals.intervals`` gives.
    """
    if not intervals:
        return None
    names = places(intervals)
    panes = []
    for key in sorted(intervals, key=lambda key: (op_order(key.op), names[key])):
        frame = intervals[key]
        start = frame["start_ns"]
        marks = tuple(
            StepMarks(
                name, start / 1e9, (start + window_ns) / 1e9, frame[f"{column(name)}_ns"] / 1e9
            )
            for name in OF_WINDOW
        )
        n, missing = int(frame["n_seen"].sum()), int(np.count_nonzero(frame["n_seen"] == 0))
        note = f"n = {format_count(n)}" + (
            f", {format_count(missing)} intervals missing" if missing else ""
        )
        panes.append(Pane(op_word(key.op), names[key], SECONDS, marks, n, note))
    starts = next(iter(intervals.values()))["start_ns"]
    length = format_seconds(window_ns)
    return Sheet(
        kind="timeline",
        title=f"Statistics of {length} over time: {seen_from(intervals)}",
        columns=tuple(sorted(set(names.values()))),
        panes=tuple(panes),
        since_s=float(starts[0]) / 1e9,
        until_s=float(starts[-1] + window_ns) / 1e9,
        caption=(
            f"every line: a statistic of all operations that ended ok in {length}; gaps: no data",
        ),
    )


def slowdown_sheet(
    results: Sequence[SlowdownResult], shades: Mapping[SeriesKey, Sequence[Shade]]
) -> Sheet | None:
    """Slowdown at several window lengths side by side, a row an op and place. None for no windows.

    ``shades``: stretches to shade (events), by series. The statistic ``typ`` is shown where windows
    have it, else the one of the query.
    """
    parts: dict[SeriesKey, dict[str, Pane]] = {}
    names = places(key for result in results for key, _ in result.windows.series())
    if not names:
        return None
    several = len(set(names.values())) > 1
    columns = tuple(f"windows of {format_seconds(result.query.window_ns)}" for result in results)
    spans = [(int(r.windows["start_ns"].min()), _end(r)) for r in results if len(r.windows) > 0]
    for result, name in zip(results, columns, strict=True):
        for key, rows in result.windows.series():
            row = op_word(key.op) + (f", {names[key]}" if several else "")
            pane = _slowdown_pane(row, name, result, result.windows.take(rows), shades.get(key, ()))
            parts.setdefault(key, {})[name] = pane
    panes = [
        parts[key][name]
        for key in sorted(parts, key=lambda key: (op_order(key.op), names[key]))
        for name in columns
        if name in parts[key]
    ]
    shaded = any(shades.get(key) for key in parts)
    caption = "line: slowdown, band: its 95% interval; gaps: no data, or baseline still learning"
    return Sheet(
        kind="slowdown",
        title=f"Slowdown: {seen_from(parts)}",
        columns=columns,
        panes=tuple(panes),
        since_s=min(span[0] for span in spans) / 1e9,
        until_s=max(span[1] for span in spans) / 1e9,
        caption=(caption + ("; shaded: slow" if shaded else ""),),
    )


def _end(result: SlowdownResult) -> int:
    return int((result.windows["start_ns"] + result.windows["window_ns"]).max())


def _slowdown_pane(
    row: str, name: str, result: SlowdownResult, windows: Frame, shades: Sequence[Shade]
) -> Pane:
    length = result.query.window_ns
    grid = on_grid(windows, int(windows["start_ns"][0]), int(windows["start_ns"][-1]), length)
    typ = "typ" in grid and result.query.statistic == "median"
    value, lower, upper = (
        grid[f"{'typ' if typ else 'slowdown'}{end}"] for end in ("", "_lower", "_upper")
    )
    start = grid["start_ns"]
    steps = StepMarks("slowdown", start / 1e9, (start + length) / 1e9, value, lower, upper)
    known = value[~np.isnan(value)]
    above = int(np.count_nonzero((value >= 2) & ~grid["host_busy"]))
    note = f"{format_count(len(known))} windows, {format_count(above)} at 2x and more"
    marks: tuple[Mark, ...] = (*shades, steps)
    young = len(known) == 0 and bool((windows["stage"].astype(str) == STAGES[0]).all())
    empty = "still learning the baseline" if young else NOTHING_KNOWN
    return Pane(row, name, RATIO, marks, len(known), note, empty=empty)
