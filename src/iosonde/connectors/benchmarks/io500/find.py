"""IO500's table of a find phase (pfind): ``runtime: S rate: N``, then a row a rank."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lines import NUMBER, Warn, bad, read_lines, shown

BEGIN = re.compile(rf"runtime: ({NUMBER}) rate: ({NUMBER})\s*")
_ROW = re.compile(r"\s*(\d{1,8})((?:,\s*\d{1,18}){5})(?:,.*)?", re.ASCII)


class FindRank(NamedTuple):
    """Result of one rank."""

    rank: int
    errors: int
    unknown: int
    found: int
    total: int
    checked: int


class FindTable(NamedTuple):
    """Result of all ranks."""

    seconds: float
    per_s: float
    ranks: tuple[FindRank, ...]


def read_find(path: Path, warn: Warn) -> FindTable:
    """Read a table. Malformed rows are reported. Raises InputFileError."""
    head: re.Match[str] | None = None
    ranks = []
    for line in read_lines(path, warn):
        if line.number == 1:
            head = BEGIN.fullmatch(line.text)
            if head is None:
                raise bad(path, 1, f"the first line is {shown(line.text)}", "'runtime: S rate: N'")
        elif line.text.strip() and not line.text.startswith("rank,"):
            match = _ROW.fullmatch(line.text)
            if match is None:
                warn(bad(path, line.number, f"the row is {shown(line.text)}", "a row of a rank"))
                continue
            counts = [int(text) for text in match[2].split(",")[1:]]
            ranks.append(FindRank(int(match[1]), *counts))
    if head is None:
        raise bad(path, 1, "the first line is missing", "'runtime: S rate: N'")
    return FindTable(float(head[1]), float(head[2]), tuple(ranks))
