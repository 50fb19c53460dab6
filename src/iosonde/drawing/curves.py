"""Densities in matplotlib: filled curves over a logarithmic axis of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.marks import Curve
from iosonde.drawing.sheet import Pane, Sheet
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curve_names(sheet: Sheet) -> list[str]:
    """Names of the curves of all panes, in order, each once."""
    marks = [mark for pane in sheet.panes for mark in pane.marks if isinstance(mark, Curve)]
    return list(dict.fromkeys(mark.name for mark in marks))


def curve_colours(sheet: Sheet, style: Style) -> dict[str, str]:
    """Colour by name, the same in all panes."""
    names = curve_names(sheet)
    return {name: style.curves[place % len(style.curves)] for place, name in enumerate(names)}


DECADES = 4.0
"""Range below the highest peak; lower densities are not drawn."""
FILLED = 2
"""Most curves with filled areas; more would mix to grey."""


def draw_curves(axes: Axes, pane: Pane, colours: dict[str, str], style: Style) -> None:
    """All curves of a pane over a logarithmic height, which shows the tail, and a line from each median down."""
    curves = [mark for mark in pane.marks if isinstance(mark, Curve)]
    highest = max((float(curve.density.max()) for curve in curves), default=1.0)
    floor = highest / 10.0**DECADES
    axes.set_yscale("log")
    for curve in curves:
        colour = colours[curve.name]
        height = np.where(curve.density > floor, curve.density, np.nan)
        axes.plot(curve.value, height, color=colour, lw=1.3, zorder=3)
        shown = np.maximum(curve.density, floor)
        if len(curves) <= FILLED:
            axes.fill_between(curve.value, shown, floor, color=colour, alpha=0.1, lw=0, zorder=2)
        top = max(floor, float(np.interp(curve.median, curve.value, curve.density)))
        axes.vlines(curve.median, floor, top, color=colour, lw=1.0, ls=(0, (2, 2)), zorder=3)
    axes.set_ylim(floor, highest * 2)
    _heights(axes, floor, highest, style)


def _heights(axes: Axes, floor: float, highest: float, style: Style) -> None:
    """Label each decade at the left."""
    first, last = int(np.ceil(np.log10(floor))), int(np.floor(np.log10(highest * 2)))
    ticks = [10.0**decade for decade in range(first, last + 1)]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([], minor=True)
    axes.tick_params(axis="y", which="both", colors=style.faint, labelsize=8, length=0)
    axes.grid(True, axis="y", color=style.grid, lw=0.6)
