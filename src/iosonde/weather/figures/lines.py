"""Sheets over time: statistics per interval, and slowdown at two scales (paper: figures 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
from iosonde.model.frames import Frame, SeriesKey, SlowdownResult, SlowSpan
from iosonde.model.ops import OF_WINDOW, SLOW_AT, op_order, op_word
from iosonde.model.units import format_count, format_factor, format_seconds, format_slowdown
from iosonde.weather.figures.distributions import column
from iosonde.weather.figures.intervals import on_grid
from iosonde.weather.slowdown.guarded import STAGES


def timeline_sheet(intervals: Mapping[SeriesKey, Frame], window_ns: int) -> Sheet | None:
    """Lines of all statistics of every interval, a row per op, a column per place. None without any.

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
    results: Sequence[SlowdownResult],
    shades: Mapping[SeriesKey, Sequence[Shade]],
    stretches: Sequence[SlowSpan] = (),
) -> Sheet | None:
    """Slowdown at several window lengths side by side, a row per op and place. None without windows.

    ``shades``: stretches to shade (events), by series; ``stretches``: the same, of which a
    note names the slowest. The statistic ``typ`` is shown where windows have it, else the one of the query.
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
            pane = replace(
                pane, note=pane.note + _slowest(span for span in stretches if span.key == key)
            )
            parts.setdefault(key, {})[name] = pane
    order = sorted(parts, key=lambda key: (op_order(key.op), names[key]))
    told, left_out = _told(order, parts, shades)
    panes = [parts[key][name] for key in told for name in columns if name in parts[key]]
    shaded = any(shades.get(key) for key in told)
    caption = "line: slowdown, band: its 95% interval; gaps: no data, or baseline still learning"
    return Sheet(
        kind="slowdown",
        title=f"Slowdown: {seen_from(parts)}",
        columns=columns,
        panes=tuple(panes),
        since_s=min(span[0] for span in spans) / 1e9,
        until_s=max(span[1] for span in spans) / 1e9,
        caption=(*((caption + ("; shaded: slow" if shaded else ""),) if panes else ()), *left_out),
    )


def _slowest(spans: Iterable[SlowSpan]) -> str:
    """``, slow 3.9x (3.6-4.2)``, the largest factor of those that the storage explains."""
    slow = [span for span in spans if not span.host_busy]
    if not slow:
        return ""
    worst = max(slow, key=lambda span: span.slowdown or 0.0)
    return f", slow {format_slowdown(worst.slowdown, worst.lower, worst.upper)}"


def _told(
    order: Sequence[SeriesKey],
    parts: Mapping[SeriesKey, Mapping[str, Pane]],
    shades: Mapping[SeriesKey, Sequence[Shade]],
) -> tuple[list[SeriesKey], tuple[str, ...]]:
    """Series with panes, and lines about the others: empty and uneventful ones have no pane.

    Where nothing happened to any, all that are known are drawn.
    """
    known = [key for key in order if any(pane.n for pane in parts[key].values())]
    empty = [pane for key in order if key not in known for pane in parts[key].values()]
    lines = []
    if empty:
        reason = "; ".join(dict.fromkeys(pane.empty for pane in empty))
        rows = ", ".join(dict.fromkeys(pane.row for pane in empty))
        lines.append(f"no slowdown of {rows}: {reason}")
    loud = [key for key in known if shades.get(key) or _highest(parts[key]) >= SLOW_AT]
    quiet = [key for key in known if key not in loud]
    if loud and quiet:
        rows = ", ".join(dict.fromkeys(p.row for key in quiet for p in parts[key].values()))
        most = max(_highest(parts[key]) for key in quiet)
        lines.append(f"as usual throughout, no window above {format_factor(most)}x: {rows}")
    return loud or known, tuple(lines)


def _highest(panes: Mapping[str, Pane]) -> float:
    """Largest slowdown in a series' panes; 0 if unknown."""
    values = [m.value for pane in panes.values() for m in pane.marks if isinstance(m, StepMarks)]
    known = np.concatenate([v[~np.isnan(v)] for v in values] or [np.empty(0)])
    return float(known.max()) if len(known) else 0.0


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
    if typ:
        # In the first hour there is no quantile function yet: the median over what is usual so far stands in.
        value, lower, upper = (
            np.where(np.isnan(column), grid[f"slowdown{end}"], column)
            for column, end in ((value, ""), (lower, "_lower"), (upper, "_upper"))
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
