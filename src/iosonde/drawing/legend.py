"""The legend of a sheet, drawn below its title: it explains only marks that the sheet has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.drawing.curves import curve_colours
from iosonde.drawing.legend_words import (
    DIFFERENT,
    NOT_DIFFERENT,
    ONE_PROCESS,
    ONE_READ,
    SAME,
    SIZE,
    UNKNOWN,
    columns_of,
    numbered,
    words,
    wrapped,
)
from iosonde.drawing.marks import (
    BUSY,
    LOAD,
    Level,
    LevelLine,
    NumberDots,
    NumberLine,
)
from iosonde.drawing.marks_levels import curve_handle
from iosonde.drawing.marks_matplotlib import DASHES, KINDS, kind_colour
from iosonde.drawing.number_axes import number_handle
from iosonde.drawing.sheet import Sheet
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from iosonde.drawing.sheet_layout import SheetLayout


def legend(canvas: Figure, sheet: Sheet, plan: SheetLayout, style: Style) -> None:
    """Draw it below the title."""
    title = len(wrapped(sheet.title, 12.5, plan.width_in - 2 * plan.margin_in))
    top = 0.14 + 0.21 * title
    found = words(sheet)
    if found:
        columns = columns_of(found, plan.width_in)
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
            fontsize=SIZE,
            labelcolor=style.faint,
            handlelength=1.6,
            columnspacing=1.4,
            labelspacing=0.3,
            borderaxespad=0,
            borderpad=0,
        )
        top += 0.17 * lines
    if numbers := numbered(sheet, plan.pane_in):
        canvas.text(
            plan.margin_in / plan.width_in,
            1 - (top + 0.02) / plan.height_in,
            "\n".join(wrapped(numbers, SIZE, plan.width_in - 0.3)),
            color=style.ink,
            fontsize=SIZE,
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
