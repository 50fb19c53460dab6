"""Tables of mmperfmon too wide for a line: columns in blocks, each below its own title.

::

    Row           Timestamp gpfs_fs_read_ops gpfs_fs_read_ops
      1 2019-01-08-13:00:00                0             1144

    Row           Timestamp gpfs_fs_write_ops
      1 2019-01-08-13:00:00               718
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from iosonde.connectors.lines import shown


class TableRow(NamedTuple):
    """A row of one block."""

    block: int
    end_ns: int
    values: list[float]
    """From the legend's first column on: NaN for columns of other blocks."""


class ColumnBlocks:
    """Columns of the legend in the rows below a title."""

    def __init__(self) -> None:
        self.first = 0
        """The first column's place in the legend."""
        self.behind = 0
        """The place behind the last column; 0 before a title."""
        self.number = 0
        """How many titles there were."""

    @property
    def width(self) -> int:
        """Number of columns; 0 without a title."""
        return self.behind - self.first

    def title(self, names: Sequence[str], legend: Sequence[str]) -> None:
        """Parse a title: the legend's next names, or its first ones again. Raises ValueError for other names."""
        self.number += 1
        for first in (self.behind, 0):
            if names and list(legend[first : first + len(names)]) == list(names):
                self.first, self.behind = first, first + len(names)
                return
        if self.behind == 0 and len(names) == len(legend):  # names may be shortened
            self.behind = len(names)
            return
        self.first = self.behind = len(legend)
        raise ValueError(f"the title {shown(' '.join(names))} is not the legend's next columns")


def merged(rows: Sequence[TableRow]) -> tuple[list[tuple[int, list[float]]], bool]:
    """Merge rows of equal time, the first value of each column; True if a block was out of order."""
    found: dict[int, list[float]] = {}
    last: dict[int, int] = {}
    disordered = False
    for row in rows:
        disordered |= last.get(row.block, row.end_ns) > row.end_ns
        last[row.block] = row.end_ns
        known = found.setdefault(row.end_ns, row.values)
        if known is not row.values:
            for place, value in enumerate(row.values):
                if place >= len(known):
                    known.append(value)
                elif known[place] != known[place]:
                    known[place] = value
    return sorted(found.items()), disordered
