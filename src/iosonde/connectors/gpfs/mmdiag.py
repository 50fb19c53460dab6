"""GPFS ``mmdiag --waiters``: number and waiting time of waiting threads.

::

    === mmdiag: waiters ===
    Waiting 64.3890 sec since 17:55:45, monitored, thread 120655 NSDThread: for I/O completion

Threads that GPFS does not monitor ("ignored") wait for work and are not counted. Gauges ``waiters`` and
``longest_wait_s`` of nodes. An answer names no node: it is the name that mmdsh puts before each line, else the file's.
"""

from __future__ import annotations

import re

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, YAnswer, connector
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import plain

KIND = "mmdiag --waiters"
_HOST = r"(?:(?P<host>[\w.-]{1,100}):\s+)?"
_TITLE = re.compile(rf"{_HOST}=== mmdiag: waiters ===")
_WAITS = re.compile(
    rf"{_HOST}Waiting (?P<waitTime>\S{{1,20}}) sec since \S{{1,40}}, (?P<isMonitored>monitored|ignored), thread \d+.*"
)
_MOST_GAUGES = 200_000


class _Waiters(YAnswer):
    COMMAND, TITLES, SIGNS = "mmdiag", "waiters", (_TITLE,)
    ROWS = (("title", _TITLE), ("waiters", _WAITS))
    CUT = re.compile(rf"{_HOST}Waiting\b.*")

    def title(self, kind: str) -> None:
        if kind == "waiters":
            self.row("title", {})

    def row(self, kind: str, cells: Cells) -> None:
        name = cells.get("host") or self.path.stem
        if name != cells.get("host"):
            self.noted["estimated", f"the node is taken to be {name}, as the file"] = 1
        n, longest = (
            ComponentSeries(self.settings.system, "server", metric, name)
            for metric in ("waiters", "longest_wait_s")
        )
        if len(self.found) >= _MOST_GAUGES and n not in self.found:
            raise ValueError(f"more than {_MOST_GAUGES // 2} nodes")
        self.found.setdefault(n, 0.0)
        self.found.setdefault(longest, 0.0)
        if kind == "waiters":
            seconds = plain(cells.get("waitTime", ""))
            if seconds is None or seconds < 0:
                raise ValueError(f"the wait {shown(cells.get('waitTime'))} is no number")
            if cells.get("isMonitored") == "monitored":
                self.found[n] += 1
                self.found[longest] = max(self.found[longest], seconds)


recognises, read, read_many = connector(KIND, _Waiters)
