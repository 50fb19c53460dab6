"""A log of ``/proc/diskstats``: counters of whole disks.

::

    1790000000
       8       0 sda 9441 108 8141754 4184 132514 62172 15365544 83745 0 28176 100999 ...

A line with seconds since the epoch or an ISO time stands before each text; without one a text is as old as its file.
Two snapshots make amounts; a counter that fell began anew (those of times do after 49 days of waits). Partitions are a
part of their disk, and left out; so are disks that never did anything. Source: Linux, admin-guide/iostats.rst.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.disks.series import disk_series
from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "diskstats"
_ROW = re.compile(r"\s*\d{1,7}\s+\d{1,7}\s+(\S{1,128})((?:\s+\S+){11,})\s*", re.ASCII)
_LOOK, _BROKEN_SHARE = 40, 0.2
_SECTOR = 512.0
_FIELDS: tuple[tuple[str, float] | None, ...] = (
    ("read_ops", 1.0), None, ("read_bytes", _SECTOR), ("read_execution_s", 1e-3),
    ("write_ops", 1.0), None, ("written_bytes", _SECTOR), ("write_execution_s", 1e-3),
    None, ("io_time_s", 1e-3), ("execution_s", 1e-3),
)  # fmt: skip
"""Metric and scale of the numbers behind a disk's name; merges and requests in flight are not read."""
MOST_DISKS = 10_000


def recognises(head: Head) -> bool:
    """True if nearly all of the first lines are rows of disks, or times before them."""
    clock = WallTimes(None)
    texts = [line for line in head.lines[:_LOOK] if line.strip()]
    rows = [text for text in texts if stamp_of(text, clock) is None]
    whole = sum(map(_is_row, rows))
    return whole > 0 and len(rows) - whole <= max(1, _BROKEN_SHARE * len(rows))


def _is_row(text: str) -> bool:
    match = _ROW.fullmatch(text)
    return match is not None and all(word.isdigit() for word in match[2].split())


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments between snapshots. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments from several files: a host's snapshots, or many hosts. The file's name says the host."""
    gather = Gather("diskstats")

    def one(path: Path) -> Iterator[Item]:
        log = _Log(path, settings, gather)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            try:
                log.take(line.text, line.ended)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "a line of /proc/diskstats"))
            if gather.full:
                yield from gather.blocks()
        log.end()

    def rest() -> Iterator[Item]:
        if gather.alone:
            what = f"{paths[0]}: {gather.alone} counters were read once: no rate follows"
            expected = "two snapshots of a host, with the time before each (date +%s)"
            warn(InputFileError(what, expected=expected, hint="all of them at once"))
        yield from gather.rest()

    yield from read_each(paths, one, rest, warn, settings.progress)


class _Log:
    """Snapshots of one file: a host's disks, emitted when the next snapshot starts."""

    def __init__(self, path: Path, settings: Settings, gather: Gather) -> None:
        self._path, self._settings, self._gather = path, settings, gather
        self._node = node_of(path, settings)
        self._clock = WallTimes(settings.zone, ascending=True)
        self._at: int | None = None
        self._disks: dict[str, list[int]] = {}
        self._names: set[str] = set()
        self._parts: set[str] = set()
        self._timeless = False
        """True behind a snapshot without a time, up to the next time."""

    def take(self, text: str, ended: bool) -> None:
        """Parse one line. Raises ValueError; a wrong row costs its disk of one snapshot."""
        if not text.strip():
            return
        match = _ROW.fullmatch(text)
        if match is None:
            stamp = stamp_of(text, self._clock)
            if stamp is None:
                raise ValueError(f"the line is {shown(text.strip())}")
            self._give()
            self._at, self._timeless = stamp, False
            return
        name = match[1]
        self._names.add(name)
        if self._timeless:
            return
        if name in self._disks:
            self._timeless = True
            if self._at is None:
                self._disks.clear()  # the file's own time is that of its last snapshot
            self._give()
            raise ValueError(
                f"{name} comes again without a time before it: left out up to the next"
            )
        found = [count(word) for word in match[2].split()[: len(_FIELDS)]]
        numbers = [number for number in found if number is not None]
        if not ended or len(numbers) < len(_FIELDS):
            what = f"the numbers of {name} are {shown(match[2].strip())}"
            raise ValueError(what if ended else "the line is cut")
        if len(self._disks) < MOST_DISKS:
            self._disks[name] = numbers

    def end(self) -> None:
        """Emit the last snapshot at the end of the file."""
        self._give()
        if self._parts:
            self._gather.note(
                "left-out", "partitions, which are a part of their disks", len(self._parts)
            )
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)

    def _give(self) -> None:
        disks, self._disks = self._disks, {}
        if not disks:
            return
        if self._at is None:
            self._at, notes = recorded(self._path, self._settings)
            for note in notes:
                self._gather.note(note.flag, note.what)
        for name, numbers in disks.items():
            if is_partition(name, self._names):
                self._parts.add(name)
            elif any(numbers):
                self._counters(name, numbers, self._at)

    def _counters(self, name: str, numbers: list[int], at_ns: int) -> None:
        for what, number in zip(_FIELDS, numbers, strict=True):
            if what is not None:
                metric, scale = what
                series = disk_series(self._settings.system, self._node, name, metric)
                self._gather.counter(series, at_ns, number * scale)


def is_partition(name: str, disks: Container[str]) -> bool:
    """Whether ``name`` is a partition of one of ``disks``: sda1 of sda, nvme0n1p2 of nvme0n1."""
    whole = name.rstrip("0123456789")
    if whole == name:
        return False
    return whole in disks or (
        whole.endswith("p") and whole[-2:-1].isdigit() and whole[:-1] in disks
    )
