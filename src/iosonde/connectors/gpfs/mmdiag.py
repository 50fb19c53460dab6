"""GPFS ``mmdiag --waiters``: threads that wait, how many and how long; text, or the colon form of ``-Y``.

::

    === mmdiag: waiters ===
    Waiting 64.3890 sec since 17:55:45, monitored, thread 120655 NSDThread: for I/O completion

Threads that GPFS does not monitor ("ignored") wait for work and are not counted. An answer names no node: it is the
name that mmdsh puts before each line, else the file's. Source: IBM Storage Scale, mmdiag command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.answers import ColonTitles, Reading, StateAnswer, read_answers
from iosonde.connectors.lines import Line, shown
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.source import Head, Item, Settings, Warn

KIND = "mmdiag --waiters"
_HOST = r"(?:(?P<host>[\w.-]{1,100}):\s+)?"
_TITLE = re.compile(rf"{_HOST}=== mmdiag: waiters ===")
_COLON = re.compile(r"mmdiag:waiters:HEADER:version:")
_WAITS = re.compile(
    rf"{_HOST}Waiting (?P<s>\S{{1,20}}) sec since \S{{1,40}}, (?P<how>monitored|ignored), thread \d+.*"
)
_BEGUN = re.compile(rf"{_HOST}Waiting\b.*")
_MOST_NODES = 100_000


def recognises(head: Head) -> bool:
    """Whether it has mmdiag's title, or that of its colon form."""
    lines = (line.strip() for line in islice(head.lines, 100))
    return any(_TITLE.fullmatch(line) or _COLON.match(line) for line in lines)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Gauges ``waiters`` and ``longest_wait_s`` of nodes. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The same of several answers, of one node or many."""

    def begin(path: Path) -> StateAnswer:
        return _Waiters(path, settings.system)

    yield from read_answers(KIND, paths, settings, warn, begin)


class _Waiters:
    def __init__(self, path: Path, system: str) -> None:
        self._path, self._system = path, system
        self._titles = ColonTitles("mmdiag")
        self._waits: dict[str, list[float]] = {}

    def take(self, line: Line) -> None:
        text = line.text.strip()
        if text.startswith("mmdiag:"):
            if _COLON.match(text):
                self._node("")
            row = self._titles.row(text)
            if row is not None and row[0] == "waiters":
                self._wait("", row[1].get("waitTime", ""), row[1].get("isMonitored", ""))
        elif found := _TITLE.fullmatch(text):
            self._node(found["host"] or "")
        elif found := _WAITS.fullmatch(text):
            self._wait(found["host"] or "", found["s"], found["how"])
        elif _BEGUN.fullmatch(text):
            raise ValueError(f"the waiter {shown(text)} is cut")

    def _node(self, host: str) -> list[float]:
        if len(self._waits) >= _MOST_NODES and host not in self._waits:
            raise ValueError(f"more than {_MOST_NODES} nodes")
        return self._waits.setdefault(host, [])

    def _wait(self, host: str, text: str, how: str) -> None:
        seconds = plain(text)
        if seconds is None or seconds < 0:
            raise ValueError(f"the wait {shown(text)} is no number")
        waits = self._node(host)
        if how == "monitored":
            waits.append(seconds)

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        for host, waits in self._waits.items():
            for metric, value in (
                ("waiters", len(waits)),
                ("longest_wait_s", max(waits, default=0.0)),
            ):
                name = host or self._path.stem
                yield Reading(ComponentSeries(self._system, "server", metric, name), float(value))

    def notes(self) -> Iterator[tuple[str, str, int]]:
        if "" in self._waits:
            yield "estimated", f"the node is taken to be {self._path.stem}, as the file", 1
