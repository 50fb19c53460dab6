"""``xtdb2proc``: position of each processor in a torus or dragonfly, as ``x,y,z``.

Lines of ``field=value`` pairs; others begin with ``#``. A processor is named by its ``processor_id`` alone: node
names end in it (zero-padded or not), whatever they begin with. The file does not say when it was written: an edge
is as of ``Settings.day``, else of 0, which is before every job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time
from itertools import islice
from pathlib import Path

from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.metrics import Edge

KIND = "xtdb2proc"
_PAIR = re.compile(r"(\w{1,64})=('[^']*'|[^,]*)(?:,|$)", re.ASCII)
_WANTED = ("processor_id", "x_coord", "y_coord", "z_coord")
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_MOST_NODES = 2_000_000


def recognises(head: Head) -> bool:
    """True if one of the first records has an id and coordinates."""
    records = (line for line in islice(head.lines, 200) if line[:1] not in ("#", ""))
    return any(all(f"{name}=" in line for name in _WANTED) for line in records)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield an edge per processor. Raises InputFileError (unreadable)."""
    time_ns = 0
    if settings.day is not None:
        time_ns = WallTimes(settings.zone).ns(datetime.combine(settings.day, time())) or 0
    seen: dict[int, str] = {}
    for line in read_lines(path, warn):
        text = line.text.strip()
        if not text or text.startswith("#"):
            continue
        wanted = "processor_id, x_coord, y_coord and z_coord as whole numbers"
        pairs = {match[1]: match[2].strip("'") for match in _PAIR.finditer(text)}
        found = [pairs.get(name, "") for name in _WANTED]
        # The last pair of a line without an end may be cut.
        if not all(_WHOLE.fullmatch(word) for word in found) or (
            not line.ended and list(pairs)[-1] in _WANTED
        ):
            warn(bad(path, line.number, f"the record is {shown(text)}", wanted))
            continue
        number, *place = (int(word) for word in found)
        where = ",".join(map(str, place))
        if (known := seen.get(number)) is not None:
            if known != where:
                what = f"processor {number} lies at {where} too, {known} counts"
                warn(bad(path, line.number, what, "each processor once"))
            continue
        if len(seen) >= _MOST_NODES:
            warn(bad(path, line.number, "too many processors", f"at most {_MOST_NODES}"))
            return
        seen[number] = where
        yield Edge("xtdb2proc", settings.system, time_ns, "node", str(number), where)
