"""Advice on malformed numbers and times: likely cause, expected form, hint."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from iosonde.connectors.lines import shown

ISO = "ISO 8601, e.g. 2026-03-26T07:00:00+01:00, or seconds since the epoch"
_LONGEST = 64
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[. ]\d{3})+)?,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_POINTS = "an export with decimal points and nothing between thousands (LC_ALL=C)"


class CellAdvice(NamedTuple):
    """``looks``: likely cause, "" if unknown; ``expected`` and ``hint`` as of an error."""

    looks: str
    expected: str
    hint: str = ""


def about_number(cell: str) -> CellAdvice:
    """Advice on a malformed number."""
    text = cell.strip()[:_LONGEST]
    comma, thousands = (bool(p.fullmatch(text)) for p in (_DECIMAL_COMMA, _THOUSANDS))
    if comma and thousands:
        looks = "it looks like decimal commas, or commas between thousands"
        return CellAdvice(looks, "numbers such as 1234.5", _POINTS)
    if comma:
        return CellAdvice("it looks like decimal commas", "numbers such as 3.14", _POINTS)
    if thousands:
        return CellAdvice(
            "it looks like commas between thousands", "numbers such as 1234.5", _POINTS
        )
    if re.match(r"[+-]?\d+(?:\.\d*)? ?[A-Za-z%/]", text):
        looks = "it looks like numbers with their unit"
        return CellAdvice(looks, "numbers alone", 'the unit in the mapping: unit = "MiB/s"')
    return CellAdvice("", "numbers, and empty cells where one is missing", "another column")


def told_number(line: int, cell: str) -> str:
    """``line 2: '3,14': it looks like decimal commas``, for messages about a column."""
    looks = about_number(cell).looks
    return f"line {line}: {shown(cell)}" + (f": {looks}" if looks else "")


def about_time(cell: str, *, text: bool) -> CellAdvice:
    """Advice on a malformed start time; ``text``: the mapping declares a clock time."""
    possible = CellAdvice("", "a time from 1990 to 2100")
    stripped = cell.strip()[:_LONGEST]
    if not stripped:
        return possible
    if _is_float(stripped):
        return CellAdvice("", ISO, 'unit = "s" in the mapping') if text else possible
    try:
        datetime.fromisoformat(stripped)
    except ValueError:
        return CellAdvice("", ISO)
    return possible if text else CellAdvice("", "a number", 'unit = "text" in the mapping')


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
