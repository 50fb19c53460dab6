"""Marks over named levels in matplotlib: dots, curves, and the axis below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.drawing.marks import Dots, LevelLine
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def level_axis(axes: Axes, levels: tuple[str, ...], levels_of: str, style: Style) -> None:
    """Names at 0, 1, 2 ... and the axis title."""
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_xticks(range(len(levels)), levels, parse_math=False)
    axes.tick_params(axis="x", colors=style.faint, labelsize=8, length=3, color=style.faint)
    axes.set_xlabel(levels_of, color=style.faint, fontsize=8, labelpad=2)


def draw_dots(axes: Axes, dots: Dots, style: Style) -> None:
    """Single values, small and translucent if many."""
    many = len(dots.value) > 500
    axes.scatter(
        dots.place,
        dots.value,
        s=4 if many else 8,
        lw=0,
        color=style.sample,
        alpha=0.35 if many else 0.75,
        rasterized=many,
    )


def draw_curve(axes: Axes, curve: LevelLine, style: Style) -> None:
    """A line; measured ones are thin, with a marker and an interval at each level, above all others."""
    look = _look(curve, style)
    if curve.lower is not None and curve.upper is not None:
        axes.vlines(curve.place, curve.lower, curve.upper, color=look["color"], lw=1.6, zorder=4)
    axes.plot(curve.place, curve.value, zorder=4 if curve.role == "median" else 3, **look)


def _look(curve: LevelLine, style: Style) -> dict[str, Any]:
    if curve.role == "median":
        return {"color": style.median, "lw": 0.6, "marker": "o", "ms": 4}
    if curve.role == "model":
        return {"color": style.slow, "lw": 1.8}
    return {"color": style.usual, "lw": 1.2, "ls": (0, (5, 2)) if "server" in curve.name else ":"}


def curve_handle(curve: LevelLine, style: Style) -> Any:
    """Symbol of the curve in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=curve.name, **_look(curve, style))
