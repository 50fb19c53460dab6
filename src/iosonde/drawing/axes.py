"""Axes of time and of logarithmic values in matplotlib, the same in every picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from iosonde.drawing.style import Style
from iosonde.drawing.time_ticks import time_ticks
from iosonde.model.units import format_duration

if TYPE_CHECKING:
    from datetime import tzinfo

    from matplotlib.axes import Axes

_CHARACTER = 0.0083
"""Width of a character / (points of its size), inches, on average, generously."""


_PARTS_BELOW_S = 2.0
"""Shorter axes have parts of seconds, without the hour."""


def days(seconds: Any) -> Any:
    """Seconds since the epoch -> matplotlib's days."""
    return np.asarray(seconds) / 86_400.0


def text_width(text: str, points: float) -> float:
    """About how wide a text is, inches."""
    return len(text) * points * _CHARACTER


def time_axis(
    axes: Axes, style: Style, zone: tzinfo | None, *, labelled: bool, most: int = 9
) -> None:
    """At most ``most`` dates or times below the axes (limits set), in ``zone`` (None: the system's)."""
    from matplotlib import dates
    from matplotlib.ticker import FixedLocator

    make: Any = dates  # the module has no types
    if zone is None:
        from datetime import datetime

        zone = datetime.now().astimezone().tzinfo
    first, last = axes.get_xlim()
    locator = FixedLocator(list(days(time_ticks(first * 86_400, last * 86_400, zone, most))))
    axes.xaxis.set_major_locator(locator)
    concise = make.ConciseDateFormatter(locator, tz=zone)
    if (last - first) * 86_400 >= _PARTS_BELOW_S:
        concise.formats[5] = concise.zero_formats[5] = "%H:%M:%S"  # a bare 45 says nothing
    axes.xaxis.set_major_formatter(concise)
    axes.tick_params(
        axis="x",
        colors=style.faint,
        labelsize=8,
        length=3 if labelled else 0,
        labelbottom=labelled,
        color=style.faint,
    )
    axes.xaxis.get_offset_text().set_color(style.faint)
    axes.xaxis.get_offset_text().set_visible(labelled)
    axes.xaxis.get_offset_text().set_fontsize(8)


def value_axis(
    axes: Axes,
    low: float,
    high: float,
    style: Style,
    *,
    unit: str = "s",
    along: Literal["x", "y"] = "y",
) -> None:
    """A logarithmic axis from ``low`` to ``high`` with round labels that do not touch each other."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis = axes.yaxis if along == "y" else axes.xaxis
    getattr(axes, f"set_{along}scale")("log")
    getattr(axes, f"set_{along}lim")(low, high)
    size = axes.get_position().bounds[3 if along == "y" else 2] * _inches(axes, along)
    room = max(2, int(size / (0.3 if along == "y" else 0.62)))
    axis.set_major_locator(FixedLocator(ticks(low, high, room)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value, unit)))
    axis.set_minor_locator(NullLocator())
    axes.tick_params(axis=along, colors=style.faint, labelsize=8, length=0)
    axes.grid(True, axis=along, color=style.grid, lw=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


def _inches(axes: Axes, along: str) -> float:
    canvas: Any = axes.figure
    width, height = canvas.get_size_inches()
    return float(height if along == "y" else width)


def ticks(low: float, high: float, room: int) -> list[float]:
    """At most ``room`` round values in [low, high]: 1-2-5, 1-3, decades, or every few decades."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for each in ((1, 2, 5), (1, 3), (1,)):
        places = [m * 10.0**d for d in decades for m in each]
        inside = [place for place in places if low <= place <= high]
        if len(inside) <= room:
            return inside if len(inside) >= 2 else places[:1] + inside
    step = -(-len(inside) // room)
    return [10.0**d for d in decades if d % step == 0 and low <= 10.0**d <= high]


def widened(low: float, high: float) -> tuple[float, float]:
    """A little air on both sides, and at least a factor of four in all."""
    widen = max(1.25, 2 / np.sqrt(high / low))
    return low / widen, high * widen


def short(value: float, unit: str = "s") -> str:
    """``1 ms``, ``300 us``; with the unit ``x``: ``0.5x``, ``10x``; with ``%`` a share in percent."""
    if unit == "x":
        return (f"{value:g}x" if value < 1e4 else f"{value:,.0f}x").replace(",", "\u2009")
    if unit == "/s":
        return f"{value:,g}/s" if value < 1e4 else f"{_large(value)}/s"
    if unit == "%":
        return f"{100 * value:g}%"
    if unit == "ticks":
        return f"{value:,g}"
    return _time(value)


def _large(value: float) -> str:
    """``10,000``, ``2M``; only beyond that an exponent."""
    if value < 1e6:
        return f"{value:,.0f}"
    return f"{value / 1e6:,g}M" if value < 1e12 else f"{value:.0e}"


def _time(value: float) -> str:
    text = format_duration(value * 1e9)
    number, _, word = text.partition(" ")
    return f"{float(number):g} {word}" if number.replace(".", "").isdigit() else text
