"""Draws a sheet of small multiples with matplotlib, at any width, light or dark.

Panes stand in as many columns as fit: those of the sheet where they do, else fewer, in the same
order. Panes of one row share their value axis, so that places can be compared.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from iosonde.drawing.axes import days, text_width, time_axis, value_axis, widened
from iosonde.drawing.canvas import new_canvas, possible_width, write
from iosonde.drawing.curves import curve_colours, draw_curves
from iosonde.drawing.legend import legend
from iosonde.drawing.legend_words import lines_of, wrapped
from iosonde.drawing.marks import (
    Bars,
    Cells,
    Curve,
    Dots,
    Level,
    LevelLine,
    Mark,
    NumberDots,
    NumberLine,
    Points,
    RatioMarks,
    Ruler,
    Shade,
    StepMarks,
    Strip,
)
from iosonde.drawing.marks_levels import draw_curve, draw_dots, level_axis
from iosonde.drawing.marks_matplotlib import (
    draw_bars,
    draw_cells,
    draw_level,
    draw_points,
    draw_shade,
    draw_shifts,
    draw_steps,
    shortened,
)
from iosonde.drawing.number_axes import (
    draw_number_dots,
    draw_number_line,
    draw_ruler,
    number_axes,
)
from iosonde.drawing.sheet import RATIO, Pane, Sheet
from iosonde.drawing.sheet_layout import SheetLayout, layout
from iosonde.drawing.strip import draw_strip
from iosonde.drawing.style import DARK, LIGHT, Style

if TYPE_CHECKING:
    from datetime import tzinfo

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_FOR_NAMES = 0.14
"""Share of a pane's height added at its top for names of phases."""
_RATIOS = (0.5, 1.0, 2.0)
"""Ticks that an axis of ratios shows at least: 1x alone tells no scale."""


def save_sheet(
    sheet: Sheet,
    path: Path,
    *,
    width_in: float = 12.0,
    dark: bool = False,
    zone: tzinfo | None = None,
) -> None:
    """Write the picture: PNG, SVG or PDF by the name's ending. Raises StoreError, UsageError."""
    write(draw_sheet(sheet, width_in=width_in, dark=dark, zone=zone), path)


def draw_sheet(
    sheet: Sheet,
    *,
    width_in: float = 12.0,
    dark: bool = False,
    zone: tzinfo | None = None,
    titled: bool = True,
) -> Figure:
    """The matplotlib figure; not ``titled``: without title and caption, for a page that has them.

    Raises UsageError for a width that nothing fits in.
    """
    possible_width(width_in)
    style = DARK if dark else LIGHT
    if not titled:
        sheet = replace(sheet, title="", caption=())
    plan = layout(sheet, width_in)
    canvas = new_canvas(width_in, plan.height_in, style)
    _words(canvas, sheet, plan, style)
    extents = _extents(sheet)
    for number, pane in enumerate(sheet.panes):
        axes = canvas.add_axes(plan.box(number))
        axes.set_facecolor(style.ground)
        _draw(axes, sheet, pane, extents[pane.row, pane.unit], style)
        _headings(axes, sheet, pane, plan, style)
        if sheet.since_s is not None and sheet.until_s is not None:
            most = max(3, int(plan.pane_in / 0.55))
            axes.set_xlim(*days(pane.span_s or (sheet.since_s, sheet.until_s)))
            for strip in (mark for mark in pane.marks if isinstance(mark, Strip)):
                axes.tick_params(axis="x", which="both", bottom=False, labelbottom=False)
                axes = canvas.add_axes(plan.strip(number), xlim=axes.get_xlim())
                draw_strip(axes, strip, style)
            time_axis(axes, style, zone, labelled=plan.lowest(number), most=min(9, most))
        if sheet.levels:
            level_axis(axes, sheet.levels, sheet.levels_of, style)
    return canvas


def _words(canvas: Figure, sheet: Sheet, plan: SheetLayout, style: Style) -> None:
    """Title, legend and caption."""
    width, height = plan.width_in, plan.height_in
    lines = wrapped(sheet.title, 12.5, width - 2 * plan.margin_in)
    canvas.text(
        plan.margin_in / width,
        1 - 0.12 / height,
        "\n".join(lines),
        color=style.ink,
        fontsize=12.5,
        fontweight="bold",
        va="top",
        parse_math=False,
    )
    legend(canvas, sheet, plan, style)
    caption = [line for text in sheet.caption for line in wrapped(text, 7.5, width - 0.3)]
    canvas.text(
        plan.margin_in / width,
        0.1 / height,
        "\n".join(caption),
        color=style.faint,
        fontsize=7.5,
        va="bottom",
        linespacing=1.3,
    )


def _headings(axes: Axes, sheet: Sheet, pane: Pane, plan: SheetLayout, style: Style) -> None:
    """Title of a pane, left, and its note, right or below."""
    above: dict[str, Any] = {"va": "bottom", "transform": axes.transAxes, "parse_math": False}
    title = pane.row if len(sheet.columns) == 1 else f"{pane.row}  ·  {shortened(pane.column, 34)}"
    line = 0.15 / plan.axes_in
    up = 1 + 0.05 / plan.axes_in
    side = plan.label_in / plan.pane_in if plan.two_lines and sheet.since_s is None else 0.0
    heading: dict[str, Any] = {"color": style.ink, "fontsize": 9.5, "weight": "bold", **above}
    axes.text(-side, up + (line if plan.two_lines else 0), title, ha="left", **heading)
    if pane.note:
        note: dict[str, Any] = {"color": style.faint, "fontsize": 7.5, **above}
        place = (-side, up, "left") if plan.two_lines else (1, up, "right")
        axes.text(place[0], place[1], pane.note, ha=place[2], **note)


def _draw(axes: Axes, sheet: Sheet, pane: Pane, extent: tuple[float, float], style: Style) -> None:
    low, high = extent
    sideways = sheet.since_s is None and not sheet.levels and not pane.across
    along: Literal["x", "y"] = "x" if sideways else "y"
    if pane.across:
        number_axes(axes, pane, high, style)
    else:
        value_axis(axes, low, high, style, unit=pane.unit, along=along)
    if pane.unit == RATIO and low < 1 < high:
        line = axes.axhline if along == "y" else axes.axvline
        line(1.0, color=style.usual, lw=1.0, ls=(0, (5, 2)), zorder=1)
    shades = [mark for mark in pane.marks if isinstance(mark, Shade)]
    if sheet.kind == "density":
        draw_curves(axes, pane, curve_colours(sheet, style), style)
    for mark in pane.marks:
        _draw_mark(axes, mark, style, low, high)
    if pane.n == 0:
        words: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes}
        axes.text(0.5, 0.72, pane.empty, color=style.faint, fontsize=9, **words)
    _name_shades(axes, sheet, shades, style)


def _draw_mark(axes: Axes, mark: Mark, style: Style, low: float, high: float) -> None:
    """Draw one mark; a density's curves are drawn together."""
    match mark:
        case Shade():
            draw_shade(axes, mark, style)
        case Cells():
            draw_cells(axes, mark, style)
        case Points():
            draw_points(axes, mark, style, low, high)
        case StepMarks():
            draw_steps(axes, mark, style)
        case Level():
            draw_level(axes, mark, style)
        case RatioMarks():
            draw_shifts(axes, mark, style)
        case Dots():
            draw_dots(axes, mark, style)
        case LevelLine():
            draw_curve(axes, mark, style)
        case Bars():
            draw_bars(axes, mark, style)
        case NumberDots():
            draw_number_dots(axes, mark, style)
        case NumberLine():
            draw_number_line(axes, mark, style)
        case Ruler():
            draw_ruler(axes, mark, style)


def _name_shades(axes: Axes, sheet: Sheet, shades: list[Shade], style: Style) -> None:
    """Names of phases at the top of their spans; numbers if names do not fit."""
    named = [shade for shade in shades if shade.name]
    if not named or sheet.since_s is None or sheet.until_s is None:
        return
    width_in = _width_in(axes)
    numbers, scale = lines_of(sheet, width_in), width_in / (sheet.until_s - sheet.since_s)
    lines = [-1.0] * 3
    for number, shade in enumerate(named, 1):
        middle = (max(shade.start_s, sheet.since_s) + min(shade.end_s, sheet.until_s)) / 2
        text = str(number) if numbers else shade.name
        half = text_width(text, 7.5) / 2
        at = (middle - sheet.since_s) * scale
        # Names of short phases beside each other stand on lines of their own.
        line = next((k for k, end in enumerate(lines) if at - half >= end), len(lines) - 1)
        lines[line] = at + half + 0.02
        axes.text(
            float(days(middle)),
            0.985 - line * 0.135 / _height_in(axes),
            text,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="top",
            color=style.ink,
            fontsize=7.5,
            parse_math=False,
        )


def _width_in(axes: Axes) -> float:
    canvas: Any = axes.figure
    return float(axes.get_position().width * canvas.get_size_inches()[0])


def _height_in(axes: Axes) -> float:
    canvas: Any = axes.figure
    return float(axes.get_position().height * canvas.get_size_inches()[1])


def _extents(sheet: Sheet) -> dict[tuple[str, str], tuple[float, float]]:
    """Value range of every row and unit: all that is drawn, failures aside (drawn at the edge)."""
    parts: dict[tuple[str, str], list[Any]] = {}
    for pane in sheet.panes:
        values = parts.setdefault((pane.row, pane.unit), [])
        for mark in pane.marks:
            values += _values(mark)
        values += [np.array(_RATIOS)] if pane.unit == RATIO else []
    named = {
        (p.row, p.unit) for p in sheet.panes for m in p.marks if isinstance(m, Shade) and m.name
    }
    found = {}
    for place, values in parts.items():
        every = np.concatenate([np.empty(0), *values])
        every = every[np.isfinite(every) & (every > 0)]
        if any(pane.across for pane in sheet.panes if (pane.row, pane.unit) == place):
            found[place] = 0.0, float(every.max()) * 1.08 if len(every) else 1.0
            continue
        low, high = widened(float(every.min()), float(every.max())) if len(every) else (1e-4, 1e-1)
        # Names of phases stand at the top: no line goes through them.
        found[place] = low, high * (high / low) ** _FOR_NAMES if place in named else high
    return found


def _values(mark: object) -> list[Any]:
    """All values of a mark that must lie inside the axes."""
    match mark:
        case Points():
            found = [_heights(mark)]
        case Cells():
            found = [mark.value_edges]
        case StepMarks() | Dots() | NumberDots() | NumberLine():
            found = [mark.value]
        case LevelLine():
            found = [mark.value] if mark.role == "median" else []
        case Bars():
            found = [mark.low, mark.high, mark.outlier_value]
        case RatioMarks():
            found = [mark.lower, mark.upper, np.array([1 / mark.margin, mark.margin])]
        case Curve():
            found = [mark.value]
        case Level():
            found = [np.array([mark.value])]
        case Ruler():
            found = [np.array([mark.top])]
        case _:
            found = []
    return found


def _heights(points: Points) -> Any:
    """Values of successful operations, and longer waits. Ignores ticks skipped just before they were due."""
    ok = points.value[points.kind == "ok"]
    waits = points.value[(points.kind == "skipped") | (points.kind == "pending")]
    return np.concatenate([ok, waits[waits > ok.min()] if len(ok) else waits])
