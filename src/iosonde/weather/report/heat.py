"""Heat maps of a report as HTML tables: a missing cell is hatched, never pale."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.html_text import escape
from iosonde.drawing.style import RAMP_AT
from iosonde.model.ops import op_word
from iosonde.model.units import format_factor

if TYPE_CHECKING:
    from iosonde.weather.report.heats import Heat

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SPOKEN_FROM = 1.5
"""Slowdown from which on a cell shows its number."""


def heat_table(heat: Heat) -> str:
    """Table of one op: a row per day (or ten minutes), a column per hour."""
    hours = "".join(f"<th scope=col>{hour if hour % 3 == 0 else ''}</th>" for hour in range(24))
    rows = "".join(_row(heat, place) for place in range(len(heat.rows)))
    return (
        f'<table class="heat"><caption>{escape(op_word(heat.op))}</caption>'
        f"<thead><tr><td></td>{hours}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(heat: Heat, place: int) -> str:
    name = _row_name(heat.by, heat.rows[place])
    cells = "".join(
        _cell(heat, name, (place, hour), float(value))
        for hour, value in enumerate(heat.value[place])
    )
    return f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>"


def _cell(heat: Heat, row: str, place: tuple[int, int], value: float) -> str:
    hour, windows = place[1], int(heat.windows[place])
    when = f"{hour:02}:{int(row[1:]):02}" if heat.by == "minute" else f"{row} {hour:02}:00"
    if np.isnan(value):
        why = "no data"
        if heat.busy[place]:
            why = "the probing host explains it"
        elif heat.learning[place]:
            why = "still learning the baseline"
        return f'<td class="na" title="{escape(when, quote=True)}: {why}"></td>'
    level = level_of(value)
    factor = format_factor(value)
    counted = "1 window" if windows == 1 else f"{windows} windows"
    title = escape(f"{when}: {factor}x, {counted} of 10 min", quote=True)
    text = f"<span>{factor}</span>" if value >= _SPOKEN_FROM else ""
    return f'<td class="h{level}" title="{title}">{text}</td>'


def level_of(slowdown: float) -> int:
    """Colour index of a slowdown: the last ramp step that it reaches."""
    return max(0, int(np.searchsorted(RAMP_AT, slowdown, side="right")) - 1)


def _row_name(by: str, row: str) -> str:
    if by == "minute":
        return f":{int(row):02}"
    if by == "weekday":
        return _WEEKDAYS[int(row)]
    day = date.fromisoformat(row)
    return f"{_WEEKDAYS[day.weekday()]} {day:%m-%d}"


def heat_legend() -> str:
    """Legend of the colours."""
    steps = [
        f"under {RAMP_AT[1]:g}x",
        *(f"{at:g}x" for at in RAMP_AT[1:-1]),
        f"{RAMP_AT[-1]:g}x and more",
    ]
    signs = "".join(f'<span><i class="h{n}"></i>{text}</span>' for n, text in enumerate(steps))
    return f'<p class="key">{signs}<span><i class="na"></i>no data, still learning, or host busy</span></p>'
