"""The slowdown picture as sheets: samples with window medians, baseline and slow spans, the slowdown below.

A sheet has one pane an operation. Each pane shows every sample of the range: as points while
there are few of them, else as exact counts on a grid of time and log latency. Nothing is thinned.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iosonde.drawing.marks import BUSY, Mark, Shade, StepMarks, Strip
from iosonde.drawing.sheet import SECONDS, Pane, Sheet, seen_from
from iosonde.model.frames import Frame, SeriesKey, SlowdownResult, SlowSpan
from iosonde.model.ops import op_word
from iosonde.model.units import format_count, format_duration, format_slowdown
from iosonde.weather.sample_marks import drawn


def slowdown_figure(result: SlowdownResult, samples: Mapping[SeriesKey, Frame]) -> list[Sheet]:
    """One sheet a (host, target, period) of ``result``.

    ``samples``: what ``samples_to_draw.scatter`` gives for ``result``.
    """
    places: dict[tuple[str, str, int], dict[SeriesKey, Pane]] = {}
    windows = result.windows
    if len(windows) == 0:
        return []
    since = int(windows["start_ns"].min())
    until = int((windows["start_ns"] + windows["window_ns"]).max())
    since_s = max(since, result.query.since_ns or since) / 1e9
    until_s = min(until, result.query.until_ns or until) / 1e9
    for key, rows in windows.series():
        spans = [span for span in result.spans if span.key == key]
        panes = places.setdefault((key.host, key.target, key.period_ns), {})
        panes[key] = _pane(key, windows.take(rows), samples.get(key), spans)
    return [
        Sheet(
            kind="latency",
            title=seen_from(panes),
            columns=("",),
            panes=tuple(panes.values()),
            since_s=since_s,
            until_s=until_s,
            caption=("line: median of each window, band: its 95% interval",),
            stack=len(panes),
        )
        for panes in places.values()
    ]


def _pane(key: SeriesKey, windows: Frame, samples: Frame | None, spans: list[SlowSpan]) -> Pane:
    cells, points, n, silent = drawn(samples)
    start_s, end_s = windows["start_ns"] / 1e9, (windows["start_ns"] + windows["window_ns"]) / 1e9
    median, lower, upper, usual = (
        windows[f"{name}_ns"] / 1e9 for name in ("q50", "q50_lower", "q50_upper", "baseline")
    )
    stretches = tuple(
        (span.start_ns / 1e9, span.end_ns / 1e9, span.slowdown)
        for span in spans
        if span.slowdown is not None
    )
    marks: list[Mark | None] = [
        *(
            Shade(BUSY if span.host_busy else "slow", span.start_ns / 1e9, span.end_ns / 1e9)
            for span in spans
        ),
        cells,
        points,
        StepMarks("median", start_s, end_s, median, lower, upper),
        StepMarks("usual", start_s, end_s, usual),
        Strip("slowdown", start_s, end_s, windows["slowdown"], stretches),
    ]
    known = usual[~np.isnan(usual)]
    note = [f"usual {format_duration(known[-1] * 1e9) if len(known) else 'still learning'}"]
    note.append(f"n = {format_count(n)}")
    if silent:
        note.append(f"not drawn {silent}")
    if slow := [span for span in spans if not span.host_busy]:
        worst = max(slow, key=lambda span: span.slowdown or 0.0)
        note.append(f"slow {format_slowdown(worst.slowdown, worst.lower, worst.upper)}")
    there = tuple(mark for mark in marks if mark is not None)
    return Pane(op_word(key.op), "", SECONDS, there, n, "   ".join(note))
