"""Drawing of each kind of mark in matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import days
from iosonde.drawing.marks import (
    BUSY,
    LOAD,
    Bars,
    Cells,
    Level,
    Points,
    RatioMarks,
    Shade,
    StepMarks,
)
from iosonde.drawing.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"failed": "x", "skipped": "|", "pending": "^"}
"""Markers of samples that did not end ok."""
DASHES: dict[str, Any] = {"usual": (0, (5, 2)), "q95": (0, (4, 1.5)), "q99": (0, (1, 1))}
"""Dash patterns of lines beside others of nearly their colour."""
_DPI = 130


def draw_cells(axes: Axes, cells: Cells, style: Style) -> None:
    """Counts as the opacity of one colour; even the least is visible."""
    from matplotlib.colors import ListedColormap, LogNorm, to_rgb

    box = axes.get_position()
    canvas: Any = axes.figure
    shown = cells.coarser(int(box.width * canvas.get_size_inches()[0] * _DPI / 2))
    counts = shown.counts.astype(float)
    opacity = np.linspace(0.28, 1.0, 64)
    shades = ListedColormap([(*to_rgb(style.sample), float(alpha)) for alpha in opacity])
    axes.pcolormesh(
        days(shown.time_edges_s),
        shown.value_edges,
        np.where(counts > 0, counts, np.nan),
        cmap=shades,
        norm=LogNorm(0.9, max(2.0, float(counts.max()))),
        rasterized=True,
        lw=0,
    )


def draw_points(axes: Axes, points: Points, style: Style, low: float, high: float) -> None:
    """Single samples; those beyond [low, high] at its edge."""
    heights = np.clip(points.value, low * 1.06, high / 1.06)
    ok = points.kind == "ok"
    alpha = 0.75 if np.count_nonzero(ok) < 2000 else 0.35
    if ok.any():
        axes.scatter(
            days(points.time_s[ok]),
            heights[ok],
            s=4,
            lw=0,
            color=style.sample,
            alpha=alpha,
            rasterized=True,
        )
    for kind, mark in KINDS.items():
        some = points.kind == kind
        if some.any():
            times = days(points.time_s[some])
            colour = kind_colour(kind, style)
            axes.scatter(times, heights[some], s=16, lw=1, marker=mark, color=colour)


def kind_colour(kind: str, style: Style) -> str:
    """The colour of a sample that did not end ok."""
    return style.skipped if kind == "skipped" else style.failed


def draw_steps(axes: Axes, steps: StepMarks, style: Style) -> None:
    """A horizontal line per interval, with its band; NaN is a gap."""
    edges = np.column_stack([days(steps.start_s), days(steps.end_s)]).ravel()
    colour = style.role(steps.role)
    if steps.lower is not None and steps.upper is not None:
        lower, upper = np.repeat(steps.lower, 2), np.repeat(steps.upper, 2)
        many = len(steps.value) > 500
        axes.fill_between(
            edges, lower, upper, color=style.sample, alpha=0.35, lw=0, rasterized=many
        )
    dashes: Any = DASHES.get(steps.role, "-")
    width = 1.5 if steps.role in ("median", "slowdown") and len(steps.value) < 500 else 1.0
    values = np.repeat(steps.value, 2)
    axes.plot(edges, values, color=colour, lw=width, ls=dashes, solid_capstyle="butt")


def draw_shade(axes: Axes, shade: Shade, style: Style) -> None:
    """A span of time behind everything else; a load also has a bar at the top and dotted ends."""
    if shade.kind == LOAD:
        span = days(shade.start_s), days(shade.end_s)
        axes.axvspan(*span, color=style.faint, alpha=0.1, lw=0, zorder=0)
        axes.axvspan(*span, ymin=0.95, color=style.median, alpha=0.75, lw=0, zorder=1)
        for end in span:
            axes.axvline(float(end), color=style.median, lw=0.8, ls=":", zorder=1)
        return
    colour, alpha = (style.faint, 0.16) if shade.kind in ("phase", BUSY) else (style.slow, 0.17)
    # A burst may be narrower than a pixel: its edge keeps it visible.
    edge = 0.7 if shade.kind == "burst" else 0
    axes.axvspan(
        days(shade.start_s), days(shade.end_s), color=colour, alpha=alpha, lw=edge, zorder=0
    )


def draw_level(axes: Axes, level: Level, style: Style) -> None:
    """A limit: a line of dashes and dots across."""
    axes.axhline(level.value, color=style.slow, lw=1.0, ls="-.", zorder=1)


def draw_shifts(axes: Axes, shifts: RatioMarks, style: Style) -> None:
    """A dot and its interval for each category, from top to bottom; the margin is a band."""
    axes.axvspan(1 / shifts.margin, shifts.margin, color=style.usual, alpha=0.14, lw=0, zorder=0)
    rows = np.arange(len(shifts.categories))
    known = ~np.isnan(shifts.value)
    changed = shifts.changed
    for some, colour in ((known & changed, style.slow), (known & ~changed, style.median)):
        axes.hlines(rows[some], shifts.lower[some], shifts.upper[some], color=colour, lw=1.6)
        axes.scatter(shifts.value[some], rows[some], s=22, lw=0, color=colour, zorder=3)
    for row in rows[~known]:
        axes.text(1.0, row, " n/a", color=style.faint, fontsize=7.5, va="center")
    _categories(axes, shifts.categories, style)


def draw_bars(axes: Axes, bars: Bars, style: Style) -> None:
    """Boxes from top to bottom, values to the right."""
    from matplotlib.patches import Rectangle

    rows = np.arange(len(bars.categories))
    known = ~np.isnan(bars.q50)
    for row in rows[known]:
        low, high = bars.q25[row], bars.q75[row]
        axes.add_patch(
            Rectangle(
                (low, row - 0.3),
                high - low,
                0.6,
                facecolor=style.sample,
                edgecolor=style.median,
                alpha=0.55,
                lw=0.9,
            )
        )
    axes.vlines(bars.q50[known], rows[known] - 0.3, rows[known] + 0.3, color=style.median, lw=1.8)
    for inner, outer in ((bars.q25, bars.low), (bars.q75, bars.high)):
        axes.hlines(rows[known], inner[known], outer[known], color=style.median, lw=0.9)
        axes.vlines(
            outer[known], rows[known] - 0.15, rows[known] + 0.15, color=style.median, lw=0.9
        )
    single = bars.outlier_n == 1
    for some, mark in ((single, "o"), (~single, "s")):
        if some.any():
            place = bars.outlier_category[some]
            size = 6 if mark == "o" else 4 + 5 * np.log10(bars.outlier_n[some])
            axes.scatter(
                bars.outlier_value[some],
                place,
                s=size,
                lw=0,
                marker=mark,
                color=style.sample,
                alpha=0.85,
                rasterized=len(place) > 500,
            )
    _categories(axes, bars.categories, style)


def _categories(axes: Axes, names: tuple[str, ...], style: Style) -> None:
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(np.arange(len(names)), [shortened(name) for name in names], parse_math=False)
    axes.tick_params(axis="y", colors=style.ink, labelsize=8, length=0)


def shortened(name: str, most: int = 26) -> str:
    """A long name with its middle left out."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most // 2) :]}"
