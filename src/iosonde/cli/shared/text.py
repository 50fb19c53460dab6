"""Plain tables for terminals and pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from iosonde.cli.shared.terminal import one_line

LEAST_COLUMNS = 40
"""Narrower terminals wrap once more."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns as wide as they must be; the first ``left`` aligned left, the others right.

    Control characters of cells are shown, not sent: names are whatever a path or a file says.
    """
    rows = [[one_line(text) for text in row] for row in rows]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def columns() -> int:
    """How wide the terminal is (a pipe, unless COLUMNS says otherwise: 100)."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return 100
    import shutil

    return shutil.get_terminal_size((80, 24)).columns


def wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """Lines no wider than the terminal; ``first`` stands before the first one, ``rest`` (None: as wide) before others.

    What has no blank is not cut: a path or an id can be copied.
    """
    import textwrap

    width = max(LEAST_COLUMNS, columns())
    rest = " " * len(first) if rest is None else rest
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [first.rstrip()]


def count(n: int) -> str:
    """``10 800``."""
    return f"{n:,}".replace(",", " ")
