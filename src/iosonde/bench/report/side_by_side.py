"""The comparison table of runs, as wide as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.runs.compare import RunSummary, comparison_table
from iosonde.bench.runs.words import say_comparison
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_duration, format_time

WIDE = 140
"""Columns of a page that says no width."""
_LEAST_NAME = 14
_GONE_FIRST = ("backend", "I", "P", "what", "D", "target", "N", "balance", "max", "when")
"""Columns that go, in this order, where there is no room."""
_ONE_KIND = ("write_bytes_per_s", "read_bytes_per_s", "creates_per_s")
"""Columns of one benchmark, which go where no run has them."""


@dataclass
class _Column:
    name: str
    head: str
    cells: list[str]
    left: bool = False

    @property
    def wide(self) -> int:
        return max(len(text) for text in (self.head, *self.cells))


def comparison(rows: Sequence[RunSummary], now_ns: int | None = None, columns: int = WIDE) -> str:
    """The paper's comparison table with what it means below. ``columns``: how wide it may be."""
    room = max(60, columns)
    names, values = comparison_table(rows)
    digits = 3 if room >= 120 else 2
    shown: dict[str, tuple[str, Callable[[Any], str]]] = {
        "run": ("run", str),
        "when": ("when", lambda ns: when_words(ns, now_ns)),
        **{name: (name, str) for name in ("target", "backend", "what")},
        **{name: (name, _number) for name in ("N", "D", "I", "P")},
        "T": ("T", lambda t: f"{t:g}"),
        "write_bytes_per_s": ("write", format_bandwidth),
        "read_bytes_per_s": ("read", format_bandwidth),
        "creates_per_s": ("creates/s", rate_words),
        "balance": ("balance", lambda b: "n/a" if b is None else f"{b:.1%}"),
        "max_ns": ("max", lambda ns: time_words(ns, digits)),
    }
    every = []
    for place, name in enumerate(names):
        head, form = shown.get(
            name, (name.removesuffix("_q75_ns"), lambda ns: time_words(ns, digits))
        )
        cells = [clean_text(form(row[place])) for row in values]
        left = name in ("run", "when", "target", "backend", "what")
        every.append(_Column(name, head, cells, left))
    notes = _fitted(every, room, len(rows))
    return "\n".join([*_lines(every), "", *notes, *say_comparison(rows)])


def _fitted(every: list[_Column], room: int, n: int) -> list[str]:
    """Remove what does not fit: values equal in all rows move below the table, then names shrink, then columns go."""
    notes = []
    if all(cell == "0" for cell in _of(every, "T").cells):
        every.remove(_of(every, "T"))
    for name in _ONE_KIND:
        if all(cell == "n/a" for cell in _of(every, name).cells):
            every.remove(_of(every, name))
    for name in ("backend", "target", "what", "N", "D", "I", "P", "when"):
        column = _of(every, name)
        same = n > 1 and len(set(column.cells)) == 1
        unknown = all(cell == "n/a" for cell in column.cells)
        if unknown or (same and _wide(every) > room):
            every.remove(column)
            notes += [] if unknown else [f"{name} {column.cells[0]}"]
    quartiles = [column for column in every if column.name.endswith("_q75_ns")]
    if all(cell == "n/a" for column in quartiles for cell in column.cells):
        every[:] = [column for column in every if column not in quartiles]
    for name in ("target", "run"):
        _shorten(every, name, room, 24)
    for name in _GONE_FIRST:
        if _wide(every) > room and any(column.name == name for column in every):
            _shorten(every, "run", room, _LEAST_NAME)
            _shorten(every, "target", room, _LEAST_NAME)
            if _wide(every) > room:
                every.remove(_of(every, name))
    run = _of(every, "run")
    _shorten(every, "run", room, 8)
    run.cells = [_cut(cell, max(8, run.wide - max(0, _wide(every) - room))) for cell in run.cells]
    return ["all: " + ", ".join(notes)] if notes else []


def _of(every: list[_Column], name: str) -> _Column:
    return next(column for column in every if column.name == name)


def _shorten(every: list[_Column], name: str, room: int, least: int) -> None:
    """Leave the middles of names out, as far as is needed and allowed; different names stay different."""
    column = next((one for one in every if one.name == name), None)
    over = _wide(every) - room
    if column is None or over <= 0:
        return
    for most in range(max(least, column.wide - over), column.wide):
        cut = [_cut(cell, most) for cell in column.cells]
        if len(set(cut)) == len(set(column.cells)):
            column.cells = cut
            return


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def _wide(every: list[_Column]) -> int:
    return sum(column.wide for column in every) + 2 * (len(every) - 1)


def _lines(every: list[_Column]) -> list[str]:
    """The table; above the four quartiles stands what they are."""
    quartiles = [column for column in every if column.name.endswith("_q75_ns")]
    before = sum(column.wide + 2 for column in every if column not in quartiles)
    span = sum(column.wide for column in quartiles) + 2 * (len(quartiles) - 1)
    title = " " * before + " q75 of ".center(span, "-")
    lines = [title.rstrip()] if quartiles else []
    for cells in zip(*([c.head, *c.cells] for c in every), strict=True):
        padded = (
            text.ljust(column.wide) if column.left else text.rjust(column.wide)
            for text, column in zip(cells, every, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return lines


def _number(value: int | None) -> str:
    """``10k`` for 10 000, as the paper writes it."""
    if value is None:
        return "n/a"
    if value >= 1_000_000 and value % 1_000_000 == 0:
        return f"{value // 1_000_000}M"
    return f"{value // 1000}k" if value >= 1000 and value % 1000 == 0 else str(value)


def when_words(ns: int | None, now_ns: int | None) -> str:
    """A date, as seen from ``now_ns`` (None: with its year)."""
    return "n/a" if ns is None else format_time(ns, ns - 10**15 if now_ns is None else now_ns)


def rate_words(value: float | None) -> str:
    """Operations a second: three digits, or whole ones."""
    if value is None:
        return "n/a"
    if value >= 1e7:
        return f"{value / 1e6:.0f}M" if value < 1e12 else f"{value:.1e}"
    return f"{value:.3g}" if value < 100 else format_count(round(value))


def time_words(ns: float | None, digits: int) -> str:
    """``634 us``, with two digits ``630 us``; ``n/a``."""
    if ns is None:
        return "n/a"
    if ns >= 100e9:
        return f"{ns / 1e9:.0f} s" if ns < 1e14 else f"{ns / 1e9:.0e} s"
    text = format_duration(float(f"{ns:.{digits}g}"))
    number, space, unit = text.partition(" ")
    if digits == 2 and "." in number:
        number = f"{float(number):.1f}" if float(number) < 9.95 else f"{float(number):.0f}"
    return number + space + unit
