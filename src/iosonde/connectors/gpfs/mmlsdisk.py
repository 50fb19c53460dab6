"""GPFS ``mmlsdisk``: disks that are up and ready.

``available``: 1 for a disk that is up, 0 for one that is down or recovers; ``ready``: 1 for one that takes blocks, 0
for one that is suspended, emptied or replaced. The answer does not say of which file system it is:
``Settings.system``.
"""

from __future__ import annotations

import re

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, YAnswer, connector
from iosonde.connectors.lines import shown

KIND = "mmlsdisk"
_AVAILABILITY = ("up", "down", "recovering", "unrecovered")
_ROW = re.compile(
    r"(?P<nsdName>\S{1,256})\s+\S+\s+\d+\s+-?[\d,]+\s+(?:yes|no)\s+(?:yes|no)\s+(?P<status>\S+(?: \S+)*?)\s+"
    rf"(?P<availability>{'|'.join(_AVAILABILITY)})\b.*",
    re.IGNORECASE,
)


class _Disks(YAnswer):
    COMMAND, TITLES = "mmlsdisk", ""
    SIGNS = (re.compile(r"disk\s+driver\s+sector\s+failure\s+holds\s+holds\b.*"),)
    ROWS, CUT = (("disk", _ROW),), re.compile(r"\S+\s+nsd\s+\d+\s.*")

    def row(self, kind: str, cells: Cells) -> None:  # noqa: ARG002
        name, status, available = (
            cells.get(cell, "") for cell in ("nsdName", "status", "availability")
        )
        if not name or not status or available.lower() not in _AVAILABILITY:
            what = f"the disk {shown(name)} has no state: {shown(f'{status} {available}')}"
            raise ValueError(what)
        states = {"available": available.lower() == "up", "ready": status.lower() == "ready"}
        for metric, state in states.items():
            series = ComponentSeries(self.settings.system, "nsd", metric, name[:256])
            if series not in self.found:
                self.found[series] = float(state)
            elif metric == "ready":
                self.noted["duplicate", f"disks of {self.path.name}"] += 1


recognises, read, read_many = connector(KIND, _Disks)
