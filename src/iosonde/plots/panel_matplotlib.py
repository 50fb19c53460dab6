"""One panel of the slowdown figure in matplotlib: samples above, the slowdown strip below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.units import format_duration, format_factor, format_slowdown
from iosonde.plots.figure import Panel
from iosonde.plots.style import DARK, RAMP_AT, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {"failed": "x", "skipped": "|", "pending": "^"}
"""Markers of samples that did not end ok."""


def days(seconds: Any) -> Any:
    """Seconds since the epoch -> matplotlib's days."""
    return np.asarray(seconds) / 86_400.0


def draw_latency(axes: Axes, panel: Panel, style: Style) -> None:
    """Samples, window medians with their interval, baseline and slow spans, on a log scale."""
    axes.set_yscale("log")
    for span in panel.spans:
        axes.axvspan(
            days(span.start_ns / 1e9), days(span.end_ns / 1e9), color=style.slow, alpha=0.13, lw=0
        )
    _draw_samples(axes, panel, style)
    windows = panel.windows
    starts, ends = days(windows.start_s), days(windows.end_s)
    edges = np.column_stack([starts, ends]).ravel()

    def steps(values: Any) -> Any:
        return np.repeat(values, 2)

    lower, upper = steps(windows.lower_s), steps(windows.upper_s)
    axes.fill_between(edges, lower, upper, color=style.median, alpha=0.22, lw=0)
    axes.plot(edges, steps(windows.median_s), color=style.median, lw=1.5, solid_capstyle="butt")
    axes.plot(edges, steps(windows.baseline_s), color=style.usual, lw=1.3, ls=(0, (5, 2)))
    _latency_axis(axes, panel, style)


def _draw_samples(axes: Axes, panel: Panel, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    if panel.cells is not None:
        counts = panel.cells.counts.astype(float)
        shades = LinearSegmentedColormap.from_list("count", [style.grid, style.sample])
        axes.pcolormesh(
            days(panel.cells.time_edges_s),
            panel.cells.latency_edges_s,
            np.where(counts > 0, counts, np.nan),
            cmap=shades,
            norm=LogNorm(0.5, max(2.0, float(counts.max()))),
            rasterized=True,
            lw=0,
        )
    points = panel.points
    low, high = _extent(panel)
    heights = np.clip(points.latency_s, low * 1.06, high / 1.06)
    ok = points.kind == "ok"
    alpha = 0.75 if np.count_nonzero(ok) < 2000 else 0.35
    axes.scatter(
        days(points.time_s[ok]),
        heights[ok],
        s=4,
        lw=0,
        color=style.sample,
        alpha=alpha,
        rasterized=True,
    )
    for kind, mark in MARKS.items():
        some = points.kind == kind
        if some.any():
            colour = style.skipped if kind == "skipped" else style.failed
            axes.scatter(
                days(points.time_s[some]),
                heights[some],
                s=16,
                lw=1,
                marker=mark,
                color=colour,
            )


def _latency_axis(axes: Axes, panel: Panel, style: Style) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    low, high = _extent(panel)
    axes.set_ylim(low, high)
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    each = (1,) if high / low > 300 else (1, 2, 5) if high / low < 30 else (1, 3)
    axes.yaxis.set_major_locator(FixedLocator([m * 10.0**d for d in decades for m in each]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", which="minor", left=False)
    axes.tick_params(axis="y", colors=style.faint, labelsize=8, length=0)
    axes.grid(True, axis="y", color=style.grid, lw=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    about = "   ".join(_about(panel))
    above: dict[str, Any] = {"va": "bottom", "transform": axes.transAxes}
    axes.text(0, 1.04, panel.title, ha="left", color=style.ink, fontsize=11, weight="bold", **above)
    axes.text(1, 1.04, about, ha="right", color=style.faint, fontsize=8.5, **above)


def _extent(panel: Panel) -> tuple[float, float]:
    """All that is drawn, with a little air, at least a factor of four; failures do not count.

    (An operation that fails at once has a latency that says nothing; it is drawn at the edge.)
    """
    points = panel.points.latency_s[panel.points.kind != "failed"]
    parts = [points, panel.windows.median_s, panel.windows.baseline_s]
    if panel.cells is not None:
        parts.append(panel.cells.latency_edges_s)
    values = np.concatenate(parts)
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) == 0:
        return 1e-4, 1e-1
    low, high = float(values.min()), float(values.max())
    widen = max(1.25, 2 / np.sqrt(high / low))
    return low / widen, high * widen


def _short(seconds: float) -> str:
    """``1 ms``, ``300 us``."""
    text = format_duration(seconds * 1e9)
    number, _, unit = text.partition(" ")
    return f"{float(number):g} {unit}" if number.replace(".", "").isdigit() else text


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
