"""``lctl dl -t`` on a client: the server of each OST; one text, or a log of ``BEGIN <epoch>`` texts.

An Edge (OST -> the server's NID) for every connection of every text, so that what was true when is as old as the
text before; a failover shows as another server. Devices that are not UP (``IN``, ``AT``) and connections without
a NID say nothing. A client that mounts a file system twice has two devices for an OST; the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.lines import bad, shown
from iosonde.connectors.lustre.health_log import dated_lines
from iosonde.connectors.lustre.names import system_of, target
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.metrics import Edge

KIND = "lctl dl -t"
SOURCE = "lctl dl"
_DEVICE = re.compile(
    r"\s*\d{1,7}\s+(?P<state>[A-Z]{2})\s+(?P<type>[a-z0-9_-]{2,32})\s+(?P<name>\S{1,200})\s+\S{1,200}\s+\d{1,9}"
    r"(?:\s+(?P<nid>\S{1,200}))?\s*"
)
_CONNECTION = re.compile(r"(.{1,160})-osc-[0-9A-Za-z]{1,32}")
_NID = re.compile(r"[^\s@]{1,160}@[a-z][a-z0-9]{0,15}|\d{1,3}(?:\.\d{1,3}){3}")
_EXPECTED = "a device as lctl dl -t prints it: 4 UP osc NAME-OST0000-osc-ffff... UUID 5 NID"
_MOST_TARGETS = 1_000_000


def recognises(head: Head) -> bool:
    """True with only BEGIN and devices among the first lines, a connection to a NID among them."""
    lines = [line for line in head.lines[:200] if line.strip()]
    devices = [_DEVICE.fullmatch(line) for line in (lines[:-1] or lines)]
    clock = WallTimes(None)
    known = all(d or stamp_of(t, clock) for d, t in zip(devices, lines, strict=False))
    return known and any(d and d["nid"] and d["type"] in ("osc", "mdc") for d in devices)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Edges in the order of the log. Malformed lines are reported. Raises InputFileError: unreadable."""
    here: set[str] = set()
    latest = -1
    clock = WallTimes(settings.zone, ascending=True)
    for time_ns, line, begins, stamp in dated_lines(path, settings, warn, clock):
        if begins:
            here.clear()
            if time_ns < latest:
                what = "this text is older than the one before it: taken as it comes"
                warn(bad(path, line.number, what, "texts in the order of time"))
            latest = max(latest, time_ns)
        text = line.text
        if not text.strip() or stamp:
            continue
        found = _DEVICE.fullmatch(text)
        if found is None:
            warn(bad(path, line.number, f"no device: {shown(text)}", _EXPECTED))
            continue
        connection = _CONNECTION.fullmatch(found["name"])
        name = target(connection[1]) if connection and found["type"] == "osc" else None
        nid = found["nid"] or ""
        if name is None or found["state"] != "UP" or not _NID.fullmatch(nid) or name in here:
            continue
        here.add(name)
        if len(here) <= _MOST_TARGETS:
            yield Edge(SOURCE, system_of(name) or settings.system, time_ns, "ost", name, nid)
