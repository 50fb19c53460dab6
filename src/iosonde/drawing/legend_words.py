"""Words of a sheet's legend, and the number of lines it takes."""

from __future__ import annotations

import textwrap

import numpy as np

from iosonde.drawing.axes import text_width
from iosonde.drawing.curves import curve_names
from iosonde.drawing.marks import (
    BUSY,
    LOAD,
    Cells,
    Dots,
    Level,
    LevelLine,
    NumberDots,
    NumberLine,
    Points,
    RatioMarks,
    Shade,
    StepMarks,
    Strip,
)
from iosonde.drawing.marks_matplotlib import KINDS
from iosonde.drawing.sheet import RATIO, Sheet

SIZE = 8.0
DIFFERENT, NOT_DIFFERENT = "changed, with 95% interval", "not shown to have changed"
SAME = "the same, within"
ONE_PROCESS, ONE_READ = "one process in one measurement", "one read"
UNKNOWN = "slowdown not known yet"
_HANDLE_IN = 0.42
"""Width of a symbol and the gap after its word."""


def wrapped(text: str, points: float, room_in: float) -> list[str]:
    """Lines of a text in ``room_in`` inches; none of an empty one."""
    if not text:
        return []
    per_line = max(10, int(room_in / text_width("x", points)))
    return textwrap.wrap(text, per_line, break_on_hyphens=False)


def words(sheet: Sheet) -> list[str]:
    """The legend's words in order."""
    marks = [mark for pane in sheet.panes for mark in pane.marks]
    points = [mark for mark in marks if isinstance(mark, Points)]
    found: list[str] = list(curve_names(sheet))
    if any(np.any(mark.kind == "ok") for mark in points):
        found.append("one operation")
    if any(isinstance(mark, Dots) and len(mark.value) for mark in marks):
        found.append(ONE_READ if sheet.kind == "sweep" else ONE_PROCESS)
    found += dict.fromkeys(
        mark.name for mark in marks if isinstance(mark, LevelLine | NumberDots | NumberLine)
    )
    if any(isinstance(mark, Cells) for mark in marks):
        found.append("operations, counted")
    found += [kind for kind in KINDS if any(np.any(mark.kind == kind) for mark in points)]
    roles = dict.fromkeys(mark.role for mark in marks if isinstance(mark, StepMarks))
    found += list(roles)
    if margins := {mark.margin for mark in marks if isinstance(mark, RatioMarks)}:
        found += [DIFFERENT, NOT_DIFFERENT, f"{SAME} {max(margins) - 1:.0%}"]
    elif any(pane.unit == RATIO for pane in sheet.panes):
        found.append("as usual")
    found += dict.fromkeys(mark.name for mark in marks if isinstance(mark, Level))
    for kind in (LOAD, "slow", BUSY, "burst"):
        if any(isinstance(mark, Shade) and mark.kind == kind for mark in marks):
            found.append(kind)
    if any(isinstance(mark, Strip) and np.isnan(mark.value).any() for mark in marks):
        found.append(UNKNOWN)
    return found


def phase_names(sheet: Sheet) -> list[str]:
    """Names of the phases, in order."""
    for pane in sheet.panes:
        names = [mark.name for mark in pane.marks if isinstance(mark, Shade) and mark.name]
        if names:
            return names
    return []


def lines_of(sheet: Sheet, pane_in: float) -> bool:
    """True if the phases' names do not fit into their spans and must be numbered."""
    if sheet.since_s is None or sheet.until_s is None:
        return False
    scale = pane_in / (sheet.until_s - sheet.since_s)
    return any(
        text_width(mark.name, 7.5)
        > (min(mark.end_s, sheet.until_s) - max(mark.start_s, sheet.since_s)) * scale
        for pane in sheet.panes
        for mark in pane.marks
        if isinstance(mark, Shade) and mark.name
    )


def numbered(sheet: Sheet, pane_in: float) -> str:
    """Numbers and names of phases, where names do not fit into the panes; else an empty text."""
    names = phase_names(sheet)
    if not names or not lines_of(sheet, pane_in):
        return ""
    # A number stays with its name when the line is wrapped.
    return "   ".join(f"{number}\N{NO-BREAK SPACE}{name}" for number, name in enumerate(names, 1))


def columns_of(found: list[str], width_in: float) -> int:
    """Columns of the legend: as many as the longest word allows."""
    widest = max((text_width(word, SIZE) for word in found), default=0.5) + _HANDLE_IN
    return max(1, min(len(found), int((width_in - 0.3) / widest)))


def legend_lines(sheet: Sheet, width_in: float, pane_in: float) -> int:
    """Number of lines of the legend."""
    found = words(sheet)
    lines = -(-len(found) // columns_of(found, width_in)) if found else 0
    numbers = numbered(sheet, pane_in)
    return lines + (len(wrapped(numbers, SIZE, width_in - 0.3)) if numbers else 0)
