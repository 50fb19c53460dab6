"""GPFS ``mmdiag --waiters``: threads that wait, how many and how long.

::

    === mmdiag: waiters ===
    Waiting 64.3890 sec since 17:55:45, monitored, thread 120655 NSDThread: for I/O completion

Threads that GPFS does not monitor ("ignored") wait for work and are not counted. Gauges ``waiters`` and
``longest_wait_s`` of nodes. An answer names no node: it is the name that mmdsh puts before each line, else the file's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, Reading, YAnswer, connector
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.source import Settings

KIND = "mmdiag --waiters"
_HOST = r"(?:(?P<host>[\w.-]{1,100}):\s+)?"
_TITLE = re.compile(rf"{_HOST}=== mmdiag: waiters ===")
_WAITS = re.compile(
    rf"{_HOST}Waiting (?P<waitTime>\S{{1,20}}) sec since \S{{1,40}}, (?P<isMonitored>monitored|ignored), thread \d+.*"
)
_MOST_NODES = 100_000


class _Waiters(YAnswer):
    COMMAND, TITLES, SIGNS = "mmdiag", "waiters", (_TITLE,)
    ROWS = (("title", _TITLE), ("waiters", _WAITS))
    CUT = re.compile(rf"{_HOST}Waiting\b.*")

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path, settings)
        self._waits: dict[str, list[float]] = {}

    def title(self, kind: str) -> None:
        if kind == "waiters":
            self.row("title", {})

    def row(self, kind: str, cells: Cells) -> None:
        host = cells.get("host", "")
        if len(self._waits) >= _MOST_NODES and host not in self._waits:
            raise ValueError(f"more than {_MOST_NODES} nodes")
        waits = self._waits.setdefault(host, [])
        if kind == "waiters":
            seconds = plain(cells.get("waitTime", ""))
            if seconds is None or seconds < 0:
                raise ValueError(f"the wait {shown(cells.get('waitTime'))} is no number")
            if cells.get("isMonitored") == "monitored":
                waits.append(seconds)

    def readings(self, time_ns: int) -> Iterator[Reading]:  # noqa: ARG002
        for host, waits in self._waits.items():
            name = host or self.path.stem
            longest = max(waits, default=0.0)
            for metric, value in (("waiters", float(len(waits))), ("longest_wait_s", longest)):
                yield Reading(ComponentSeries(self.settings.system, "server", metric, name), value)

    def notes(self) -> Iterator[tuple[str, str, int]]:
        if "" in self._waits:
            yield "estimated", f"the node is taken to be {self.path.stem}, as the file", 1


recognises, read, read_many = connector(KIND, _Waiters)
