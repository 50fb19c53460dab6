"""A sheet: small multiples as data. One renderer draws all kinds of sheets.

::

    title                                   columns: places (target, host) or views (10 min, 4 h)
    +-- pane --+ +-- pane --+               rows:    operations
    | marks    | | marks    |               panes of one row share their value axis if their unit is the same
    +----------+ +----------+
    caption: how much was drawn, and how
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from iosonde.drawing.marks import (
    Bars,
    Cells,
    Curve,
    Dots,
    Level,
    LevelLine,
    Mark,
    NumberDots,
    NumberLine,
    Points,
    RatioMarks,
    Ruler,
    Shade,
    StepMarks,
    Strip,
)
from iosonde.model.frames import SeriesKey
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_option

_MARKS: dict[type, str] = {
    Points: "points",
    Cells: "cells",
    StepMarks: "steps",
    Strip: "strip",
    Bars: "bars",
    Shade: "shade",
    Level: "level",
    RatioMarks: "shifts",
    Curve: "curve",
    Dots: "dots",
    LevelLine: "levelline",
    NumberDots: "numberdots",
    NumberLine: "numberline",
    Ruler: "ruler",
}
"""Names of marks in JSON."""
SECONDS, RATIO, PER_S, BYTES_PER_S, SHARE, TICKS = "s", "x", "/s", "B/s", "%", "ticks"
"""Units of a pane's values."""
NOTHING_KNOWN = "no data"


@dataclass(frozen=True)
class Pane:
    """A small plot. ``n`` operations (or intervals) are in its marks; ``note`` is extra information.

    ``span_s``: its own range of time (s since the epoch), where the sheet's is not that of all panes. ``empty``: what
    stands in it while ``n`` is 0. ``across``: what its horizontal axis counts, where that has numbers; values then
    begin at 0.
    """

    row: str
    column: str
    unit: str
    marks: tuple[Mark, ...]
    n: int
    note: str = ""
    span_s: tuple[float, float] | None = None
    empty: str = NOTHING_KNOWN
    across: str = ""


@dataclass(frozen=True)
class Sheet:
    """All panes, row by row. ``since_s`` and ``until_s`` (s since the epoch) are None without a time axis.

    ``stack``: so many panes in a row of ``panes`` stand below each other and stay together.
    ``levels``: names along the horizontal axis, where it has no time; ``levels_of`` says what they are.
    """

    kind: str
    title: str
    columns: tuple[str, ...]
    panes: tuple[Pane, ...]
    since_s: float | None
    until_s: float | None
    caption: tuple[str, ...]
    stack: int = 1
    levels: tuple[str, ...] = ()
    levels_of: str = ""


def places(keys: Iterable[SeriesKey]) -> dict[SeriesKey, str]:
    """Label of each series: its target, and host or period if needed to tell series apart."""
    every = list(keys)
    hosts = {key.host for key in every}
    periods = {
        (key.host, key.target): {k.period_ns for k in every if k[:2] == key[:2]} for key in every
    }
    names = {}
    for key in every:
        name = key.target + (f" from {key.host}" if len(hosts) > 1 else "")
        if len(periods[key.host, key.target]) > 1:
            name += f", every {format_option(key.period_ns)}"
        names[key] = clean_text(name)
    return names


def seen_from(keys: Iterable[SeriesKey]) -> str:
    """``/work, /home as seen from login2``; without a host the targets alone."""
    every = list(keys)
    targets = list(dict.fromkeys(key.target for key in every))
    hosts = list(dict.fromkeys(key.host for key in every))
    shown = ", ".join(targets[:4]) + (f" and {len(targets) - 4} more" if len(targets) > 4 else "")
    if not any(hosts):
        return clean_text(shown)
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    return clean_text(f"{shown} as seen from {where}")


def drawn_caption(panes: Iterable[Pane], silent: int) -> str:
    """Caption with the numbers of operations drawn singly, counted on a grid, and without a height."""
    single = counted = 0
    for pane in panes:
        grid = sum(int(mark.counts.sum()) for mark in pane.marks if isinstance(mark, Cells))
        points = [mark for mark in pane.marks if isinstance(mark, Points)]
        if grid:
            counted += pane.n
        else:
            single += sum(len(mark) for mark in points)
    text = f"{format_count(single)} operations drawn one by one"
    if counted:
        text = f"{format_count(counted - silent)} operations counted on a grid, none left out"
        text += f"; {format_count(single)} drawn one by one" if single else ""
    if silent:
        text += f"; {format_count(silent)} had not ended and have no height"
    return text


def plain(value: Any) -> Any:
    """A sheet (or a part of it) as plain data for JSON: NaN becomes None, marks get their type's name."""
    if is_dataclass(value) and not isinstance(value, type):
        body = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        name = _MARKS.get(type(value))
        return {"mark": name, **body} if name else body
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            return [
                None if bad else v
                for v, bad in zip(value.tolist(), ~np.isfinite(value), strict=True)
            ]
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value
