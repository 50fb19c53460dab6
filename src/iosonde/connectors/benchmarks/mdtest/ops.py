"""Latency files of mdtest (--savePerOpDataCSV): one row per operation, one file per op and rank.

``PREFIX-File creation-00000.csv`` (the name has a blank; ``_`` in its place is as good) with the columns
``time,runtime,tp``: seconds since the phase began, seconds it took, bytes a second. IOR writes the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.connectors.lines import MOST_S, NUMBER, bad, read_lines, shown
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame

HEADER = "time,runtime,tp"
PHASES = ("create", "stat", "read", "delete")
OPS = ("md_create", "md_stat", "md_read", "md_delete")
CHUNK_ROWS = 1 << 16
_WORDS = {"creation": 0, "stat": 1, "read": 2, "removal": 3}
_NAME = re.compile(
    r"(.+)-File[ _](creation|stat|read|removal)-(\d{1,8})(?:\.[A-Za-z0-9]+)*?\.csv(?:\.gz)?"
)
_ROW = re.compile(rf"({NUMBER}),({NUMBER}),(inf|-?nan|{NUMBER})", re.ASCII)


class OpFile(NamedTuple):
    """Parts of a file's name; ``place`` is the index in ``OPS`` and ``PHASES``."""

    prefix: str
    place: int
    rank: int


def parse_name(name: str) -> OpFile | None:
    """Parse the name of a file; None for other names."""
    match = _NAME.fullmatch(name)
    return None if match is None else OpFile(match[1], _WORDS[match[2]], int(match[3]))


def read_ops(path: Path) -> Iterator[Frame]:
    """Rows of a file in its order: ``time_ns`` since the phase began and ``runtime_ns``, int64.

    Raises InputFileError at the first row that is none, after those before it were given out.
    """
    rows: list[tuple[int, int]] = []
    try:
        for line in read_lines(path, _raise):
            if line.number == 1:
                _check(path, line.text)
            elif line.text.strip():
                match = _ROW.fullmatch(line.text.strip())
                if match is None or not float(match[1]) <= MOST_S >= float(match[2]):
                    what = f"the row is {shown(line.text)}"
                    raise bad(path, line.number, what, f"{HEADER} in seconds")
                rows.append((round(float(match[1]) * 1e9), round(float(match[2]) * 1e9)))
            if len(rows) >= CHUNK_ROWS:
                yield _chunk(rows)
                rows = []
    except InputFileError:
        if rows:
            yield _chunk(rows)
        raise
    if rows:
        yield _chunk(rows)


def _check(path: Path, text: str) -> None:
    if text.strip() != HEADER:
        raise bad(path, 1, f"the first line is {shown(text)}", f"{HEADER!r}")
    if parse_name(path.name) is None:
        raise bad(
            path,
            1,
            "the file name does not say which operation this is",
            "a name such as 'PREFIX-File creation-00000.csv' of mdtest",
        )


def _raise(error: InputFileError) -> None:
    raise error


def _chunk(rows: list[tuple[int, int]]) -> Frame:
    table = np.array(rows, dtype=np.int64)
    return Frame(
        {
            "time_ns": np.ascontiguousarray(table[:, 0]),
            "runtime_ns": np.ascontiguousarray(table[:, 1]),
        }
    )
