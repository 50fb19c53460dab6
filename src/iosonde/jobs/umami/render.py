"""Draws an UMAMI diagram with matplotlib: rows without gaps, runs and boxes 4 to 1, one time axis.

Where there is room a row's words stand left of it; on narrow pictures above it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.drawing.axes import days, text_width, time_axis
from iosonde.drawing.canvas import new_canvas, possible_width, write
from iosonde.drawing.legend_words import wrapped
from iosonde.drawing.style import DARK, LIGHT, Style
from iosonde.jobs.umami.figure import UmamiFigure, UmamiRow
from iosonde.jobs.umami.marks import draw_box, draw_runs
from iosonde.jobs.umami.style import ink_on, role_colour

if TYPE_CHECKING:
    from datetime import tzinfo

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BESIDE_FROM_IN = 5.2
"""Least width of pictures with words beside the rows."""
_MARGIN_IN, _TICKS_IN, _WORDS_IN = 0.12, 0.42, 1.3
_SHARES = (0.8, 0.2)
"""Shares of the width: runs, box."""
_LABEL, _LINE_IN = 8.5, 0.145


class _Plan(NamedTuple):
    """Inches. ``row``: height of axes; ``gap``: above each, for its words."""

    width: float
    height: float
    left: float
    row: float
    gap: float
    top: float
    foot: float
    beside: bool


def save_umami(
    figure: UmamiFigure,
    path: Path,
    *,
    width_in: float = 8.0,
    dark: bool = False,
    zone: tzinfo | None = None,
) -> None:
    """Write the picture: PNG, SVG or PDF by the name's ending; equal data give equal bytes.

    Raises StoreError (cannot be written), MissingPartError (no matplotlib), UsageError (width).
    """
    write(draw_umami(figure, width_in=width_in, dark=dark, zone=zone), path)


def draw_umami(
    figure: UmamiFigure, *, width_in: float = 8.0, dark: bool = False, zone: tzinfo | None = None
) -> Figure:
    """The matplotlib figure. Raises UsageError for a width that nothing fits in."""
    possible_width(width_in)
    style = DARK if dark else LIGHT
    plan = _plan(figure, width_in)
    canvas = new_canvas(plan.width, plan.height, style)
    _words(canvas, figure, plan, style)
    inner = plan.width - plan.left - 0.15
    for number, row in enumerate(figure.rows):
        bottom = plan.height - plan.top - (number + 1) * (plan.row + plan.gap)
        place = plan.left
        panes = []
        for share in _SHARES:
            box = (place / plan.width, bottom / plan.height, inner * share / plan.width)
            panes.append(canvas.add_axes((*box, plan.row / plan.height)))
            place += inner * share
        runs, history = panes
        for axes in panes:
            _frame(axes, row, style)
        runs.set_xlim(*days((figure.since_s, figure.until_s)))
        lowest = number == len(figure.rows) - 1
        most = max(2, int(inner * _SHARES[0] / 0.75))
        time_axis(runs, style, zone, labelled=lowest and figure.dated, most=min(8, most))
        history.tick_params(bottom=False, labelbottom=False, labelleft=False)
        draw_runs(runs, figure, row, dark=dark)
        draw_box(history, row, style, dark=dark)
        _row_words(canvas, row, plan, bottom, style, dark=dark)
    return canvas


def _plan(figure: UmamiFigure, width: float) -> _Plan:
    beside = width >= _BESIDE_FROM_IN
    left = _TICKS_IN + _MARGIN_IN + (_WORDS_IN if beside else 0.0)
    n = len(figure.rows)
    row = (1.05 if n <= 6 else 0.92) if beside else 0.72
    gap = 0.0 if beside else 0.36
    title = len(wrapped(figure.title, 12, width - 2 * _MARGIN_IN))
    caption = _caption(figure, width)
    told, under = len(_sentence(figure, width)), len(_subtitle(figure, width))
    top = 0.16 + 0.2 * title + 0.17 * told + 0.155 * under + (0.14 if told else 0.09)
    foot = (0.5 if n else 0.12) + 0.13 * len(caption)
    return _Plan(width, top + n * (row + gap) + foot, left, row, gap, top, foot, beside)


def _sentence(figure: UmamiFigure, width: float) -> list[str]:
    return wrapped(figure.sentence, 9.5, width - 2 * _MARGIN_IN)


def _subtitle(figure: UmamiFigure, width: float) -> list[str]:
    return wrapped(figure.subtitle, 8.5, width - 2 * _MARGIN_IN)


def _caption(figure: UmamiFigure, width: float) -> list[str]:
    room = width - 2 * _MARGIN_IN
    first, *others = figure.caption
    texts = (f"star, dashed line: the job; {first}", *others)
    return [line for text in texts for line in wrapped(text, 7.2, room)]


def _words(canvas: Figure, figure: UmamiFigure, plan: _Plan, style: Style) -> None:
    """Title, description of the history, and caption."""
    lines = wrapped(figure.title, 12, plan.width - 2 * _MARGIN_IN)
    left = _MARGIN_IN / plan.width
    plain: dict[str, Any] = {"parse_math": False, "linespacing": 1.25}
    head: dict[str, Any] = {"color": style.ink, "fontsize": 12, "fontweight": "bold", **plain}
    canvas.text(left, 1 - 0.1 / plan.height, "\n".join(lines), va="top", **head)
    faint: dict[str, Any] = {"color": style.faint, **plain}
    below = 1 - (0.13 + 0.2 * len(lines)) / plan.height
    sentence = _sentence(figure, plan.width)
    below -= 0.05 / plan.height if sentence else 0.0
    told: dict[str, Any] = {"color": style.ink, "fontsize": 9.5, "va": "top", **plain}
    canvas.text(left, below, "\n".join(sentence), **told)
    below -= 0.17 * len(sentence) / plan.height
    subtitle = "\n".join(_subtitle(figure, plan.width))
    canvas.text(left, below, subtitle, va="top", fontsize=8.5, **faint)
    caption = "\n".join(_caption(figure, plan.width))
    canvas.text(left, 0.08 / plan.height, caption, va="bottom", fontsize=7.2, **faint)


def _frame(axes: Axes, row: UmamiRow, style: Style) -> None:
    axes.set_facecolor(style.ground)
    axes.set_ylim(row.low, row.high)
    axes.set_yticks(row.ticks, labels=row.tick_texts)
    axes.tick_params(axis="y", colors=style.faint, labelsize=7.5, length=0, pad=3)
    axes.grid(True, axis="y", color=style.grid, lw=0.7)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_color(style.grid)
        side.set_linewidth(1.0)


def _row_words(
    canvas: Figure, row: UmamiRow, plan: _Plan, bottom: float, style: Style, *, dark: bool
) -> None:
    """The label with its unit, the value and the class of a row: beside it or above it."""
    value = row.value_text + ("\u2009*" if row.flags else "")
    named = f"{row.sign} {row.role}"
    badge = _badge(row.role, style, dark=dark)
    put: dict[str, Any] = {"parse_math": False, "fontsize": _LABEL, "va": "center"}
    ink: dict[str, Any] = {**put, "color": style.ink}
    left = _MARGIN_IN / plan.width
    if plan.beside:
        lines = [*row.lines, value, named]
        step = min(_LINE_IN + 0.015, plan.row / (len(lines) + 0.4))
        top = bottom + plan.row / 2 + step * (len(lines) - 1) / 2
        for number, text in enumerate(lines[:-1]):
            weight = "bold" if number == len(row.lines) else "normal"
            canvas.text(left, (top - number * step) / plan.height, text, weight=weight, **ink)
        low = top - (len(lines) - 1) * step - 0.02
        canvas.text(left + 0.04 / plan.width, low / plan.height, named, **{**put, **badge})
        return
    y = (bottom + plan.row + 0.14) / plan.height
    right = plan.width - 0.2
    canvas.text(right / plan.width, y, named, ha="right", **{**put, **badge})
    right -= text_width(named, 8.2) + 0.12
    canvas.text(right / plan.width, y, value, ha="right", weight="bold", **ink)
    most = int((right - text_width(value, _LABEL) - 0.3) / text_width("x", 7.6))
    label = row.label if len(row.label) <= most else row.label[: max(3, most - 1)] + "…"
    canvas.text(left, y, label, **ink)


def _badge(role: str, style: Style, *, dark: bool) -> dict[str, Any]:
    """Style of a class's word: filled with its colour if it judges, else framed."""
    colour = role_colour(role, dark=dark)
    judged = role in ("bad", "poor", "ok", "good")
    face = colour if judged else style.ground
    box = {"boxstyle": "round,pad=0.22", "fc": face, "ec": colour, "lw": 0.8}
    return {"color": ink_on(colour) if judged else style.faint, "bbox": box, "fontsize": 7.5}
