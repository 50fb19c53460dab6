"""Sheets of single operations: all points of a range, and a benchmark's phases (paper: figures 1, 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.drawing.marks import Mark, Shade, StepMarks
from iosonde.drawing.sheet import (
    RATIO,
    SECONDS,
    Pane,
    Sheet,
    drawn_caption,
    places,
    seen_from,
)
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import op_order, op_word
from iosonde.model.phases import Phase
from iosonde.model.units import format_count, format_duration, format_seconds
from iosonde.weather.figures.phases import Phased
from iosonde.weather.sample_marks import Drawn, drawn


def points_sheet(samples: Mapping[SeriesKey, Frame], since_ns: int, until_ns: int) -> Sheet | None:
    """All operations, a row per op, a column per place. None without samples.

    ``samples``: what ``weather.samples_to_draw.gather`` gives.
    """
    if not samples:
        return None
    names = places(samples)
    keys = sorted(samples, key=lambda key: (op_order(key.op), names[key], key))
    marks = {key: drawn(samples[key]) for key in keys}
    panes = tuple(
        Pane(
            op_word(key.op),
            names[key],
            SECONDS,
            _marks(marks[key]),
            marks[key].n,
            _note(marks[key]),
        )
        for key in keys
    )
    silent = sum(mark.silent for mark in marks.values())
    return Sheet(
        kind="points",
        title=f"Every operation: {seen_from(keys)}",
        columns=tuple(sorted(set(names.values()))),
        panes=panes,
        since_s=since_ns / 1e9,
        until_s=until_ns / 1e9,
        caption=(drawn_caption(panes, silent),),
    )


def _marks(series: Drawn) -> tuple[Mark, ...]:
    return (*(() if series.cells is None else (series.cells,)), series.points)


def _note(series: Drawn) -> str:
    return f"n = {format_count(series.n)}"


def phases_sheet(
    series: Mapping[SeriesKey, Phased],
    phases: Sequence[Phase],
    span_ns: tuple[int, int],
    window_ns: int,
    statistic: str,
) -> Sheet | None:
    """Latency of every operation, and the slowdown of a statistic per interval, with the phases shaded.

    A row an op (and place), two columns. None for no samples.
    """
    if not series:
        return None
    names = places(series)
    several = len(set(names.values())) > 1
    shades = tuple(Shade("phase", p.start_ns / 1e9, p.end_ns / 1e9, p.name) for p in phases)
    columns = ("latency", f"slowdown, {statistic} of {format_seconds(window_ns)}")
    panes: list[Pane] = []
    silent = 0
    for key, one in series.items():
        row = op_word(key.op) + (f", {names[key]}" if several else "")
        single = drawn(one.samples)
        silent += single.silent
        panes.append(
            Pane(row, columns[0], SECONDS, (*shades, *_marks(single)), single.n, _note(single))
        )
        panes.append(_slowdown_pane((row, columns[1]), shades, one, window_ns))
    latency = [pane for pane in panes if pane.unit == SECONDS]
    return Sheet(
        kind="phases",
        title=f"Phases: {seen_from(series)}",
        columns=columns,
        panes=tuple(panes),
        since_s=span_ns[0] / 1e9,
        until_s=span_ns[1] / 1e9,
        caption=(drawn_caption(latency, silent),),
    )


def _slowdown_pane(
    place: tuple[str, str], shades: tuple[Shade, ...], one: Phased, window_ns: int
) -> Pane:
    """Statistic of the intervals over the expected one."""
    if one.expected_ns is None:
        return Pane(*place, RATIO, shades, 0, "no reference")
    start = one.intervals["start_ns"]
    ratio = one.intervals["value_ns"] / one.expected_ns
    steps = StepMarks("slowdown", start / 1e9, (start + window_ns) / 1e9, ratio)
    known = int(np.count_nonzero(~np.isnan(ratio)))
    note = f"1x = {format_duration(one.expected_ns)}, {format_count(known)} intervals"
    return Pane(*place, RATIO, (*shades, steps), known, note)
