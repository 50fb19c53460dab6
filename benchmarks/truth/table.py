"""Tables of rows: measured, wanted, what others make of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.truth.target import Row

_HEAD = ("", "what", "measured", "target", "prototype", "plain way", "met")


def lines(rows: Iterable[Row]) -> list[str]:
    """The table as text: one line a row, but rows with a column as one line a ``what``."""
    rows = list(rows)
    text: list[str] = []
    plain = [row for row in rows if not row.column]
    if plain:
        text += _aligned([_HEAD, *(_cells(row) for row in plain)])
    for target in dict.fromkeys(row.target for row in rows if row.column):
        cells = [row for row in rows if row.column and row.target == target]
        text += ["", *_wide(cells)] if text else _wide(cells)
    return text


def _wide(rows: Sequence[Row]) -> list[str]:
    """One line a ``what``, one column a ``column``; a number that misses its target has a ``!``."""
    columns = list(dict.fromkeys(row.column for row in rows))
    targets = {row.column: _aimed(row) for row in rows}
    if by_line := len({(row.column, _aimed(row)) for row in rows}) > len(columns):
        told = [[rows[0].target, *columns, "target", "met"]]
    else:
        told = [[rows[0].target, *columns, "met"], ["", *(targets[name] for name in columns), ""]]
    for what in dict.fromkeys(row.what for row in rows):
        mine = {row.column: row for row in rows if row.what == what}
        wrong = any(_aimed(row) != "-" and not row.met for row in mine.values())
        cells = [_noted(mine[name]) if name in mine else "" for name in columns]
        aim = [_aimed(next(iter(mine.values())))] if by_line else []
        told.append([what, *cells, *aim, "NO" if wrong else "yes"])
    if not by_line and all(aim == "-" for aim in targets.values()):
        told = [cells[:-1] for cells in told[:1] + told[2:]]
    return _aligned(told)


def _noted(row: Row) -> str:
    missed = " !" if _aimed(row) != "-" and not row.met else ""
    return f"{_number(row.measured)}{missed}" + (f" ({row.note})" if row.note else "")


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(cell, widths, strict=True)).rstrip()
        for cell in cells
    ]


def _aimed(row: Row) -> str:
    return "-" if row.low == 0 and row.high == float("inf") else row.wanted()


def _cells(row: Row) -> tuple[str, ...]:
    aimed = _aimed(row)
    met = "-" if aimed == "-" else ("yes" if row.met else "NO")
    return (row.target, row.what, _number(row.measured), aimed, row.prototype, row.seed, met)


def _number(value: float) -> str:
    if value == float("inf"):
        return "none"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
