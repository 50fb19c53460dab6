"""Logs of io-probing: a sample per op and round; its phases before and after as rows of runs.

::

    start
    timestamp 1795257107
    benchmark process max:0.00s ... objects:1 ... read(7 times) stat(...) create(...) delete(...)
    write 0.000287908 rnd_offsets( 376438784 )
    read 0.001002111 rnd_offsets( 476053504 )
    end

What such a log can be trusted with:

- The stamp has whole seconds and is taken once a round, before the metadata operations: due = began = the stamp.
- Of the seven times of an op, one operation has one: its least, median and greatest are the same, the quantiles
  between are uninitialised memory. They are left out and counted. Of several operations a round the median is taken.
- ``write`` and ``read`` are sums over ranks; of several ranks a sample is their mean.
- ``(N errs)`` does not say which operation failed: those without times did.
- The record of precreate has ``timestamp 0`` and its ``end`` glued to the line before.

A record that is cut or cannot be read is told of; its good lines count, and reading goes on at the next.
Format: io-probing 5cbbf84 (2024).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.connectors.benchmarks.mdworkbench.line import PhaseLine, parse
from iosonde.connectors.benchmarks.mdworkbench.text import WANTED, TextReader
from iosonde.connectors.lines import (
    MOST_S,
    NUMBER,
    FileDefaults,
    Line,
    Warn,
    bad,
    possible,
    read_lines,
    shown,
)
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.ops import OPS
from iosonde.model.runs import RunRow
from iosonde.model.units import DAY_NS, LATEST_S

CHUNK_ROWS = 1 << 14
SOURCE = "io-probing"
_BLOCK = re.compile(rf"(write|read) ({NUMBER}) rnd_offsets\(((?:\s*\d{{1,19}})*)\s*\)", re.ASCII)
_STAMP = re.compile(r"timestamp (\d{1,12})", re.ASCII)
_SECOND_NS = 1_000_000_000
_MD_OPS = ("md_stat", "md_read", "md_delete", "md_create")
_DISTINCT = 10_000


class Stretch(NamedTuple):
    """Rounds of one program start on one UTC day."""

    start: int
    """Number of the program start in the file, from 1."""
    first_ns: int


class ProbingLog:
    """Reader of a log. Read ``pieces`` to its end before using the other fields."""

    def __init__(self, path: Path, given: FileDefaults, warn: Warn) -> None:
        self._path, self._given, self._warn = path, given, warn
        self._text = TextReader(path, given, warn, SOURCE)
        self._record: _Record | None = None
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._last_ns = -1
        self._gaps: Counter[int] = Counter()
        self.stretches: list[Stretch] = []
        self.starts = 1
        self.rounds = 0
        self.uninitialised = 0
        """Quantiles left out because they are memory that nobody wrote."""
        self.several = 0
        """Rounds with more than one operation of an op, of which the median was taken."""
        self.ranks = 1
        """Ranks whose blocks are summed up in a line."""
        self.backend = "unknown"
        self.root: str | None = None
        self.size_bytes: int | None = None
        self.block_bytes: int | None = None

    def pieces(self) -> Iterator[RunRow | Frame]:
        """Yield rows of runs, and samples in frames of at most ``CHUNK_ROWS``. Raises InputFileError.

        Samples: ``op`` (place in ``OPS``, uint8), ``stretch`` (int32), ``time_ns`` since the stretch began,
        ``runtime_ns`` (``NULL_NS``: it failed), ``offset_bytes`` (``NULL_NS``: none), all int64.
        """
        number = 0
        for line in read_lines(self._path, self._warn):
            number = line.number
            yield from self._take(line)
            if len(self._rows) >= CHUNK_ROWS:
                yield self._chunk()
        if self._record is not None:
            self._broken(number, "the log ends within a record")
        yield from self._text.done()
        if self._rows:
            yield self._chunk()

    @property
    def period_ns(self) -> int:
        """Median distance between rounds; --interval if there are none."""
        if self._gaps:
            return sorted(self._gaps.elements())[sum(self._gaps.values()) // 2]
        said = self._text.head.options.get("interval_s", 1)
        return int(said * _SECOND_NS) if said > 0 else _SECOND_NS

    def _take(self, line: Line) -> Iterator[RunRow]:
        text = line.text.strip()
        if text.startswith(("Args: ", "MD-")):
            if self._record is not None:
                self._broken(line.number, "the program starts within a record")
            if text.startswith("Args: ") and self.rounds:
                self.starts += 1
                self._last_ns = -1
            yield from self._text.take(line)
            self._learn()
        elif text == "start":
            if self._record is not None:
                self._broken(line.number, "a record begins within a record")
            self._record = _Record(line.number)
        elif text == "end":
            self._record = None
        elif self._record is None:
            # Lines of options too; what is outside of records is no round.
            yield from self._text.take(line)
            self._learn()
        else:
            yield from self._inside(self._record, line, text)

    def _learn(self) -> None:
        head = self._text.head
        self.backend, self.root = head.backend, head.root or self.root
        self.size_bytes = head.options.get("size_bytes", self.size_bytes)
        self.block_bytes = head.options.get("block_bytes", self.block_bytes)

    def _inside(self, record: _Record, line: Line, text: str) -> Iterator[RunRow]:
        if match := _STAMP.fullmatch(text):
            seconds = int(match[1])
            if seconds > LATEST_S or record.stamp_ns is not None:
                self._say(line.number, f"the stamp {shown(text)} cannot be", "one stamp a record")
            else:
                record.stamp_ns = seconds * _SECOND_NS
        elif match := _BLOCK.fullmatch(text):
            self._block(record, line.number, match)
        elif text:
            glued = text.endswith(")end")
            try:
                found = parse(text.removesuffix("end") if glued else text)
            except ValueError as error:
                self._say(line.number, str(error), WANTED)
                return
            if found is None:
                self._say(line.number, f"the line is {shown(text)}", "a line of a record")
            elif record.stamp_ns and found.phase == "benchmark":
                self._round(record, found)
            else:
                yield from self._text.done()
                yield from possible(self._text.rows(found), self._path, line.number, self._warn)
            if glued:
                self._record = None

    def _round(self, record: _Record, line: PhaseLine) -> None:
        """Samples of a round's metadata operations."""
        if line.rank is not None:
            return  # the same again, by rank
        objects = int(line.numbers.get("objects", 0))
        self.several += objects > 1
        failed = line.numbers.get("errs", 0) > 0
        for op in _MD_OPS:
            times = line.quantiles_s.get(op)
            if times is None:
                if failed:
                    self._add(record, op, NULL_NS, NULL_NS)
                continue
            self.uninitialised += 4 if objects <= 1 else 0
            if 0 <= times[2] <= MOST_S:
                self._add(record, op, round(times[2] * 1e9), NULL_NS)

    def _block(self, record: _Record, number: int, match: re.Match[str]) -> None:
        offsets = [int(text) for text in match[3].split()]
        seconds, ranks = float(match[2]), max(1, len(offsets))
        if not seconds <= MOST_S or any(offset >= 2**63 for offset in offsets):
            self._say(number, f"the time {shown(match[2])} or an offset cannot be", "seconds")
            return
        self.ranks = max(self.ranks, ranks)
        offset = offsets[0] if len(offsets) == 1 else NULL_NS
        self._add(record, f"data_{match[1]}", round(seconds * 1e9 / ranks), offset)

    def _add(self, record: _Record, op: str, runtime_ns: int, offset: int) -> None:
        if not record.stamp_ns:
            self._say(record.number, "the record has no stamp", "a line 'timestamp SECONDS'")
            return
        if record.due_ns is None:
            record.due_ns = self._due(record.stamp_ns)
        stretch = len(self.stretches) - 1
        time_ns = record.due_ns - self.stretches[stretch].first_ns
        self._rows.append((OPS.index(op), stretch, time_ns, runtime_ns, offset))

    def _due(self, stamp_ns: int) -> int:
        """Due time of a round: its stamp, plus 1 ns if the round before has the same stamp."""
        self.rounds += 1
        due = stamp_ns
        if self._last_ns >= 0:
            if stamp_ns <= self._last_ns < stamp_ns + _SECOND_NS:
                due = self._last_ns + 1
            gap = stamp_ns - self._last_ns // _SECOND_NS * _SECOND_NS
            if gap > 0 and (gap in self._gaps or len(self._gaps) < _DISTINCT):
                self._gaps[gap] += 1
        last = self.stretches[-1] if self.stretches else None
        if (
            last is None
            or last.start != self.starts
            or due < last.first_ns
            or due // DAY_NS != last.first_ns // DAY_NS
        ):
            self.stretches.append(Stretch(self.starts, due))
        self._last_ns = due
        return due

    def _broken(self, number: int, what: str) -> None:
        record, self._record = self._record, None
        begun = record.number if record else number
        self._say(number, f"{what}, which began in line {begun}", "a line 'end' after each record")

    def _say(self, number: int, what: str, expected: str) -> None:
        self._warn(bad(self._path, number, what, expected))

    def _chunk(self) -> Frame:
        table = np.array(self._rows, dtype=np.int64)
        self._rows = []
        names = ("op", "stretch", "time_ns", "runtime_ns", "offset_bytes")
        kinds = (np.uint8, np.int32, np.int64, np.int64, np.int64)
        return Frame(
            {
                name: np.ascontiguousarray(table[:, place].astype(kind))
                for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
            }
        )


class _Record:
    """The record being read."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.stamp_ns: int | None = None
        self.due_ns: int | None = None
