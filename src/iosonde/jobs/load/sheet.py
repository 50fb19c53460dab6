"""A load as a sheet: the rate of all nodes over time, and of the largest columns below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.marks import Mark, Shade, StepMarks
from iosonde.drawing.sheet import PER_S, Pane, Sheet
from iosonde.jobs.load.words import NOUNS, count, percent, say
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.jobs.load.view import LoadView
    from iosonde.model.arrays import Floats

MOST_PANES = 12
"""Most panes, for the total and the largest columns; the caption gives the number of others."""


def load_sheet(view: LoadView) -> Sheet:
    """Mean operations per second of each cell; a cell without records is a gap. The band of totals is shaded."""
    axis = view.axis
    start = (axis.begin_ns + axis.step_ns * np.arange(axis.cells)) / 1e9
    end = start + axis.step_ns / 1e9
    shades = tuple(
        Shade("burst", float(start[a]), float(end[b - 1])) for a, b in _stretches(view.inside > 0)
    )

    def pane(row: str, rates: Floats, ops: float, share: float) -> Pane:
        known = np.where(view.covered > 0, rates, np.nan)
        note = f"{count(ops)} operations, {percent(share)} of all"
        marks: tuple[Mark, ...] = (*shades, StepMarks("mean", start, end, known))
        return Pane(clean_text(row), "", PER_S, marks, int(np.isfinite(known).sum()), note)

    drawn = view.parts[: MOST_PANES - 1]
    panes = [pane("all nodes", view.total.ops[0], view.ops, 1.0)]
    panes += [
        pane(part.name, view.of.ops[row], part.ops, part.share) for row, part in enumerate(drawn)
    ]
    caption = [say(view)]
    if left_out := view.columns - len(drawn):
        caption.append(f"{left_out} more {NOUNS[view.asked.column][1]} are not drawn")
    return Sheet(
        kind="load",
        title="Operations per second over time",
        columns=("",),
        panes=tuple(panes),
        since_s=float(start[0]) if len(start) else None,
        until_s=float(end[-1]) if len(end) else None,
        caption=tuple(caption),
        stack=len(panes),
    )


def _stretches(inside: np.ndarray) -> list[tuple[int, int]]:
    """First and last + 1 of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
