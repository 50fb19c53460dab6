"""What the legend of a sheet explains: only what is there to be seen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import text_width
from iosonde.drawing.curves import curve_colours, curve_names
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
from iosonde.drawing.marks_levels import curve_handle
from iosonde.drawing.marks_matplotlib import DASHES, KINDS, kind_colour
from iosonde.drawing.number_axes import number_handle
from iosonde.drawing.sheet import RATIO, Sheet
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from iosonde.drawing.sheet_layout import SheetLayout

_SIZE = 8.0
DIFFERENT, NOT_DIFFERENT = "changed, with 95% interval", "not shown to have changed"
SAME = "the same, within"
ONE_PROCESS, ONE_READ = "one process in one measurement", "one read"
UNKNOWN = "slowdown not known yet"
_HANDLE_IN = 0.42
"""Room for a sign and the gap behind its word."""


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
    """Whether the phases' names do not fit into their stretches and must be numbered."""
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


def _numbered(sheet: Sheet, pane_in: float) -> str:
    names = phase_names(sheet)
    if not names or not lines_of(sheet, pane_in):
        return ""
    # A number stays with its name when the line is wrapped.
    return "   ".join(f"{number}\N{NO-BREAK SPACE}{name}" for number, name in enumerate(names, 1))


def _columns(found: list[str], width_in: float) -> int:
    widest = max((text_width(word, _SIZE) for word in found), default=0.5) + _HANDLE_IN
    return max(1, min(len(found), int((width_in - 0.3) / widest)))


def legend_lines(sheet: Sheet, width_in: float, pane_in: float) -> int:
    """How many lines the legend needs."""
    found = words(sheet)
    lines = -(-len(found) // _columns(found, width_in)) if found else 0
    numbers = _numbered(sheet, pane_in)
    return lines + (len(wrapped(numbers, _SIZE, width_in - 0.3)) if numbers else 0)


def legend(canvas: Figure, sheet: Sheet, plan: SheetLayout, style: Style) -> None:
    """Draw it below the title."""
    title = len(wrapped(sheet.title, 12.5, plan.width_in - 2 * plan.margin_in))
    top = 0.14 + 0.21 * title
    found = words(sheet)
    if found:
        columns = _columns(found, plan.width_in)
        lines = -(-len(found) // columns)
        # matplotlib fills columns first; reading order is by lines.
        order = [r * columns + c for c in range(columns) for r in range(lines)]
        every = [mark for pane in sheet.panes for mark in pane.marks]
        own = {m.name: curve_handle(m, style) for m in every if isinstance(m, LevelLine)}
        own |= {
            m.name: number_handle(m, style) for m in every if isinstance(m, NumberDots | NumberLine)
        }
        levels = {m.name for p in sheet.panes for m in p.marks if isinstance(m, Level)}
        colours = curve_colours(sheet, style)
        handles = [
            own[found[i]] if found[i] in own else _handle(found[i], levels, style, colours)
            for i in order
            if i < len(found)
        ]
        canvas.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(plan.margin_in / plan.width_in, 1 - top / plan.height_in),
            ncols=columns,
            frameon=False,
            fontsize=_SIZE,
            labelcolor=style.faint,
            handlelength=1.6,
            columnspacing=1.4,
            labelspacing=0.3,
            borderaxespad=0,
            borderpad=0,
        )
        top += 0.17 * lines
    if numbers := _numbered(sheet, plan.pane_in):
        canvas.text(
            plan.margin_in / plan.width_in,
            1 - (top + 0.02) / plan.height_in,
            "\n".join(wrapped(numbers, _SIZE, plan.width_in - 0.3)),
            color=style.ink,
            fontsize=_SIZE,
            va="top",
            parse_math=False,
        )


def _handle(word: str, levels: set[str], style: Style, curves: dict[str, str]) -> Any:
    """The sign of one word; ``levels`` are limits."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    patches = {"operations, counted": (style.sample, 1.0), "slow": (style.slow, 0.25)}
    patches |= {"burst": patches["slow"], BUSY: (style.faint, 0.25)}
    patches |= {LOAD: (style.median, 0.75), UNKNOWN: (style.unknown, 1.0)}
    if word.startswith(SAME):
        patches[word] = (style.usual, 0.2)
    if word in patches:
        colour, alpha = patches[word]
        return Patch(color=colour, alpha=alpha, lw=0, label=word)
    look: dict[str, Any] = {"color": style.role(word), "lw": 1.5}
    if word in DASHES:
        look["ls"] = DASHES[word]
    if word in curves:
        look["color"] = curves[word]
    elif word in ("one operation", ONE_PROCESS, ONE_READ):
        look = {"ls": "", "marker": "o", "ms": 3, "color": style.sample}
    elif word in (DIFFERENT, NOT_DIFFERENT):
        colour = style.slow if word == DIFFERENT else style.median
        look = {"color": colour, "lw": 1.5, "marker": "o", "ms": 4}
    elif word in KINDS:
        look = {"ls": "", "marker": KINDS[word], "ms": 5, "color": kind_colour(word, style)}
    elif word == "as usual":
        look = {"color": style.usual, "lw": 1.0, "ls": (0, (5, 2))}
    elif word in levels:
        look = {"color": style.slow, "lw": 1.0, "ls": "-."}
    return Line2D([], [], label=word, **look)
