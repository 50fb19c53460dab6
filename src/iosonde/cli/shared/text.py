"""Plain tables for terminals and pipes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from iosonde.cli.shared.fitting import LEAST_COLUMNS, columns
from iosonde.cli.shared.terminal import one_line


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int = 1,
    worth: Sequence[str] = (),
) -> str:
    """Columns as wide as needed; the first ``left`` aligned left, the others right.

    On a terminal no wider than it: sentences are wrapped, columns go, those of ``worth`` first (``fitting``). Control
    characters of cells are shown, not sent: names are whatever a path or a file says.
    """
    rows = [[one_line(text) for text in row] for row in rows]
    every: Sequence[Sequence[str]] = (head, *rows)
    hidden: Sequence[str] = ()
    widths = [max(len(row[i]) for row in every) for i in range(len(head))]
    if sys.stdout.isatty() and sum(widths) + 2 * (len(widths) - 1) > (width := columns()):
        from iosonde.cli.shared.fitting import fitted_columns

        every, hidden = fitted_columns(head, rows, left, width, worth)
        left = sum(name not in hidden for name in head[:left])
        widths = [max(len(row[i]) for row in every) for i in range(len(every[0]))]
    lines = []
    for row in every:
        cells = [
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    if hidden:
        lines.append(f"not shown for want of room: {', '.join(hidden)}")
    return "\n".join(lines)


def wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """Wrap to the terminal's width; ``first`` precedes the first line, ``rest`` (None: as wide) the others.

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


def print_lines(sentence: str, details: Sequence[str]) -> None:
    """Print a sentence and its details, wrapped to the terminal."""
    print("\n".join(wrapped(one_line(sentence))))
    for line in details:
        print("\n".join(wrapped(one_line(line), "  - ", "    ")))
