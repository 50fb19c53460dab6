"""One panel of the slowdown figure in matplotlib: samples above, the slowdown strip below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import days, value_axis, widened
from iosonde.drawing.marks import Shade, Steps
from iosonde.drawing.marks_matplotlib import draw_cells, draw_points, draw_shade, draw_steps
from iosonde.drawing.style import DARK, RAMP_AT, Style
from iosonde.model.units import format_duration, format_factor, format_slowdown
from iosonde.weather.slowdown.figure import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_latency(axes: Axes, panel: Panel, style: Style) -> None:
    """Samples, window medians with their interval, baseline and slow spans, on a log scale."""
    low, high = _extent(panel)
    value_axis(axes, low, high, style)
    for span in panel.spans:
        draw_shade(axes, Shade("slow", span.start_ns / 1e9, span.end_ns / 1e9), style)
    if panel.cells is not None:
        draw_cells(axes, panel.cells, style)
    draw_points(axes, panel.points, style, low, high)
    windows = panel.windows
    ends = windows.start_s, windows.end_s
    draw_steps(
        axes, Steps("median", *ends, windows.median_s, windows.lower_s, windows.upper_s), style
    )
    draw_steps(axes, Steps("usual", *ends, windows.baseline_s), style)
    _headings(axes, panel, style)


def _headings(axes: Axes, panel: Panel, style: Style) -> None:
    """What a panel is of, and what is known about it."""
    about = "   ".join(_about(panel))
    above: dict[str, Any] = {"va": "bottom", "transform": axes.transAxes}
    axes.text(0, 1.04, panel.title, ha="left", color=style.ink, fontsize=11, weight="bold", **above)
    axes.text(1, 1.04, about, ha="right", color=style.faint, fontsize=8.5, **above)


def _extent(panel: Panel) -> tuple[float, float]:
    """All that is drawn, with a little air, at least a factor of four; failures do not count.

    (An operation that fails at once has a latency that says nothing; it is drawn at the edge.)
    """
    points = panel.points.value[panel.points.kind != "failed"]
    parts = [points, panel.windows.median_s, panel.windows.baseline_s]
    if panel.cells is not None:
        parts.append(panel.cells.value_edges)
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) == 0:
        return 1e-4, 1e-1
    low, high = float(values.min()), float(values.max())
    return widened(low, high)


def _about(panel: Panel) -> list[str]:
    """What stands above a panel."""
    known = panel.windows.baseline_s[~np.isnan(panel.windows.baseline_s)]
    usual = format_duration(float(known[-1]) * 1e9) if len(known) else "still learnt"
    words = [f"usual {usual}", "n = " + f"{panel.n:,}".replace(",", "\u2009")]
    if panel.n_without_latency:
        words.append(f"not drawn {panel.n_without_latency}")
    worst = max(panel.spans, key=lambda span: span.slowdown or 0.0, default=None)
    if worst is not None:
        words.append(f"slow {format_slowdown(worst.slowdown, worst.lower, worst.upper)}")
    return words


def draw_strip(axes: Axes, panel: Panel, style: Style) -> None:
    """One coloured cell a window; grey where there is no slowdown to tell."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap

    windows = panel.windows
    ramp = LinearSegmentedColormap.from_list(
        "slowdown", list(zip(np.log2(RAMP_AT) / 4, style.ramp, strict=True))
    )
    level = np.log2(np.clip(windows.slowdown, 1, 16)) / 4
    known = ~np.isnan(level)
    colours = np.where(known[:, None], ramp(np.where(known, level, 0)), ramp(0))
    starts, ends = days(windows.start_s), days(windows.end_s)
    boxes = [[(a, 0), (b, 0), (b, 1), (a, 1)] for a, b in zip(starts, ends, strict=True)]
    faces: list[Any] = [
        tuple(c) if k else style.unknown for c, k in zip(colours, known, strict=True)
    ]
    axes.add_collection(PolyCollection(boxes, facecolors=faces, edgecolors="none", rasterized=True))
    axes.set_ylim(0, 1)
    axes.tick_params(axis="y", left=False, labelleft=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.text(
        -0.008,
        0.5,
        "slowdown",
        transform=axes.transAxes,
        ha="right",
        va="center",
        color=style.faint,
        fontsize=8,
    )
    _label_spans(axes, panel, style)


def _label_spans(axes: Axes, panel: Panel, style: Style) -> None:
    """The factor inside each slow stretch of the strip that is wide enough for it."""
    low, high = axes.get_xlim()
    for span in panel.spans:
        begin = max(low, float(days(span.start_ns / 1e9)))
        end = min(high, float(days(span.end_ns / 1e9)))
        if span.slowdown is None or (end - begin) / (high - low) < 0.03:
            continue
        dark_cell = span.slowdown >= 5.5
        ink = "#ffffff" if dark_cell or style is DARK else style.ink
        axes.text(
            (begin + end) / 2,
            0.47,
            f"{format_factor(span.slowdown)}x",
            ha="center",
            va="center",
            color=ink,
            fontsize=8,
            fontweight="bold",
        )
