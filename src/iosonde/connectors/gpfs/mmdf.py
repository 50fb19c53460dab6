"""GPFS ``mmdf``: room on NSDs, pools and the file system; the table for people, and the colon form of ``-Y``.

A file system is as full as its data are: 1 - (free blocks + free fragments) / size, of NSDs that hold data. NSDs with
metadata only are told apart (``metadata_..._bytes``), so that the fullest NSD is one that can hinder a write.
All sizes are KiB in the text. It says neither when nor of which file system it is: ``Settings.day`` and ``.system``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Head, Item, Settings, Warn

KIND = "mmdf"
_KIB = 1024
_N = r"(\d{1,20})"
_FREE = rf"{_N} \(\s*\d{{1,3}}%\)\s+{_N} \(\s*\d{{1,3}}%\)"
_NSD = re.compile(rf"(\S+)\s+{_N}\s+-?\d+\s+([Yy]es|[Nn]o)\s+([Yy]es|[Nn]o)\s+{_FREE}\s*\*?")
_SUM = re.compile(rf"\((pool total|data|metadata|total)\)\s+{_N}\s+{_FREE}")
_POOL = re.compile(r"Disks in storage pool: (\S+) .*")
_INODES = re.compile(rf"(Number of (?:used|free|allocated)|Maximum number of) inodes:\s+{_N}")
_TITLE = re.compile(r"disk\s+disk size\s+failure\s+holds\s+holds\s+free")
_COLON = re.compile(r"mmdf:(?:nsd|poolTotal|data|metadata|fsTotal|inode):HEADER:version:")
_INODE_METRICS = {
    "usedInodes": "used_inodes",
    "freeInodes": "free_inodes",
    "allocatedInodes": "allocated_inodes",
    "maxInodes": "total_inodes",
    "Number of used": "used_inodes",
    "Number of free": "free_inodes",
    "Number of allocated": "allocated_inodes",
    "Maximum number of": "total_inodes",
}
_SIZES = {
    "nsd": "diskSize",
    "poolTotal": "poolSize",
    "data": "totalData",
    "metadata": "totalMetadata",
}


class _Room(NamedTuple):
    level: str
    name: str
    prefix: str
    """``metadata_`` where only metadata are held."""
    size_kib: int
    free_kib: int


def recognises(head: Head) -> bool:
    """Whether it has mmdf's title, or headers of its colon form."""
    return any(_COLON.match(line) or _TITLE.match(line) for line in islice(head.lines, 50))


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Gauges of one answer. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The same of several answers, each as old as its file (or of the day that was given)."""
    gather = Gather("mmdf")

    def answer(path: Path) -> Iterator[Item]:
        time_ns, notes = recorded(path, settings)
        for note in notes:
            gather.note(note.flag, note.what)
        table = _Answer(path, settings.system, warn)
        try:
            for line in read_lines(path, warn):
                try:
                    table.take(line)
                except ValueError as error:
                    gather.note("not-a-number", f"a line of {path.name}")
                    warn(bad(path, line.number, str(error), "a line of mmdf"))
        finally:
            for series, value in table.gauges():
                gather.gauge(series, time_ns, value)
        if gather.full:
            yield from gather.blocks()

    yield from read_each(paths, answer, gather.rest, warn, settings.progress)


class _Answer:
    def __init__(self, path: Path, system: str, warn: Warn) -> None:
        self._path, self._system, self._warn = path, system, warn
        self._headers: dict[str, list[str]] = {}
        self._pool = ""
        self._rooms: list[_Room] = []
        self._inodes: dict[str, int] = {}

    def take(self, line: Line) -> None:
        text = line.text.strip()
        if text.startswith("mmdf:"):
            self._colon(text.split(":"))
        elif match := _NSD.fullmatch(text):
            only = match[4].lower() == "no"
            self._add("nsd", match[1], "metadata_" if only else "", match[2], match[5], match[6])
        elif match := _SUM.fullmatch(text):
            self._sum(match[1], match[2], match[3], match[4])
        elif match := _POOL.fullmatch(text):
            self._pool = match[1]
        elif match := _INODES.fullmatch(text):
            self._inodes[_INODE_METRICS[match[1]]] = int(match[2])
        elif re.match(r"\S+\s+\d+\s+-?\d+\s+(?:yes|no)\s", text, re.IGNORECASE):
            raise ValueError(f"the NSD's row {shown(text)} is cut or has no numbers")

    def gauges(self) -> Iterator[tuple[ComponentSeries, float]]:
        """Everything that was said, and the file system's own room."""
        rooms = list(self._rooms)
        if not any(room.level == "filesystem" and not room.prefix for room in rooms):
            data = [room for room in rooms if room.level == "nsd" and not room.prefix]
            if data:
                size, free = sum(r.size_kib for r in data), sum(r.free_kib for r in data)
                rooms.append(_Room("filesystem", self._system, "", size, free))
        for room in rooms:
            for word, kib in (
                ("total", room.size_kib),
                ("free", room.free_kib),
                ("used", room.size_kib - room.free_kib),
            ):
                metric = f"{room.prefix}{word}_bytes"
                yield (
                    ComponentSeries(self._system, room.level, metric, room.name),
                    float(kib * _KIB),
                )
        for metric, value in self._inodes.items():
            yield ComponentSeries(self._system, "filesystem", metric, self._system), float(value)

    def _sum(self, of: str, size: str, blocks: str, fragments: str) -> None:
        if of == "pool total":
            self._add("pool", self._pool, "", size, blocks, fragments)
        elif of != "total":
            prefix = "metadata_" if of == "metadata" else ""
            self._add("filesystem", self._system, prefix, size, blocks, fragments)

    def _colon(self, words: list[str]) -> None:
        of = words[1] if len(words) > 2 else ""
        if len(words) > 2 and words[2] == "HEADER":
            self._headers[of] = words[:200]
            return
        if of == "fsTotal":
            return
        names = self._headers.get(of)
        if names is None:
            raise ValueError(f"a row of {shown(of)} before its header")
        row = {name: unquote(word) for name, word in zip(names, words, strict=False)}
        if of == "inode":
            self._count_inodes(row)
            return
        if of not in _SIZES:
            return
        size, prefix = row.get(_SIZES[of], ""), ""
        if of == "nsd":
            prefix = "metadata_" if row.get("data", "").lower() == "no" else ""
            level, name = "nsd", row.get("nsdName", "")
        elif of == "poolTotal":
            level, name = "pool", row.get("poolName", "")
        else:
            level, name = "filesystem", self._system
            prefix = "metadata_" if of == "metadata" else ""
        self._add(
            level, name, prefix, size, row.get("freeBlocks", ""), row.get("freeFragments", "")
        )

    def _count_inodes(self, row: dict[str, str]) -> None:
        wrong = []
        for name, metric in _INODE_METRICS.items():
            if name in row:
                value = count(row[name])
                if value is None:
                    wrong.append(f"{name} is {shown(row[name])}")
                else:
                    self._inodes[metric] = value
        if wrong:
            raise ValueError("; ".join(wrong))

    def _add(self, level: str, name: str, prefix: str, size: str, *free: str) -> None:
        total, parts = count(size), [count(part) for part in free]
        if total is None or None in parts:
            raise ValueError(
                f"a size of {shown(name or level)} is no count: {shown(' '.join((size, *free)))}"
            )
        empty = sum(part for part in parts if part is not None)
        if empty > total:
            raise ValueError(f"{shown(name or level)} has more free than it has")
        self._rooms.append(_Room(level, name, prefix, total, empty))
