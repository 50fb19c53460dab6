"""Marks over numbers in matplotlib: dots, lines, and both axes, which begin at round numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import short
from iosonde.drawing.marks import NumberDots, NumberLine, Ruler
from iosonde.drawing.sheet import BYTES_PER_S, Pane
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY, _FEW = 500, 60


def number_axes(axes: Axes, pane: Pane, high: float, style: Style) -> None:
    """Values from 0 to ``high``, and what ``pane.across`` counts."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    unit = _unit(high) if pane.unit == BYTES_PER_S else 1
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, high / unit)
    axes.yaxis.set_major_locator(FixedLocator([tick * unit for tick in ticks]))
    axes.set_ylim(0, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _label(value, pane.unit)))
    axes.grid(True, axis="y", color=style.grid, lw=0.8)
    axes.set_axisbelow(True)
    marks = [mark for mark in pane.marks if isinstance(mark, NumberDots | NumberLine)]
    every = np.concatenate(
        [np.empty(0), *(mark.across[np.isfinite(mark.across)] for mark in marks)]
    )
    low, last = (min(0.0, float(every.min())), float(every.max())) if len(every) else (0.0, 1.0)
    air = 0.02 * max(last - low, 1e-9)
    axes.set_xlim(low - air, last + air)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=last - low > 6))
    axes.tick_params(axis="both", colors=style.faint, labelsize=8, length=0)
    axes.tick_params(axis="x", pad=6)
    axes.set_xlabel(pane.across, color=style.faint, fontsize=8, labelpad=2)
    for side in axes.spines.values():
        side.set_visible(False)


_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def _unit(high: float) -> int:
    """Bytes of the unit of a rate."""
    return next((size for _, size in _UNITS if high >= size), 1)


def _label(value: float, unit: str) -> str:
    if unit != BYTES_PER_S:
        return f"{value:g} s" if unit == "s" else short(value, unit)
    name, size = next(((name, size) for name, size in _UNITS if value >= size), ("B", 1))
    return f"{value / size:g} {name}/s" if value else "0"


def draw_number_dots(axes: Axes, dots: NumberDots, style: Style) -> None:
    """Single values; slow ones are drawn on top."""
    slow, many = dots.role == "slow", len(dots.value) > _MANY
    axes.scatter(
        dots.across,
        dots.value,
        s=4 if many and not slow else 22 if len(dots.value) <= _FEW else 9,
        lw=0,
        color=_colour(dots.role, style),
        alpha=0.9 if slow or not many else 0.45,
        rasterized=many,
        zorder=4 if slow else 3,
    )


def draw_number_line(axes: Axes, line: NumberLine, style: Style) -> None:
    """A line; a mean is dashed."""
    axes.plot(line.across, line.value, zorder=4 if line.mean else 3, **_look(line, style))


def draw_ruler(axes: Axes, ruler: Ruler, style: Style) -> None:
    """Dotted lines across; the limits are set."""
    low, high = axes.get_xlim()
    for place in np.arange(np.ceil(low / ruler.every), high / ruler.every) * ruler.every:
        axes.axvline(float(place), color=style.faint, lw=0.6, ls=(0, (1, 3)), zorder=1)


def number_handle(mark: NumberDots | NumberLine, style: Style) -> Any:
    """Symbol of the mark in the legend."""
    from matplotlib.lines import Line2D

    if isinstance(mark, NumberLine):
        return Line2D([], [], label=mark.name, **_look(mark, style))
    look: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4, "color": _colour(mark.role, style)}
    return Line2D([], [], label=mark.name, **look)


def _look(line: NumberLine, style: Style) -> dict[str, Any]:
    dashes: Any = (0, (5, 2)) if line.mean else "-"
    return {"color": _colour(line.role, style), "lw": 1.1, "ls": dashes}


def _colour(role: str, style: Style) -> str:
    return {"write": style.tails[1], "read": style.usual, "target": style.median}.get(
        role, style.slow
    )
