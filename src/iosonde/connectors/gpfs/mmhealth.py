"""GPFS ``mmhealth node show``: which parts of a node are healthy; the table for people, and the colon form of ``-Y``.

1: HEALTHY, or TIPS (an advice); 0: DEGRADED, FAILED, DEPEND (on what failed); other states (CHECKING, DISABLED ...)
say nothing. A node is ``server n1``, a part of it ``n1/NETWORK``, a file system or disk as that node sees it
``scratch@n1``. Source: IBM Storage Scale, mmhealth command.
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

KIND = "mmhealth"
_COLON = re.compile(r"mmhealth:(?:State|Event):HEADER:version:")
_NODE = re.compile(r"Node name:\s+(\S{1,200})")
_STATUS = re.compile(r"Node status:\s+([A-Z]+)\b.*")
_ROW = re.compile(r"([A-Z][A-Z_]{2,30})\s+([A-Z]{3,20})\b.*")
_STATES = {"HEALTHY": 1.0, "TIPS": 1.0, "DEGRADED": 0.0, "FAILED": 0.0, "DEPEND": 0.0}
_LEVELS = {"FILESYSTEM": "filesystem", "DISK": "nsd", "POOL": "pool"}
_MOST = 100_000


def recognises(head: Head) -> bool:
    """Whether it has a title of the colon form, or a node's name and status."""
    lines = [line.strip() for line in islice(head.lines, 100)]
    named = any(_NODE.fullmatch(line) for line in lines)
    return any(_COLON.match(line) for line in lines) or (
        named and any(_ROW.fullmatch(line) or _STATUS.fullmatch(line) for line in lines)
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Gauges ``healthy`` of one answer. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The same of several answers, of one node or many."""

    def begin(path: Path) -> StateAnswer:
        return _Health(path, settings.system)

    yield from read_answers(KIND, paths, settings, warn, begin)


class _Health:
    def __init__(self, path: Path, system: str) -> None:
        self._path, self._system = path, system
        self._titles = ColonTitles(KIND)
        self._node = ""
        self._found: dict[ComponentSeries, float] = {}
        self._unclear = 0

    def take(self, line: Line) -> None:
        text = line.text.strip()
        if text.startswith("mmhealth:"):
            row = self._titles.row(text)
            if row is not None and row[0] == "State":
                self._state(row[1])
        elif found := _NODE.fullmatch(text):
            self._node = found[1]
        elif found := _STATUS.fullmatch(text):
            self._saw("server", self._named(), found[1])
        elif found := _ROW.fullmatch(text):
            self._saw("server", f"{self._named()}/{found[1]}", found[2])

    def _named(self) -> str:
        if not self._node:
            raise ValueError("a state before the node's name")
        return self._node

    def _state(self, row: dict[str, str]) -> None:
        node, component = row.get("node", ""), row.get("component", "")
        entity, kind = row.get("entityname", ""), row.get("entitytype", "")
        if not node or not component or not row.get("status"):
            raise ValueError(f"the state {shown(' '.join(row.values()))} is cut")
        if kind == "NODE":
            name = node if component == "NODE" else f"{node}/{component}"
            self._saw("server", name, row["status"])
        else:
            level = _LEVELS.get(kind, "device")
            system = entity if level == "filesystem" else self._system
            self._saw(level, f"{entity}@{node}", row["status"], system)

    def _saw(self, level: str, name: str, status: str, system: str | None = None) -> None:
        value = _STATES.get(status)
        if value is None:
            self._unclear += 1
        elif len(self._found) < _MOST:
            of = self._system if system is None else system
            self._found.setdefault(ComponentSeries(of, level, "healthy", name[:256]), value)

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        for series, value in self._found.items():
            yield Reading(series, value)

    def notes(self) -> Iterator[tuple[str, str, int]]:
        if self._unclear:
            yield (
                "missing",
                f"states of {self._path.name} that are neither good nor bad",
                self._unclear,
            )
