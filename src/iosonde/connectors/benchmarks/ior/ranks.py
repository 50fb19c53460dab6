"""IOR's table of ranks (``saveRankPerformanceDetailsCSV``).

``access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput``. The throughputs are those of the
mean rank's bytes: under a time limit without wear-out no rank's own bytes are in the file. With ``-R`` (and so in every
IO500 read) a check makes all ranks end together: their times are equal, and say nothing of single ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from iosonde.connectors.benchmarks.ior.found import IorRun, Turn
from iosonde.connectors.benchmarks.ior.phase_data import RankTimes, Result
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.lines import (
    MOST_S,
    NUMBER,
    FileDefaults,
    Line,
    Warn,
    bad,
    read_lines,
    shown,
)

HEADER = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
_VALUE = rf"({NUMBER}|-?nan|-?inf)"
_ROW = re.compile(rf"(write|read),(\d{{1,8}}),{_VALUE},{_VALUE},{_VALUE},{_VALUE}", re.ASCII)
_MOST_RANK = 10_000_000


def read_ranks(path: Path, warn: Warn) -> dict[Turn, RankTimes]:
    """Times of ranks by access and repetition. Malformed rows are reported. Raises InputFileError."""
    found: dict[Turn, dict[int, tuple[float, float, float]]] = {}
    turns: dict[tuple[str, int], int] = {}
    for line in read_lines(path, warn):
        if line.number == 1 or not line.text.strip():
            if line.number == 1 and line.text.strip() != HEADER:
                raise bad(path, 1, f"the first line is {shown(line.text)}", repr(HEADER))
            continue
        row = _row(path, line, warn)
        if row is None:
            continue
        access, rank, values = row
        repetition = turns.get((access, rank), 0)
        turns[access, rank] = repetition + 1
        found.setdefault((access, repetition), {})[rank] = values
    return {turn: _times(ranks) for turn, ranks in found.items()}


def _row(path: Path, line: Line, warn: Warn) -> tuple[str, int, tuple[float, float, float]] | None:
    """Access, rank, and its two times and bytes; NaN for malformed numbers."""
    match = _ROW.fullmatch(line.text.strip())
    if match is None or int(match[2]) > _MOST_RANK or not line.ended:
        warn(bad(path, line.number, f"the row is {shown(line.text)}", HEADER))
        return None
    whole, own, _, per_s = (float(text) for text in match.groups()[2:])
    times = [value if 0 <= value <= MOST_S else np.nan for value in (whole, own)]
    moved = per_s * times[1]
    return match[1], int(match[2]), (*times, moved if moved < 2**63 else np.nan)  # type: ignore[return-value]


def _times(ranks: dict[int, tuple[float, float, float]]) -> RankTimes:
    order = sorted(ranks)
    values = np.array([ranks[rank] for rank in order])
    moved = values[:, 2][np.isfinite(values[:, 2])]
    mean = float(np.median(moved)) if len(moved) else None
    return RankTimes(np.array(order, np.int64), values[:, 0], values[:, 1], mean_bytes=mean)


def read_table(
    path: Path, given: FileDefaults, warn: Warn, command: str | None = None
) -> Iterator[IorRun]:
    """Read a table without the text of its run: bytes per rank are the mean, and not in rows of ranks.

    ``command``: the command line, where another file has it; it says whether ranks moved as much.
    """
    tables = read_ranks(path, warn)
    if not tables:
        return
    run = IorRun(given.run, Setup(), times=tables)
    if command is not None:
        run.setup.command(command)
    run.setup.put("ranks", max(len(times.rank) for times in tables.values()))
    for turn, times in tables.items():
        moved = None if times.mean_bytes is None else round(times.mean_bytes * len(times.rank))
        longest = [
            float(np.nanmax(column)) if np.isfinite(column).any() else None
            for column in (times.whole_s, times.transfer_s)
        ]
        result = Result(*turn, total_s=longest[0], transfer_s=longest[1], bytes=moved, exact=True)
        result.alike = None if command is not None else False
        run.results.append(result)
    yield run
