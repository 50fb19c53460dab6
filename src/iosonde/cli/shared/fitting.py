"""Fitting of lines and tables to the terminal: words stay whole, the least important columns go first."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

LEAST_COLUMNS = 40
"""Least width in columns; narrower terminals wrap again."""
PROSE = 24
"""Least width of a column of sentences, besides its longest word."""
_HANGING = 28
"""Longest label for a hanging indent."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LABEL = re.compile(r"\s*\S+(?: \S+)?(?: {2,}|: )")
_GAP = 2

Row = Sequence[str]


def columns(pipe: int = 100) -> int:
    """Width of the terminal; a pipe has ``pipe`` columns, unless COLUMNS says otherwise."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return pipe
    import shutil

    return shutil.get_terminal_size((80, 24)).columns


def visible(text: str) -> int:
    """Width of a text without its colours."""
    return len(_COLOUR.sub("", text))


def fitted_text(text: str, width: int) -> str:
    """Wrap each line behind its indent or label; text without blanks is not cut."""
    if "\r" in text or "\x1b[K" in text:
        return text
    return "\n".join(_fitted_line(line, width) for line in text.split("\n"))


def _fitted_line(line: str, width: int) -> str:
    if visible(line) <= width:
        return line
    label = _LABEL.match(_COLOUR.sub("", line))
    indent = len(line) - len(line.lstrip(" "))
    hang = len(label[0]) if label and len(label[0]) <= _HANGING else indent
    lines = [" " * indent]
    used, begun = indent, False
    for word in re.findall(r" +|[^ ]+", line[indent:]):
        if word.isspace():
            gap = word
            continue
        space = gap if begun else ""
        if begun and used + len(space) + visible(word) > width:
            lines.append(" " * hang)
            used, space = hang, ""
        lines[-1] += space + word
        used += len(space) + visible(word)
        begun, gap = True, ""
    return "\n".join(lines)


def fitted_columns(
    head: Row, rows: Sequence[Row], left: int, width: int, worth: Sequence[str] = ()
) -> tuple[list[Row], list[str]]:
    """Lines of cells (the head's first) that fit ``width``, and the heads of dropped columns.

    The widest column of sentences among the first ``left`` is wrapped at words; then columns go: those that ``worth``
    names, in its order, then numbers from the right. The first column and one more stay.
    """
    lines: list[Row] = [tuple(head), *(tuple(row) for row in rows)]
    kept = list(range(len(head)))
    hidden: list[str] = []
    prose = _prose(lines, left)
    least = {i: _least(lines, i) for i in prose}

    def total() -> int:
        return sum(least.get(i, _natural(lines, i)) for i in kept) + _GAP * (len(kept) - 1)

    order = [head.index(name) for name in worth if name in head]
    order += [i for i in range(len(head) - 1, left - 1, -1) if i not in order]
    for column in order:
        if total() <= width or len(kept) <= max(2, min(left, 2)):
            break
        kept.remove(column)
        hidden.insert(0, head[column])
    lines = [tuple(line[i] for i in kept) for line in lines]
    return _wrapped(lines, [kept.index(i) for i in prose if i in kept], width), hidden


def _natural(lines: Sequence[Row], column: int) -> int:
    return max(len(line[column]) for line in lines)


def _least(lines: Sequence[Row], column: int) -> int:
    words = (len(word) for line in lines for word in line[column].split() or [""])
    return min(_natural(lines, column), max(PROSE, *words))


def _prose(lines: Sequence[Row], left: int) -> list[int]:
    """Columns of sentences, the widest first."""
    found = [
        i
        for i in range(1, left)
        if _natural(lines, i) > PROSE and any(line[i].count(" ") > 1 for line in lines[1:])
    ]
    return sorted(found, key=lambda i: -_natural(lines, i))


def _wrapped(lines: Sequence[Row], prose: Sequence[int], width: int) -> list[Row]:
    import textwrap

    widths = [_natural(lines, i) for i in range(len(lines[0]))]
    for column in prose:
        too_wide = sum(widths) + _GAP * (len(widths) - 1) - width
        if too_wide > 0:
            widths[column] = max(_least(lines, column), widths[column] - too_wide)
    done: list[Row] = []
    for line in lines:
        parts = [
            textwrap.wrap(cell, widths[i], break_long_words=False, break_on_hyphens=False) or [""]
            if i in prose
            else [cell]
            for i, cell in enumerate(line)
        ]
        for number in range(max(map(len, parts))):
            done.append(tuple(part[number] if number < len(part) else "" for part in parts))
    return done
