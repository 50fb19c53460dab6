"""GPFS ``mmlsdisk``: which disks are up and ready; the table for people, and the colon form of ``-Y``.

``available``: 1 for a disk that is up, 0 for one that is down or recovers; ``ready``: 1 for one that takes blocks, 0
for one that is suspended, emptied or replaced. The answer does not say of which file system it is:
``Settings.system``. Source: IBM Storage Scale, mmlsdisk command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.answers import ColonTitles, Reading, StateAnswer, read_answers
from iosonde.connectors.lines import Line, shown
from iosonde.connectors.source import Head, Item, Settings, Warn

KIND = "mmlsdisk"
_TITLE = re.compile(r"disk\s+driver\s+sector\s+failure\s+holds\s+holds\b.*")
_COLON = re.compile(r"mmlsdisk::HEADER:version:")
_AVAILABILITY = ("up", "down", "recovering", "unrecovered")
_ROW = re.compile(
    r"(\S{1,256})\s+\S+\s+\d+\s+-?[\d,]+\s+(?:yes|no)\s+(?:yes|no)\s+(\S+(?: \S+)*?)\s+"
    rf"({'|'.join(_AVAILABILITY)})\b.*",
    re.IGNORECASE,
)
_CUT = re.compile(r"\S+\s+nsd\s+\d+\s.*")


def recognises(head: Head) -> bool:
    """Whether it has mmlsdisk's title, or that of its colon form."""
    lines = (line.strip() for line in islice(head.lines, 100))
    return any(_TITLE.fullmatch(line) or _COLON.match(line) for line in lines)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Gauges ``available`` and ``ready`` of disks. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The same of several answers."""

    def begin(path: Path) -> StateAnswer:
        return _Disks(path, settings.system)

    yield from read_answers(KIND, paths, settings, warn, begin)


class _Disks:
    def __init__(self, path: Path, system: str) -> None:
        self._path, self._system = path, system
        self._titles = ColonTitles(KIND)
        self._disks: dict[str, tuple[float, float]] = {}
        self._twice = 0

    def take(self, line: Line) -> None:
        text = line.text.strip()
        if text.startswith("mmlsdisk:"):
            row = self._titles.row(text)
            if row is not None:
                cells = row[1]
                self._disk(
                    cells.get("nsdName", ""), cells.get("status", ""), cells.get("availability", "")
                )
        elif found := _ROW.fullmatch(text):
            self._disk(found[1], found[2], found[3])
        elif _CUT.fullmatch(text):
            raise ValueError(f"the disk {shown(text)} is cut or has no state")

    def _disk(self, name: str, status: str, availability: str) -> None:
        if not name or not status or availability.lower() not in _AVAILABILITY:
            raise ValueError(
                f"the disk {shown(name)} has no state: {shown(f'{status} {availability}')}"
            )
        if name in self._disks:
            self._twice += 1
            return
        up, ready = availability.lower() == "up", status.lower() == "ready"
        self._disks[name[:256]] = (float(up), float(ready))

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        for name, values in self._disks.items():
            for metric, value in zip(("available", "ready"), values, strict=True):
                yield Reading(ComponentSeries(self._system, "nsd", metric, name), value)

    def notes(self) -> Iterator[tuple[str, str, int]]:
        if self._twice:
            yield "duplicate", f"disks of {self._path.name}", self._twice
