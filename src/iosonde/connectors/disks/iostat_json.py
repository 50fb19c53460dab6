"""``iostat -x -t -o JSON INTERVAL``: the same reports as its text.

Read object by object, so that a file that breaks off, several outputs in one file and another layout (``jq``) will do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from iosonde.connectors.disks.interval_reports import COLUMNS, IntervalReports, rate
from iosonde.connectors.disks.iostat import GUESSED
from iosonde.connectors.disks.printed_times import DayOrder
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn

KIND = "iostat's JSON"
_PIECE = re.compile(
    r'"(nodename|timestamp)"\s*:\s*"([^"\\]{0,300})"|(\{[^{}]*"disk_device"[^{}]*\})', re.ASCII
)
_STAMP = re.compile(r'"timestamp"\s*:\s*"([^"\\]{0,300})"', re.ASCII)
_MOST_HELD = 1 << 16


def recognises(head: Head) -> bool:
    """True for JSON of sysstat with disks as iostat names them."""
    text = head.text.lstrip()
    return text.startswith("{") and '"sysstat"' in text[:200] and '"disk_device"' in text


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts between reports, per disk. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts from several files."""
    gather = Gather("iostat")
    gather.note("estimated", "amounts of rates that were rounded to a hundredth")
    guessed: list[str] = []

    def one(path: Path) -> Iterator[Item]:
        order = DayOrder(_stamps(path))
        reports = IntervalReports(path, settings, warn, gather, order)
        pieces = _Pieces(reports)
        number = 0
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            number = line.number
            for error in pieces.take(line):
                warn(bad(path, number, error, "an object of iostat -x -t -o JSON"))
            if gather.full:
                yield from gather.blocks()
        if '"disk_device"' in pieces.held:
            warn(bad(path, number, "the file ends within a disk", "an object of iostat"))
        reports.end()
        if order.guessed and not guessed:
            guessed.append(GUESSED)

    yield from read_each(paths, one, gather.rest, warn, settings.progress)
    yield from guessed


def _stamps(path: Path) -> Iterator[str]:
    for line in read_lines(path, lambda _: None):
        yield from _STAMP.findall(line.text)


class _Pieces:
    """Objects of a file in its order. ``held``: the begin of one that goes on in the next line."""

    def __init__(self, reports: IntervalReports) -> None:
        self._reports = reports
        self.held = ""

    def take(self, line: Line) -> Iterator[str]:
        """Take a line; yield what is wrong in it."""
        text, end = f"{self.held}{line.text}\n", 0
        for match in _PIECE.finditer(text):
            end = match.end()
            try:
                self._piece(match)
            except ValueError as error:
                yield str(error)
        begin = text.find("{", max(end, text.rfind("{")))
        self.held = text[begin:] if begin >= 0 and len(text) - begin <= _MOST_HELD else ""

    def _piece(self, match: re.Match[str]) -> None:
        """Raises ValueError."""
        name, value, disk = match.groups()
        if name == "nodename":
            self._reports.begin(value)
        elif name == "timestamp":
            if not self._reports.at(value):
                raise ValueError(f"the time {shown(value)} cannot be read")
        else:
            self._disk(disk)

    def _disk(self, text: str) -> None:
        found = json.loads(text)
        device = found.get("disk_device")
        if not isinstance(device, str) or not device:
            raise ValueError("a disk has no name")
        rates = {
            COLUMNS[name].name: rate(name, str(value))
            for name, value in found.items()
            if name in COLUMNS
        }
        self._reports.row(device, rates)
