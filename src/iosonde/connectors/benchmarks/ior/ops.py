"""IOR's operation files (``savePerOpDataCSV``): ``PREFIX-<repetition>-<rank %05d>.csv``, one per rank.

``time,runtime,tp``: seconds since the phase began, seconds it took, bytes a second. The read phase of a run opens the
same file anew: after a run that writes and reads, only its reads are left. A file does not say which of both it holds;
the text of its run does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.benchmarks.ior.found import IorRun, Turn
from iosonde.connectors.benchmarks.ior.phase_data import OpTimes, RankTimes, Result
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.lines import MOST_S, NUMBER, Warn, bad, read_lines, shown
from iosonde.model.errors import InputFileError

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

HEADER = "time,runtime,tp"
UNKNOWN = "transfer"
"""Phase of operations that may be writes or reads."""
_NAME = re.compile(r"(.+)-(\d{1,6})-(\d{5,8})(?:\.[\w-]+)*?\.csv(?:\.(?:gz|xz|bz2))?", re.ASCII)
_ROW = re.compile(rf"({NUMBER}),({NUMBER}),(-?inf|-?nan|{NUMBER})", re.ASCII)
_MOST_REPETITION = 1_000_000
_DIGITS = 2e-6
"""``tp`` has 7 digits: the relative error of bytes derived from it."""


class IorOpFile(NamedTuple):
    """Parts of a file's name."""

    prefix: str
    repetition: int
    rank: int


def parse_name(name: str) -> IorOpFile | None:
    """Parse the name of a file; None for other names."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[2]) > _MOST_REPETITION:
        return None
    return IorOpFile(match[1], int(match[2]), int(match[3]))


def read_ops(path: Path, rank: int, warn: Warn) -> OpTimes | None:
    """Operations of a file, in its order; None without any. Malformed rows are reported. Raises InputFileError."""
    rows: list[tuple[int, int, float]] = []
    try:
        for line in read_lines(path, warn):
            text = line.text.strip()
            if line.number == 1 or not text:
                if line.number == 1 and text != HEADER:
                    raise bad(path, 1, f"the first line is {shown(line.text)}", repr(HEADER))
                continue
            match = _ROW.fullmatch(text) if line.ended else None
            if match is None or not float(match[1]) <= MOST_S >= float(match[2]):
                warn(bad(path, line.number, f"the row is {shown(text)}", f"{HEADER} in seconds"))
                continue
            began, took, per_s = (float(value) for value in match.groups())
            rows.append((round(began * 1e9), round(took * 1e9), took * per_s))
    except InputFileError as error:
        if not rows:
            raise
        warn(error)
    if not rows:
        return None
    whose = np.full(len(rows), rank, dtype=np.int64)
    begins, runtimes = (np.array([row[n] for row in rows], dtype=np.int64) for n in (0, 1))
    return OpTimes(whose, begins, runtimes, _bytes(np.array([row[2] for row in rows])))


def _bytes(moved: Floats) -> Ints:
    """Bytes of operations: one common size if the digits allow it, else individual ones; 0 is unknown."""
    known = np.isfinite(moved) & (moved > 0) & (moved < 2.0**62)
    if not known.any():
        return np.zeros(len(moved), dtype=np.int64)
    middle = float(np.median(moved[known]))
    if (np.abs(moved[known] / middle - 1) < _DIGITS).all():
        for step in (4096, 512, 8, 1):
            size = round(middle / step) * step
            if size and abs(size / middle - 1) < _DIGITS:
                return np.full(len(moved), size, dtype=np.int64)
    return np.where(known, np.rint(np.where(known, moved, 0)), 0).astype(np.int64)


def joined(parts: Sequence[OpTimes]) -> OpTimes:
    """Concatenate operations of several ranks."""
    columns = [[part.rank for part in parts], [part.begin_ns for part in parts]]
    columns += [[part.runtime_ns for part in parts], [part.bytes for part in parts]]
    return OpTimes(*(np.concatenate(column) for column in columns))


def times_of(ops: OpTimes) -> RankTimes:
    """First start to last end of each rank's operations."""
    ranks = np.unique(ops.rank)
    ends = ops.begin_ns + ops.runtime_ns
    spans = [
        (ends[own].max() - ops.begin_ns[own].min()) / 1e9 for own in (ops.rank == r for r in ranks)
    ]
    return RankTimes(ranks, np.full(len(ranks), np.nan), np.array(spans))


def alone(run_id: str, found: dict[int, OpTimes]) -> IorRun:
    """Operations by repetition without their run's text: writes or reads is unknown."""
    run = IorRun(run_id, Setup())
    run.setup.put("ranks", max(len(np.unique(ops.rank)) for ops in found.values()))
    for repetition, ops in sorted(found.items()):
        turn: Turn = (UNKNOWN, repetition)
        run.ops[turn], run.times[turn] = ops, times_of(ops)
        span = float((ops.begin_ns + ops.runtime_ns).max()) / 1e9
        moved = int(ops.bytes.sum()) or None
        result = Result(UNKNOWN, repetition, total_s=span, transfer_s=span, bytes=moved)
        result.exact = True
        run.results.append(result)
    run.remarks.append("operations may be writes or reads: import the text of their run with them")
    return run
