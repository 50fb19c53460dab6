"""Draws a climate with matplotlib: a grid of small panes, file systems side by side if there is room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.drawing.axes import days, text_width, time_axis
from iosonde.drawing.canvas import new_canvas, possible_width, write
from iosonde.drawing.legend_words import wrapped
from iosonde.drawing.style import DARK, LIGHT, Style
from iosonde.jobs.climate.figure import HIGHEST, ClimateColumn, ClimateFigure, ClimatePane

if TYPE_CHECKING:
    from datetime import tzinfo

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN_IN, _TICKS_IN, _GAP_IN = 0.14, 0.5, 0.2
_LEAST_PANE_IN = 2.5
_PANE_IN, _WORDS_IN, _STRIP_IN, _HEAD_IN, _AXIS_IN = 0.72, 0.19, 0.17, 0.26, 0.42
_SMALL, _LABEL = 7.4, 8.2
_MOST_LINES = 16


class _Plan(NamedTuple):
    """Inches. ``across``: columns side by side; ``block``: height of one row of columns."""

    width: float
    height: float
    top: float
    across: int
    pane: float
    block: float
    caption: list[str]


def save_climate(
    figure: ClimateFigure,
    path: Path,
    *,
    width_in: float = 12.0,
    dark: bool = False,
    zone: tzinfo | None = None,
) -> None:
    """Write the picture: PNG, SVG or PDF by the name's ending; equal data give equal bytes.

    Raises StoreError (cannot be written), MissingPartError (no matplotlib), UsageError (width).
    """
    write(draw_climate(figure, width_in=width_in, dark=dark, zone=zone), path)


def draw_climate(
    figure: ClimateFigure, *, width_in: float = 12.0, dark: bool = False, zone: tzinfo | None = None
) -> Figure:
    """The matplotlib figure. Raises UsageError for a width that nothing fits in."""
    possible_width(width_in)
    style = DARK if dark else LIGHT
    plan = _plan(figure, width_in)
    canvas = new_canvas(plan.width, plan.height, style)
    plain: dict[str, Any] = {"parse_math": False, "va": "top", "linespacing": 1.25}
    title = "\n".join(wrapped(figure.title, 12.5, width_in - 2 * _MARGIN_IN))
    left = _MARGIN_IN / width_in
    canvas.text(
        left, 1 - 0.1 / plan.height, title, fontsize=12.5, weight="bold", color=style.ink, **plain
    )
    canvas.text(
        left,
        0.08 / plan.height,
        "\n".join(plan.caption),
        fontsize=_SMALL,
        color=style.faint,
        **{**plain, "va": "bottom"},
    )
    for place, column in enumerate(figure.columns):
        _column(canvas, figure, column, place, plan, style, zone)
    return canvas


def _plan(figure: ClimateFigure, width: float) -> _Plan:
    room = width - 2 * _MARGIN_IN
    n = max(1, len(figure.columns))
    across = max(1, min(n, int(room / (_LEAST_PANE_IN + _TICKS_IN))))
    pane = (room - across * _TICKS_IN - (across - 1) * _GAP_IN) / across
    block = _HEAD_IN + _STRIP_IN + len(figure.motifs) * (_PANE_IN + _WORDS_IN) + _AXIS_IN
    top = 0.16 + 0.2 * len(wrapped(figure.title, 12.5, room))
    lines = [line for text in figure.caption for line in wrapped(text, _SMALL, room)]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "..."]
    foot = 0.14 + 0.132 * len(lines)
    height = top + -(-n // across) * block + foot
    return _Plan(width, height, top, across, pane, block, lines)


def _column(  # noqa: PLR0917
    canvas: Figure,
    figure: ClimateFigure,
    column: ClimateColumn,
    place: int,
    plan: _Plan,
    style: Style,
    zone: tzinfo | None,
) -> None:
    """A file system: its name, its climates, its panes."""
    row, across = divmod(place, plan.across)
    left = _MARGIN_IN + _TICKS_IN + across * (plan.pane + _TICKS_IN + _GAP_IN)
    top = plan.height - plan.top - row * plan.block

    def axes_at(bottom: float, height: float) -> Axes:
        box = (left / plan.width, bottom / plan.height)
        made = canvas.add_axes((*box, plan.pane / plan.width, height / plan.height))
        made.set_facecolor(style.ground)
        made.set_xlim(*days((figure.since_s, figure.until_s)))
        return made

    put: dict[str, Any] = {"parse_math": False, "va": "center", "color": style.ink}
    name = column.file_system or "no file system"
    y = (top - _HEAD_IN / 2) / plan.height
    canvas.text(left / plan.width, y, _fitting(name, plan.pane, 10), fontsize=10, **put)
    bottom = top - _HEAD_IN - _STRIP_IN
    _strip(axes_at(bottom, _STRIP_IN), column, plan, figure, style)
    for number, (motif, pane) in enumerate(zip(figure.motifs, column.panes, strict=True)):
        bottom -= _WORDS_IN + _PANE_IN
        y = (bottom + _PANE_IN + _WORDS_IN / 2 - 0.01) / plan.height
        if number == 0:
            side: dict[str, Any] = {"fontsize": _SMALL, "rotation": 90, "ha": "center"}
            middle = (bottom + _PANE_IN / 2) / plan.height
            x = (left - _TICKS_IN + 0.07) / plan.width
            canvas.text(x, middle, figure.y_label, **{**put, **side, "color": style.faint})
        words = _fitting(motif, plan.pane, _LABEL)
        canvas.text(left / plan.width, y, words, fontsize=_LABEL, **put)
        axes = axes_at(bottom, _PANE_IN)
        _frame(axes, style)
        for band in column.bands:
            colour = _colour(band.climate, style)
            axes.axvspan(
                *days((band.start_s, band.end_s)), color=colour, alpha=0.09, lw=0, zorder=0
            )
        if pane is None:
            axes.text(0.02, 0.5, "too few runs", transform=axes.transAxes, fontsize=7.5, **put)
        else:
            _runs(axes, pane, style)
        lowest = number == len(figure.motifs) - 1
        time_axis(axes, style, zone, labelled=lowest, most=max(3, min(8, int(plan.pane / 0.6))))


def _strip(
    axes: Axes, column: ClimateColumn, plan: _Plan, figure: ClimateFigure, style: Style
) -> None:
    """The climates' letters; too narrow ones have none."""
    per_s = plan.pane / (figure.until_s - figure.since_s)
    for band in column.bands:
        colour = _colour(band.climate, style)
        axes.axvspan(*days((band.start_s, band.end_s)), color=colour, alpha=0.42, lw=0)
        first, last = max(band.start_s, figure.since_s), min(band.end_s, figure.until_s)
        if (last - first) * per_s > text_width(band.name, _SMALL):
            middle = days((first + last) / 2)
            put: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}
            axes.text(middle, 0.46, band.name, fontsize=_SMALL, color=style.ink, **put)
        axes.axvline(days(first), color=style.ground, lw=0.8)
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _frame(axes: Axes, style: Style) -> None:
    axes.set_ylim(0, HIGHEST)
    axes.set_yticks((0, 0.5, 1.0), labels=("0", "0.5", "1"))
    axes.tick_params(axis="y", colors=style.faint, labelsize=7.2, length=0, pad=3)
    axes.grid(True, axis="y", color=style.grid, lw=0.7)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_color(style.grid)
        side.set_linewidth(0.9)


def _runs(axes: Axes, pane: ClimatePane, style: Style) -> None:
    for shift in pane.shifts:
        colour = style.usual if shift.rose else style.slow
        span = days((shift.earliest_s, shift.latest_s))
        axes.axvspan(*span, color=colour, alpha=0.2, lw=0, zorder=1)
        axes.axvline(days(shift.at_s), color=colour, lw=1.3, zorder=2)
    axes.scatter(
        days(pane.times_s), pane.values, s=3.2, lw=0, color=style.sample, alpha=0.75, zorder=3
    )
    for level in pane.levels:
        ends = days(np.array((level.start_s, level.end_s)))
        axes.plot(
            ends, (level.median, level.median), color=style.median, lw=1.7, zorder=4,
            solid_capstyle="butt",
        )  # fmt: skip


def _colour(climate: int, style: Style) -> str:
    """Colour of a climate, distinct from those of changes."""
    colours = (
        style.tails[1],
        style.skipped,
        style.tails[2],
        style.faint,
        style.tails[0],
        style.tails[3],
    )
    return colours[climate % len(colours)]


def _fitting(text: str, room_in: float, points: float) -> str:
    most = max(4, int(room_in / text_width("x", points)))
    return text if len(text) <= most else text[: most - 1] + "…"
