"""The UMAMI diagram for a terminal: one line per metric.

::

    mean MDS CPU      ▁▂▁▁▂▁▁▁█  ├─[▒▒┃▒▒]──┤          ◆     11.5%   --  bad   highest of 30
    label             runs         box of the others, ◆ the job  value   class  where it stands
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iosonde.drawing.sparkline import ASCII, BLOCKS
from iosonde.jobs.umami.figure import FLAT, UmamiFigure, UmamiRow
from iosonde.jobs.umami.quartile import Standing
from iosonde.jobs.umami.style import ANSI

LEAST_COLUMNS, MOST_COLUMNS = 72, 200
"""Narrower terminals wrap; longer lines would be hard to follow."""


class _Signs(NamedTuple):
    """Characters of a line."""

    blocks: str
    gap: str
    left: str
    right: str
    whisker: str
    box: str
    middle: str
    outlier: str
    job: str


_UNICODE = _Signs(BLOCKS, "·", "├", "┤", "─", "▒", "┃", "∘", "◆")
_PLAIN = _Signs(ASCII, " ", "|", "|", "-", "=", "I", "o", "X")


class _Widths(NamedTuple):
    label: int
    runs: int
    box: int
    value: int
    named: int
    rank: int


def umami_text(
    figure: UmamiFigure, columns: int, *, coloured: bool = False, ascii_only: bool = False
) -> list[str]:
    """The lines of a diagram in ``columns`` characters.

    The class is a word and a sign; with ``coloured`` it has its colour as well. Of more runs than there is
    room for, the latest ones are shown (those around the job, if it is not among them).
    """
    signs = _PLAIN if ascii_only else _UNICODE
    widths = _widths(figure, columns)
    shown = _shown(figure, widths.runs)
    lines = [figure.title, figure.subtitle + _left_out(figure, shown)]
    drawing = _Drawing(figure, shown, widths, signs, coloured)
    lines += [*(_line(row, drawing) for row in figure.rows), ""]
    text = _clean(lines, ascii_only)
    caption = [f"{signs.job} the job; {figure.caption[0]}", *figure.caption[1:]]
    return [*text, *_clean(_wrapped(caption, columns), ascii_only)]


def _clean(lines: Sequence[str], ascii_only: bool) -> list[str]:
    if not ascii_only:
        return [line.rstrip() for line in lines]
    return [line.replace("…", "~").encode("ascii", "replace").decode().rstrip() for line in lines]


def _wrapped(texts: Sequence[str], columns: int) -> list[str]:
    import textwrap

    room = max(LEAST_COLUMNS, min(columns, 100))
    return [line for text in texts for line in textwrap.wrap(text, room, subsequent_indent="  ")]


def _widths(figure: UmamiFigure, columns: int) -> _Widths:
    columns = max(LEAST_COLUMNS, min(columns, MOST_COLUMNS))
    longest = max((len(row.value_text) + bool(row.flags) for row in figure.rows), default=0)
    value = min(13, longest)
    label = max((_wide(row.label) for row in figure.rows), default=0)
    named = max((len(row.role) for row in figure.rows), default=4) + 3
    rank = max((len(row.rank) for row in figure.rows), default=0) if columns >= 110 else 0
    marks = 2 if _within(figure) else 0
    left = columns - value - named - rank - marks - 2 * 4 - (2 if rank else 0)
    label = max(12, min(label, left // 2))
    left -= label
    runs = max(6, min(len(figure.times_s), left // 2))
    return _Widths(label, runs, max(8, min(48, left - runs)), value, named, rank)


def _within(figure: UmamiFigure) -> bool:
    """True if there are later runs than the job, which then stands in brackets among them."""
    return figure.place < len(figure.times_s) - 1


def _shown(figure: UmamiFigure, room: int) -> slice:
    n = len(figure.times_s)
    if n <= room or figure.place >= n - room:
        return slice(max(0, n - room), n)
    first = max(0, figure.place - room // 2)
    return slice(first, first + room)


def _left_out(figure: UmamiFigure, shown: slice) -> str:
    n = len(figure.times_s)
    seen = shown.stop - shown.start
    return "" if seen == n else f" (line: {seen} of {n} runs; box: all)"


class _Drawing(NamedTuple):
    figure: UmamiFigure
    shown: slice
    widths: _Widths
    signs: _Signs
    coloured: bool


def _line(row: UmamiRow, drawing: _Drawing) -> str:
    figure, shown, widths, signs, coloured = drawing
    code = ANSI[Standing(row.role)]

    def paint(text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if coloured and text.strip() else text

    runs = _runs(row, shown, signs)
    place = figure.place - shown.start
    mine = f"[{runs[place]}]" if _within(figure) else runs[place]
    runs = runs[:place] + paint(mine) + runs[place + 1 :]
    runs += " " * (widths.runs - (shown.stop - shown.start))
    box = "".join(paint(c) if c == signs.job else c for c in _box(row, widths.box, signs))
    value = (row.value_text + ("*" if row.flags else "")).rjust(widths.value)
    named = f"{row.sign:<2} {row.role}"
    named = paint(named) + " " * (widths.named - len(named))
    parts = [_fitted(row.label, widths.label), runs, box, value, named]
    if widths.rank:
        parts.append(row.rank)
    return "  ".join(parts)


def _runs(row: UmamiRow, shown: slice, signs: _Signs) -> str:
    """A block per run, from the lowest to the highest of all runs; a dot for missing values."""
    values = row.values
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    flat = not high - low > FLAT * max(abs(low), abs(high))
    text = ""
    for value in values[shown].tolist():
        if not np.isfinite(value):
            text += signs.gap
        else:
            text += signs.blocks[3 if flat else min(7, int(8 * (value - low) / (high - low)))]
    return text


def _box(row: UmamiRow, width: int, signs: _Signs) -> str:
    """Whiskers, quartiles, median, outliers and the job along a row of characters."""
    cells = [" "] * width
    span = row.high - row.low

    def at(value: float) -> int:
        return min(width - 1, max(0, int(width * (value - row.low) / span)))

    box = row.box
    for value in row.outliers.tolist():
        cells[at(value)] = signs.outlier
    if box is not None:
        for place in range(at(box.low), at(box.high) + 1):
            cells[place] = signs.whisker
        cells[at(box.low)], cells[at(box.high)] = signs.left, signs.right
        for place in range(at(box.q25), at(box.q75) + 1):
            cells[place] = signs.box
        cells[at(box.q50)] = signs.middle
    if row.value is not None:
        cells[at(row.value)] = signs.job
    return "".join(cells)


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _fitted(text: str, width: int) -> str:
    """The text cut or padded to ``width`` columns."""
    if _wide(text) > width:
        while text and _wide(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - _wide(text))
