"""mdtest's table of ranks (--saveRankPerformanceDetails) as rows of runs.

``rank,items,rate-File creation,time-File creation,...``: a row ``all``, then one a rank; the next ``all`` begins the
next iteration. Empty cells were not measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from iosonde.connectors.benchmarks.mdtest.text import SOURCE, phase_of
from iosonde.connectors.lines import NUMBER, FileDefaults, Warn, bad, possible, read_lines, shown
from iosonde.model.runs import RunRow

BEGIN = "rank,items,rate-"
_COLUMN = re.compile(r"(rate|time)-(File|Directory|Tree) (creation|stat|read|removal|rename)")
_CELL = re.compile(NUMBER, re.ASCII)
_MOST_RANKS = 10_000_000


def read_ranks(path: Path, given: FileDefaults, warn: Warn) -> Iterator[RunRow]:
    """Rows of a file, an iteration at a time. Malformed rows are reported. Raises InputFileError."""
    columns: list[tuple[str, str, str]] = []
    iteration, rows = -1, list[RunRow]()
    for line in read_lines(path, warn):
        cells = line.text.strip().split(",")
        if line.number == 1:
            columns = _columns(path, line.text)
            continue
        if not line.text.strip():
            continue
        if not line.ended:
            warn(bad(path, line.number, "the file ends within the row", "an end of line"))
            continue
        if cells[0] == "all":
            yield from _whole(rows)
            iteration, rows = iteration + 1, []
        try:
            found = _row(cells, columns, given, max(0, iteration))
            rows += possible(found, path, line.number, warn)
        except ValueError as error:
            warn(bad(path, line.number, str(error), "a row of the table of ranks"))
    yield from _whole(rows)


def _columns(path: Path, text: str) -> list[tuple[str, str, str]]:
    names = text.strip().split(",")
    matches = [_COLUMN.fullmatch(name) for name in names[2:]]
    if names[:2] != ["rank", "items"] or not matches or not all(matches):
        raise bad(path, 1, f"the first line is {shown(text)}", BEGIN + "File creation,...")
    return [(match[1], match[2], match[3]) for match in matches if match]


def _row(
    cells: list[str], columns: list[tuple[str, str, str]], given: FileDefaults, iteration: int
) -> list[RunRow]:
    """Parse a row of the file: phases of all ranks, or of one."""
    if not 2 < len(cells) <= len(columns) + 2:
        raise ValueError(f"there are {len(cells)} cells, not {len(columns) + 2}")
    # Ranks say nothing of trees, and have no empty cells for that.
    cells = [*cells, *[""] * (len(columns) + 2 - len(cells))]
    rank = None
    if cells[0] != "all":
        if not re.fullmatch(r"\d{1,8}", cells[0], re.ASCII) or int(cells[0]) > _MOST_RANKS:
            raise ValueError(f"the rank is {shown(cells[0])}")
        rank = int(cells[0])
    found: dict[tuple[str, str], dict[str, float]] = {}
    for (what, kind, verb), cell in zip(columns, cells[2:], strict=True):
        if cell:
            if not _CELL.fullmatch(cell) or float(cell) > 1e15:
                raise ValueError(f"the {what} is {shown(cell)}")
            found.setdefault((kind, verb), {})[what] = float(cell)
    return [
        row
        for (kind, verb), values in found.items()
        for row in _phase(phase_of(kind, verb), values, given, iteration, rank)
    ]


def _phase(
    named: tuple[str, str | None],
    values: dict[str, float],
    given: FileDefaults,
    iteration: int,
    rank: int | None,
) -> list[RunRow]:
    rate, seconds = values.get("rate"), values.get("time")
    known = rate is not None and seconds is not None and rate * seconds < 2**53
    common: dict[str, Any] = {
        "run_id": given.run,
        "source": SOURCE,
        "host": given.host,
        "target": given.target or given.run,
        "backend": "unknown",
        "pattern": "bulk",
        "phase": named[0],
        "repetition": iteration,
        "rank": rank,
        "ranks": None,
        "began_ns": given.started_ns if rank is None else None,
        "duration_ns": None if seconds is None or seconds > 1e9 else round(seconds * 1e9),
        "ops": round((rate or 0) * (seconds or 0)) if known else None,
        "rate_per_s": rate,
    }
    whole = RunRow(**common)
    return [whole] if named[1] is None else [whole, RunRow(**common, op=named[1])]


def _whole(rows: list[RunRow]) -> Iterator[RunRow]:
    """An iteration's rows, completed by the number of ranks and their balance."""
    ranks = len({row.rank for row in rows if row.rank is not None}) or None
    times: dict[str, list[int]] = {}
    for row in rows:
        if row.rank is not None and row.op is None and row.duration_ns:
            times.setdefault(row.phase, []).append(row.duration_ns)
    for row in rows:
        own = times.get(row.phase)
        fair = min(own) / max(own) if own and row.rank is None and row.op is None else None
        yield replace(row, ranks=ranks, balance=fair)
