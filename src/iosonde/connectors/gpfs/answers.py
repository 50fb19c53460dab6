"""What commands of GPFS say of now: an answer a file, or a log of answers with a time before each (``stamps``).

The colon form (``-Y``) has a title before its rows: ``mmlsdisk::HEADER:version:reserved:reserved:nsdName:...``. Signs
in a value are percent-encoded. An answer without a time is as old as its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.source import Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes

_MOST_WORDS = 200


class Reading(NamedTuple):
    """One number. ``time_ns`` None: of the answer; ``step_ns``: it is a mean over the step from then on."""

    series: ComponentSeries
    value: float
    time_ns: int | None = None
    step_ns: int = 0


class StateAnswer(Protocol):
    """One answer, line by line."""

    def take(self, line: Line) -> None:
        """One line. Raises ValueError: it is none of the command's."""
        ...

    def readings(self, time_ns: int) -> Iterator[Reading]:
        """What it says, when all lines were taken. ``time_ns``: the answer's own time."""
        ...

    def notes(self) -> Iterator[tuple[str, str, int]]:
        """What is to be known of it: flag, what, how often."""
        ...


class ColonTitles:
    """Titles of the colon form, by what stands between command and ``HEADER``."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._titles: dict[str, list[str]] = {}

    def row(self, text: str) -> tuple[str, dict[str, str]] | None:
        """A row's kind and its cells by name; None for a title or another text. Raises ValueError: no title before."""
        words = text.split(":")
        if words[0] != self._command or len(words) < 4 or len(words) > _MOST_WORDS:
            return None
        if words[2] == "HEADER":
            self._titles[words[1]] = words
            return None
        names = self._titles.get(words[1])
        if names is None:
            raise ValueError(f"a row of {shown(words[1] or self._command)} before its title")
        return words[1], {name: unquote(word) for name, word in zip(names, words, strict=False)}


def read_answers(
    source: str,
    paths: Sequence[Path],
    settings: Settings,
    warn: Warn,
    begin: Callable[[Path], StateAnswer],
) -> Iterator[Item]:
    """Gauges of all answers of all files. ``begin`` makes an answer of a file."""
    gather = Gather(source)

    def one(path: Path) -> Iterator[Item]:
        clock = WallTimes(settings.zone, ascending=True)
        answer, stamp, lines = begin(path), None, 0

        def give() -> None:
            time_ns = stamp
            if time_ns is None:
                time_ns, notes = recorded(path, settings)
                for note in notes:
                    gather.note(note.flag, note.what)
            for flag, what, n in answer.notes():
                gather.note(flag, what, n)
            for reading in answer.readings(time_ns):
                at = time_ns if reading.time_ns is None else reading.time_ns
                if reading.step_ns:
                    gather.over(reading.series, at, reading.step_ns, reading.value)
                else:
                    gather.gauge(reading.series, at, reading.value)

        try:
            for line in read_lines(path, warn):
                found = stamp_of(line.text, clock)
                if found is not None:
                    if lines:
                        give()
                    answer, stamp, lines = begin(path), found, 0
                    continue
                lines += bool(line.text.strip())
                try:
                    answer.take(line)
                except ValueError as error:
                    gather.note("not-a-number", f"a line of {path.name}")
                    warn(bad(path, line.number, str(error), f"a line of {source}"))
                if gather.full:
                    yield from gather.blocks()
        finally:
            if lines:
                give()
            for note in clock.notes():
                gather.note(note.flag, note.what, note.n)

    yield from read_each(paths, one, gather.rest, warn, settings.progress)
