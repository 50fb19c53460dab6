"""The marks of an UMAMI row on matplotlib axes: runs over time, and the box of the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import days
from iosonde.drawing.style import Style
from iosonde.jobs.umami.figure import UmamiFigure, UmamiRow
from iosonde.jobs.umami.style import HISTORY, role_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHED = (0, (4, 2))


def draw_runs(axes: Axes, figure: UmamiFigure, row: UmamiRow, *, dark: bool) -> None:
    """A line with crosses, gaps where values are missing; the job as a star, joined to the run before it."""
    times, values, place = days(figure.times_s), row.values, figure.place
    colour = HISTORY["dark" if dark else "light"]
    others = np.arange(len(values)) != place
    size = _cross_size(axes, times)
    for part in np.split(np.arange(len(values)), figure.gaps):
        axes.plot(times[part], values[part], color=colour, lw=1.0, zorder=2)
    crosses: dict[str, Any] = {"ls": "", "marker": "x", "ms": size, "mew": 1.0, "zorder": 3}
    axes.plot(times[others], values[others], color=colour, **crosses)
    mine = role_colour(row.role, dark=dark)
    if row.value is None:
        axes.axvline(float(times[place]), color=mine, lw=1.0, ls=(0, (1, 2)), zorder=1)
        return
    if place > 0 and np.isfinite(values[place - 1]) and place not in figure.gaps:
        both = slice(place - 1, place + 1)
        axes.plot(times[both], values[both], color=mine, lw=2.0, zorder=4)
    star: dict[str, Any] = {"ls": "", "marker": "*", "ms": 12, "mew": 0.8, "zorder": 5}
    ground = axes.get_facecolor()
    axes.plot([times[place]], [row.value], color=mine, mec=ground, clip_on=False, **star)


def _cross_size(axes: Axes, times: Any) -> float:
    """Size in points: the distance of runs, so that crosses do not merge; never too small to see."""
    if len(times) < 2:
        return 5.0
    canvas: Any = axes.figure
    low, high = axes.get_xlim()
    width = axes.get_position().width * canvas.get_size_inches()[0] * 72
    apart = np.quantile(np.diff(times), 0.25) * width / (high - low)
    return float(np.clip(0.8 * apart, 2.6, 5.0))


def draw_box(axes: Axes, row: UmamiRow, style: Style, *, dark: bool) -> None:
    """Quartiles, whiskers at 5% and 95%, outliers as circles, and the job's value as a dashed line."""
    axes.set_xlim(0, 1)
    box = row.box
    ink: dict[str, Any] = {"color": style.ink, "lw": 1.0, "solid_capstyle": "butt", "zorder": 3}
    if box is not None:
        from matplotlib.patches import Rectangle

        height = box.q75 - box.q25
        axes.add_patch(
            Rectangle((0.3, box.q25), 0.4, height, fc=style.grid, ec=style.ink, lw=1.0, zorder=2)
        )
        axes.plot([0.3, 0.7], [box.q50, box.q50], **{**ink, "lw": 1.8})
        for end, quartile in ((box.low, box.q25), (box.high, box.q75)):
            axes.plot([0.5, 0.5], [end, quartile], **ink)
            axes.plot([0.4, 0.6], [end, end], **ink)
    circles: dict[str, Any] = {"ls": "", "marker": "o", "ms": 3.6, "mfc": "none", "zorder": 3}
    axes.plot(np.full(len(row.outliers), 0.5), row.outliers, mec=style.faint, mew=0.9, **circles)
    if row.value is not None:
        axes.axhline(
            row.value, color=role_colour(row.role, dark=dark), lw=1.8, ls=_DASHED, zorder=4
        )
    if row.n == 0:
        words: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes}
        axes.text(0.5, 0.25, "no history", color=style.faint, fontsize=7, **words)
