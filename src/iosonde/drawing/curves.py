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
    """The same colour for a name in all panes."""
    names = curve_names(sheet)
    return {name: style.curves[place % len(style.curves)] for place, name in enumerate(names)}


def draw_curves(axes: Axes, pane: Pane, colours: dict[str, str], style: Style) -> None:
    """All curves of a pane, and a line from each median down."""
    curves = [mark for mark in pane.marks if isinstance(mark, Curve)]
    highest = max((float(curve.density.max()) for curve in curves), default=1.0)
    for curve in curves:
        colour = colours[curve.name]
        axes.plot(curve.value, curve.density, color=colour, lw=1.3, zorder=3)
        axes.fill_between(curve.value, curve.density, 0, color=colour, alpha=0.13, lw=0, zorder=2)
        height = float(np.interp(curve.median, curve.value, curve.density))
        axes.vlines(curve.median, 0, height, color=colour, lw=1.0, ls=(0, (2, 2)), zorder=3)
    axes.set_ylim(0, highest * 1.08)
    _heights(axes, highest, style)


def _heights(axes: Axes, highest: float, style: Style) -> None:
    """Two or three round numbers per decade at the left."""
    step = 10.0 ** np.floor(np.log10(highest))
    step = next(s for s in (step * f for f in (0.2, 0.5, 1, 2, 5)) if highest / s <= 3.99)
    ticks = np.arange(0, highest * 1.08, step)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.tick_params(axis="y", colors=style.faint, labelsize=8, length=0)
    axes.grid(True, axis="y", color=style.grid, lw=0.6)
    axes.axhline(0, color=style.grid, lw=1.0)
