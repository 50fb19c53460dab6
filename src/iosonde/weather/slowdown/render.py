"""Draws a slowdown figure with matplotlib: no pyplot, no global state.

::

    reads      | latency, log scale: samples, window median with interval, dashed baseline
      3.1x     | slow spans shaded
    slowdown   | one strip of colour a window: pale = as usual, dark red = 16x and more, grey = n/a
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import days, time_axis
from iosonde.drawing.canvas import new_canvas, write
from iosonde.drawing.marks_matplotlib import KINDS, kind_colour
from iosonde.drawing.style import DARK, LIGHT, Style
from iosonde.weather.slowdown.figure import FigureData
from iosonde.weather.slowdown.panel import draw_latency, draw_strip

if TYPE_CHECKING:
    from datetime import tzinfo

    from matplotlib.figure import Figure


_LEFT_IN = 0.95
"""Room for the labels of the latency axis, inches."""


def save(
    figure: FigureData,
    path: Path,
    *,
    width_in: float = 12.0,
    dark: bool = False,
    zone: tzinfo | None = None,
) -> None:
    """Write the picture: PNG, SVG or PDF by the name's ending.

    Raises StoreError (cannot be written), MissingPartError (no matplotlib).
    """
    write(draw(figure, width_in=width_in, dark=dark, zone=zone), path)


def draw(
    figure: FigureData, *, width_in: float = 12.0, dark: bool = False, zone: tzinfo | None = None
) -> Figure:
    """The matplotlib figure."""
    style = DARK if dark else LIGHT
    rows = max(1, len(figure.panels))
    marks = _marks(figure, style)
    per_line = max(2, int((width_in - _LEFT_IN) / 1.6))
    head = 0.42 + 0.22 * -(-len(marks) // per_line)
    height = head + 1.72 * rows + 0.4
    canvas = new_canvas(width_in, height, style)
    _title(canvas, figure.title, style)
    _legend(canvas, marks, per_line, style)
    grid = canvas.add_gridspec(
        3 * rows,
        1,
        height_ratios=[1.5, 6, 1] * rows,
        left=_LEFT_IN / width_in,
        right=1 - 0.25 / width_in,
        top=1 - head / height,
        bottom=0.45 / height,
        hspace=0.12,
    )
    for row, panel in enumerate(figure.panels):
        upper = canvas.add_subplot(grid[3 * row + 1])
        lower = canvas.add_subplot(grid[3 * row + 2])
        for axes in (upper, lower):
            axes.set_facecolor(style.ground)
            axes.set_xlim(days(figure.since_s), days(figure.until_s))
        draw_latency(upper, panel, style)
        draw_strip(lower, panel, style)
        time_axis(lower, style, zone, labelled=row == rows - 1)
        upper.tick_params(axis="x", which="both", bottom=False, labelbottom=False)
    return canvas


def _title(canvas: Figure, title: str, style: Style) -> None:
    width, height = canvas.get_size_inches()
    place = (_LEFT_IN / width, 1 - 0.24 / height)
    words: dict[str, Any] = {"fontweight": "bold", "va": "center", "parse_math": False}
    canvas.text(*place, title, color=style.ink, fontsize=13, **words)


def _marks(figure: FigureData, style: Style) -> list[Any]:
    """What the legend explains: only what is there to be seen."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: list[Any] = [
        Line2D([], [], ls="", marker="o", ms=3, color=style.sample, label="one operation"),
        Line2D([], [], color=style.median, lw=1.5, label="window median, 95%"),
        Line2D([], [], color=style.usual, lw=1.3, ls=(0, (5, 2)), label="usual"),
    ]
    if any(panel.cells is not None for panel in figure.panels):
        marks[0] = Patch(color=style.sample, lw=0, label="operations, counted")
    if any(panel.spans for panel in figure.panels):
        marks.append(Patch(color=style.slow, alpha=0.25, lw=0, label="slow"))
    kinds = {str(kind) for panel in figure.panels for kind in np.unique(panel.points.kind)}
    for kind, mark in KINDS.items():
        if kind in kinds:
            colour = kind_colour(kind, style)
            marks.append(Line2D([], [], ls="", marker=mark, ms=5, color=colour, label=kind))
    return marks


def _legend(canvas: Figure, marks: list[Any], per_line: int, style: Style) -> None:
    width, height = canvas.get_size_inches()
    canvas.legend(
        handles=marks,
        loc="upper left",
        bbox_to_anchor=((_LEFT_IN - 0.08) / width, 1 - 0.4 / height),
        ncols=min(per_line, len(marks)),
        frameon=False,
        fontsize=8,
        labelcolor=style.faint,
        handlelength=1.6,
        columnspacing=1.4,
        borderaxespad=0,
    )
