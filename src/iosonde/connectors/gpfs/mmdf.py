"""GPFS ``mmdf``: capacity of NSDs, pools and the file system.

A file system is as full as its data are: 1 - (free blocks + free fragments) / size, of NSDs that hold data. NSDs with
metadata only are told apart (``metadata_..._bytes``), so that the fullest NSD is one that can hinder a write.
All sizes are KiB in the text. It says neither when nor of which file system it is: ``Settings.day`` and ``.system``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, Reading, YAnswer, connector
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Settings

KIND = "mmdf"
_N = r"\d{1,20}"
_FREE = rf"(?P<freeBlocks>{_N}) \(\s*\d{{1,3}}%\)\s+(?P<freeFragments>{_N}) \(\s*\d{{1,3}}%\)"
_NSD = rf"(?P<nsdName>\S+)\s+(?P<diskSize>{_N})\s+-?\d+\s+(?:[Yy]es|[Nn]o)\s+(?P<data>[Yy]es|[Nn]o)"
_INODES = {
    "usedInodes": ("Number of used", "used_inodes"),
    "freeInodes": ("Number of free", "free_inodes"),
    "allocatedInodes": ("Number of allocated", "allocated_inodes"),
    "maxInodes": ("Maximum number of", "total_inodes"),
}
_SIZES = {
    "nsd": ("nsd", "diskSize", "nsdName"),
    "poolTotal": ("pool", "poolSize", "poolName"),
    "data": ("filesystem", "totalData", ""),
    "metadata": ("filesystem", "totalMetadata", ""),
}
"""Kind of row -> level, column of the size, column of the name ("": the file system's)."""
_SUMS = {"pool total": "poolTotal", "data": "data", "metadata": "metadata"}


class _Room(NamedTuple):
    level: str
    name: str
    prefix: str
    """``metadata_`` for storage of metadata only."""
    size_kib: int
    free_kib: int


class _Rooms(YAnswer):
    COMMAND, TITLES = "mmdf", "nsd|poolTotal|data|metadata|fsTotal|inode"
    SIGNS = (re.compile(r"disk\s+disk size\s+failure\s+holds\s+holds\s+free.*"),)
    ROWS = (
        ("nsd", re.compile(rf"{_NSD}\s+{_FREE}\s*\*?")),
        ("", re.compile(r"Disks in storage pool: (?P<poolName>\S+) .*")),
        *(
            (kind, re.compile(rf"\({word}\)\s+(?P<{_SIZES[kind][1]}>{_N})\s+{_FREE}"))
            for word, kind in _SUMS.items()
        ),
        *(
            ("inode", re.compile(rf"{words} inodes:\s+(?P<{name}>{_N})"))
            for name, (words, _) in _INODES.items()
        ),
    )
    CUT = re.compile(r"\S+\s+\d+\s+-?\d+\s+(?:yes|no)\s.*", re.IGNORECASE)

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path, settings)
        self._rooms: list[_Room] = []
        self._inodes: dict[str, int] = {}

    def row(self, kind: str, cells: Cells) -> None:
        if kind == "inode":
            self._count_inodes(cells)
        elif kind in _SIZES:
            self._add(kind, cells)

    def _count_inodes(self, cells: Cells) -> None:
        said = {name: count(cells[name]) for name in _INODES if name in cells}
        self._inodes |= {_INODES[name][1]: n for name, n in said.items() if n is not None}
        wrong = [f"{name} is {shown(cells[name])}" for name, n in said.items() if n is None]
        if wrong:
            raise ValueError("; ".join(wrong))

    def _add(self, kind: str, cells: Cells) -> None:
        level, size, named = _SIZES[kind]
        name = cells.get(named, "") if named else self.settings.system
        texts = [cells.get(cell, "") for cell in (size, "freeBlocks", "freeFragments")]
        total, *free = map(count, texts)
        if total is None or None in free:
            raise ValueError(
                f"a size of {shown(name or level)} is no count: {shown(' '.join(texts))}"
            )
        empty = sum(part for part in free if part is not None)
        if empty > total:
            raise ValueError(f"{shown(name or level)} has more free than it has")
        only = kind == "metadata" or (kind == "nsd" and cells.get("data", "").lower() == "no")
        self._rooms.append(_Room(level, name, "metadata_" if only else "", total, empty))

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        """All readings, and the file system's own capacity."""
        rooms, system = list(self._rooms), self.settings.system
        if not any(room.level == "filesystem" and not room.prefix for room in rooms):
            data = [room for room in rooms if room.level == "nsd" and not room.prefix]
            if data:
                size, free = sum(r.size_kib for r in data), sum(r.free_kib for r in data)
                rooms.append(_Room("filesystem", system, "", size, free))
        for level, name, prefix, size, free in rooms:
            for word, kib in (("total", size), ("free", free), ("used", size - free)):
                series = ComponentSeries(system, level, f"{prefix}{word}_bytes", name)
                yield Reading(series, float(kib * 1024))
        for metric, n in self._inodes.items():
            yield Reading(ComponentSeries(system, "filesystem", metric, system), float(n))


recognises, read, read_many = connector(KIND, _Rooms)
