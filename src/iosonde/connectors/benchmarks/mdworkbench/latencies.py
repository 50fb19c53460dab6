"""Latency files of md-workbench: one row per operation, as text or gzip.

::

    stand-alone 2019, IOR tree   PREFIX-<T>-<iteration>-<op>[-all].csv      time,runtime
    2017                         PREFIX-<iteration>-<op>[-<rank>].csv       time,runtime
    gathered                     any name                                   op,iter,rank,time_s,runtime_s

``time`` counts from the phase's barrier, ``runtime`` is what the operation took, both in seconds. T is the
waiting factor. Without ``-all`` a stand-alone file holds rank 0; with it all ranks follow each other and a new
one begins where time falls back by more than ``_BACK_S`` (the clock of the IOR tree itself runs back by less).
The files are foreign input: a row that is none raises InputFileError with file, line and what was expected,
after the rows before it were given out. Nothing is read whole: memory does not grow with the file.
Formats: md-workbench 0a26b06 (2019), its 2017 predecessor md-real-io, hpc/ior 4.1.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

import numpy as np

from iosonde.connectors.compressed import bounded
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.model.text import clean_text

OPS: dict[str, str] = {
    "precreate": "md_create",
    "create": "md_create",
    "stat": "md_stat",
    "read": "md_read",
    "delete": "md_delete",
    "cleanup": "md_delete",
}
"""Operation in the file -> op; precreate and cleanup are phases of their own."""
PHASES = ("benchmark", "precreate", "cleanup")
CHUNK_ROWS = 1 << 16
_LINE_BYTES = 256
_MOST_S = 1e7
_MOST_RANK, _MOST_ITERATION = 10_000_000, 1_000_000
_BACK_S = 0.001
_NUMBER = re.compile(rb"\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?")
_COUNT = re.compile(rb"\d{1,8}")
_OP = "|".join(OPS)
_ENDING = r"(?:\.[A-Za-z0-9]+)*?\.csv(?:\.gz)?"
_WAITING = re.compile(rf"(.+)-(\d+\.\d+)-(\d{{1,6}})-({_OP})(-all)?{_ENDING}")
_PLAIN = re.compile(rf"(.+)-(\d{{1,6}})-({_OP})(?:-(\d{{1,8}}))?{_ENDING}")
_SHORT_HEADER, _LONG_HEADER = b"time,runtime", b"op,iter,rank,time_s,runtime_s"


_Row = tuple[int, int, int, int, int, int]
"""op, phase, iteration, rank, time_ns, runtime_ns"""


class _Lines(Protocol):
    def readline(self, size: int, /) -> bytes: ...


class FileName(NamedTuple):
    """Parts of a file's name."""

    prefix: str
    waiting: str | None
    iteration: int
    op: str
    rank: int
    all_ranks: bool


def parse_name(name: str) -> FileName | None:
    """Parse the name of a ``time,runtime`` file; None for other names."""
    if match := _WAITING.fullmatch(name):
        return FileName(match[1], match[2], int(match[3]), match[4], 0, bool(match[5]))
    if match := _PLAIN.fullmatch(name):
        return FileName(match[1], None, int(match[2]), match[3], int(match[4] or 0), False)
    return None


def run_name(path: Path) -> str:
    """Name of a file's run: the prefix of its name, or the name without its endings."""
    named = parse_name(path.name)
    if named is None:
        return re.sub(_ENDING + "$", "", path.name)
    return named.prefix if named.waiting is None else f"{named.prefix}-{named.waiting}"


def read_latencies(path: Path) -> Iterator[Frame]:
    """Rows of a file, at most ``CHUNK_ROWS`` at a time, in its order.

    Columns: ``op`` (place in ``OPS``, uint8), ``phase`` (place in ``PHASES``, uint8), ``iteration`` and ``rank``
    (int32), ``time_ns`` since the phase began and ``runtime_ns`` (int64). Raises InputFileError.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if packed:
                with bounded(cast("IO[bytes]", gzip.open(raw)), path) as file:
                    yield from _Reader(path, file).chunks()
            else:
                yield from _Reader(path, raw).chunks()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error


class _Reader:
    """Reader for one file."""

    def __init__(self, path: Path, file: _Lines) -> None:
        self._path, self._file = path, file
        self._number = 0
        self._rows: list[_Row] = []
        self._name: FileName | None = None
        self._rank = 0
        self._last_s = 0.0

    def chunks(self) -> Iterator[Frame]:
        try:
            parse = self._header()
            while (line := self._line()) is not None:
                if line:
                    self._rows.append(parse(line))
                    if len(self._rows) >= CHUNK_ROWS:
                        yield self._chunk()
        except InputFileError:
            if self._rows:
                yield self._chunk()
            raise
        if self._rows:
            yield self._chunk()

    def _header(self) -> Callable[[bytes], _Row]:
        line = self._line()
        if line == _LONG_HEADER:
            return self._long_row
        self._name = parse_name(self._path.name)
        if line == _SHORT_HEADER and self._name is not None:
            self._rank = self._name.rank
            return self._short_row
        if line == _SHORT_HEADER:
            raise self._bad(
                "the file name does not say which operation this is",
                "a name such as PREFIX-0.00-0-create.csv or PREFIX-0-create-3.csv",
            )
        both = f"{_SHORT_HEADER.decode()!r} or {_LONG_HEADER.decode()!r}"
        raise self._bad(
            f"the first line is {_shown(line)}", f"{both}: a latency file of md-workbench"
        )

    def _line(self) -> bytes | None:
        """The next line without its end; None after the last."""
        self._number += 1
        try:
            line = self._file.readline(_LINE_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._bad(
                f"the gzip data end or break here ({error})", "a whole gzip file"
            ) from error
        if len(line) > _LINE_BYTES:
            raise self._bad("the line is too long", f"at most {_LINE_BYTES} bytes")
        return line.strip() if line else None

    def _short_row(self, line: bytes) -> _Row:
        name = self._name
        assert name is not None
        fields = line.split(b",")
        if len(fields) != 2:
            raise self._bad(f"the row is {_shown(line)}", "time,runtime in seconds")
        time_s, runtime_s = self._seconds(fields[0], "time"), self._seconds(fields[1], "runtime")
        if name.all_ranks and time_s < self._last_s - max(_BACK_S, 1e-6 * self._last_s):
            self._rank += 1
        self._last_s = time_s
        return _row(name.op, name.iteration, self._rank, time_s, runtime_s)

    def _long_row(self, line: bytes) -> _Row:
        fields = line.split(b",")
        if len(fields) != 5:
            raise self._bad(f"the row is {_shown(line)}", _LONG_HEADER.decode())
        op = fields[0].decode("ascii", "replace")
        if op not in OPS:
            raise self._bad(
                f"there is no operation {_shown(fields[0])}", "one of " + ", ".join(OPS)
            )
        iteration = self._count(fields[1], "iteration", _MOST_ITERATION)
        rank = self._count(fields[2], "rank", _MOST_RANK)
        time_s, runtime_s = self._seconds(fields[3], "time"), self._seconds(fields[4], "runtime")
        return _row(op, iteration, rank, time_s, runtime_s)

    def _seconds(self, text: bytes, what: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else -1.0
        if not 0 <= value <= _MOST_S:
            raise self._bad(f"the {what} is {_shown(text)}", f"seconds from 0 to {_MOST_S:.0e}")
        return value

    def _count(self, text: bytes, what: str, most: int) -> int:
        value = int(text) if _COUNT.fullmatch(text) else -1
        if not 0 <= value <= most:
            raise self._bad(f"the {what} is {_shown(text)}", f"a number from 0 to {most}")
        return value

    def _chunk(self) -> Frame:
        table = np.array(self._rows, dtype=np.int64)
        self._rows = []
        kinds = (np.uint8, np.uint8, np.int32, np.int32, np.int64, np.int64)
        names = ("op", "phase", "iteration", "rank", "time_ns", "runtime_ns")
        return Frame(
            {
                name: np.ascontiguousarray(table[:, place].astype(kind))
                for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
            }
        )

    def _bad(self, what: str, expected: str) -> InputFileError:
        return InputFileError(f"{self._path}, line {self._number}: {what}", expected=expected)


_PLACES = {op: place for place, op in enumerate(OPS)}


def _row(op: str, iteration: int, rank: int, time_s: float, runtime_s: float) -> _Row:
    phase = PHASES.index(op) if op in PHASES else 0
    return _PLACES[op], phase, iteration, rank, round(time_s * 1e9), round(runtime_s * 1e9)


def _shown(text: bytes | None) -> str:
    """Foreign bytes as printable text."""
    if text is None:
        return "missing"
    cut = text[:40].decode("ascii", "replace")
    return repr(clean_text(cut)) + ("..." if len(text) > 40 else "")
