"""A strip of colour below a pane in matplotlib: pale = as usual, dark red = 16x and more, grey = not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.axes import days
from iosonde.drawing.marks import Strip
from iosonde.drawing.style import DARK, RAMP_AT, Style
from iosonde.model.units import format_factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_strip(axes: Axes, strip: Strip, style: Style) -> None:
    """A coloured cell per interval, within the axes' limits."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list(
        "slowdown", list(zip(np.log2(RAMP_AT) / 4, style.ramp, strict=True))
    )
    level = np.log2(np.clip(strip.value, 1, 16)) / 4
    faces: list[Any] = [style.unknown if np.isnan(at) else ramp(at) for at in level]
    starts, ends = days(strip.start_s), days(strip.end_s)
    boxes = [[(a, 0), (b, 0), (b, 1), (a, 1)] for a, b in zip(starts, ends, strict=True)]
    axes.add_collection(PolyCollection(boxes, facecolors=faces, edgecolors="none", rasterized=True))
    axes.set_facecolor(style.ground)
    axes.set_ylim(0, 1)
    axes.tick_params(axis="y", left=False, labelleft=False)
    for side in axes.spines.values():
        side.set_visible(False)
    look: dict[str, Any] = {"ha": "right", "va": "center", "color": style.faint, "fontsize": 8}
    axes.text(-0.008, 0.5, strip.name, transform=axes.transAxes, **look)
    _label_stretches(axes, strip, style)


def _label_stretches(axes: Axes, strip: Strip, style: Style) -> None:
    """Write the factor inside each span that is wide enough."""
    low, high = axes.get_xlim()
    for start_s, end_s, factor in strip.stretches:
        begin, end = max(low, float(days(start_s))), min(high, float(days(end_s)))
        if (end - begin) / (high - low) < 0.03:
            continue
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "weight": "bold"}
        look["color"] = "#ffffff" if factor >= 5.5 or style is DARK else style.ink
        axes.text((begin + end) / 2, 0.47, f"{format_factor(factor)}x", **look)
