"""Answers of GPFS commands as rows of cells by name: the colon form of ``-Y``, or the table for people.

The colon form has a title before its rows: ``mmlsdisk::HEADER:version:reserved:reserved:nsdName:driverType:...``. Signs
in a value are percent-encoded. Patterns of the table for people name their groups as those titles name their columns,
so both forms become the same cells. A file has one answer, or a log of them with a time before each (``stamps``); an
answer without a time is as old as its file. Source: IBM Storage Scale, commands with the option -Y.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import unquote

from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes

Cells = dict[str, str]
Pattern = re.Pattern[str]
_LOOK = 200
_MOST_WORDS = 200


class Reading(NamedTuple):
    """A reading. ``time_ns`` None: of the answer; ``step_ns``: a mean over the step from then on."""

    series: ComponentSeries
    value: float
    time_ns: int | None = None
    step_ns: int = 0


class YAnswer(ABC):
    """An answer of a command, row by row. A subclass defines the format and meaning of rows."""

    COMMAND: ClassVar[str]
    TITLES: ClassVar[str]
    """Regular expression of this command's kinds of rows (between command and HEADER)."""
    SIGNS: ClassVar[tuple[Pattern, ...]]
    """Lines of the table for people; a file with all of them is one."""
    ROWS: ClassVar[tuple[tuple[str, Pattern], ...]]
    """Kind and pattern of the rows for people; cells of kind "" apply to all rows below."""
    CUT: ClassVar[Pattern | None] = None
    """Start of a row for people that no pattern of ``ROWS`` fits."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self.found: dict[ComponentSeries, float] = {}
        """Gauges of the answer."""
        self.noted: Counter[tuple[str, str]] = Counter()
        """Flag and what is to be known of it."""
        self._titles: dict[str, list[str]] = {}
        self._above: Cells = {}

    def take(self, text: str) -> None:
        """Parse one line. Raises ValueError for a cut row or impossible values."""
        words = text.split(":")
        if words[0] == self.COMMAND:
            if 4 <= len(words) <= _MOST_WORDS:
                self._colon(words)
            return
        for kind, pattern in self.ROWS:
            if (found := pattern.fullmatch(text)) is not None:
                cells = {name: word for name, word in found.groupdict().items() if word is not None}
                if kind:
                    self.row(kind, self._above | cells)
                else:
                    self._above |= cells
                return
        if self.CUT is not None and self.CUT.fullmatch(text):
            raise ValueError(f"the row {shown(text)} is cut")

    def _colon(self, words: list[str]) -> None:
        kind = words[1]
        if words[2] == "HEADER":
            self._titles[kind] = words
            self.title(kind)
            return
        names = self._titles.get(kind)
        if names is None:
            raise ValueError(f"a row of {shown(kind or self.COMMAND)} before its title")
        self.row(kind, dict(zip(names, map(unquote, words), strict=False)))

    def title(self, kind: str) -> None:  # noqa: B027 (few answers need it)
        """Handle a title of the colon form, possibly without rows."""

    @abstractmethod
    def row(self, kind: str, cells: Cells) -> None:
        """Handle one row. Raises ValueError."""

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        """Readings of the answer, after all lines. ``time_ns``: the answer's own time."""
        return (Reading(series, value) for series, value in self.found.items())


Read = Callable[[Path, Settings, Warn], Iterator[Item]]
ReadMany = Callable[[Sequence[Path], Settings, Warn], Iterator[Item]]


def connector(kind: str, answer: type[YAnswer]) -> tuple[Callable[[Head], bool], Read, ReadMany]:
    """``recognises``, ``read`` and ``read_many`` of a command, as ``connectors.source`` expects them."""
    title = re.compile(f"{answer.COMMAND}:(?:{answer.TITLES}):HEADER:version:.*")

    def recognises(head: Head) -> bool:
        lines = [line.strip() for line in islice(head.lines, _LOOK)]
        wanted = (title,) if any(title.fullmatch(line) for line in lines) else answer.SIGNS
        return all(any(sign.fullmatch(line) for line in lines) for sign in wanted)

    def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        return read_many([path], settings, warn)

    def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
        gather = Gather(kind)
        yield from read_each(
            paths,
            lambda path: _file(path, answer, settings, gather, warn),
            gather.rest,
            warn,
            settings.progress,
        )

    return recognises, read, read_many


def _file(
    path: Path, kind: type[YAnswer], settings: Settings, gather: Gather, warn: Warn
) -> Iterator[Item]:
    """Read all answers of a file into ``gather``; yield blocks when it is full. Raises InputFileError."""
    clock = WallTimes(settings.zone, ascending=True)
    answer, stamp, lines = kind(path, settings), None, 0
    try:
        for line in read_lines(path, warn):
            found = stamp_of(line.text, clock)
            if found is not None:
                if lines:
                    _give(answer, stamp, gather)
                answer, stamp, lines = kind(path, settings), found, 0
                continue
            lines += bool(line.text.strip())
            try:
                answer.take(line.text.strip())
            except ValueError as error:
                gather.note("not-a-number", f"a line of {path.name}")
                warn(bad(path, line.number, str(error), f"a line of {kind.COMMAND}"))
            if gather.full:
                yield from gather.blocks()
    finally:
        if lines:
            _give(answer, stamp, gather)
        for note in clock.notes():
            gather.note(note.flag, note.what, note.n)


def _give(answer: YAnswer, time_ns: int | None, gather: Gather) -> None:
    """Put readings of one answer into ``gather``."""
    if time_ns is None:
        time_ns, notes = recorded(answer.path, answer.settings)
        for note in notes:
            gather.note(note.flag, note.what)
    for (flag, what), n in answer.noted.items():
        gather.note(flag, what, n)
    for reading in answer.readings(time_ns):
        at = time_ns if reading.time_ns is None else reading.time_ns
        if reading.step_ns:
            gather.over(reading.series, at, reading.step_ns, reading.value)
        else:
            gather.gauge(reading.series, at, reading.value)
