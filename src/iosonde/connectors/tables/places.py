"""A table of parts: which disk is in which enclosure, of which model.

CSV with the columns ``child``, ``parent`` and ``level``, which may be missing: then ``part``. A child has a parent a
level, such as ``enclosure`` and ``model``. An edge is as of ``Settings.day``, else of the file's last change.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.file_times import recorded
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.metrics import Edge

KIND = "table of parts"
_NEEDED, _LEVEL = ("child", "parent"), "level"
_MOST = 1_000_000


def recognises(head: Head) -> bool:
    """True if the first line names these columns and no others."""
    names = _cells(head.lines[0]) if head.lines else []
    return set(_NEEDED) <= set(names) <= {*_NEEDED, _LEVEL} and len(names) == len(set(names))


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield an edge a row. Rows with an empty child or parent, and second parents of a level, are reported.

    Raises InputFileError (unreadable).
    """
    time_ns, _ = recorded(path, settings)
    seen: dict[tuple[str, str], str] = {}
    names: list[str] = []
    for number, line in enumerate(read_lines(path, warn)):
        cells = _cells(line.text)
        if not names:
            names = cells
            continue
        if not line.text.strip():
            continue
        row = dict(zip(names, cells, strict=False))
        if len(cells) != len(names) or not all(row.get(name) for name in _NEEDED):
            what = f"the row is {shown(line.text)}"
            warn(bad(path, line.number, what, f"{', '.join(names)}, none of them empty"))
            continue
        if number > _MOST:
            warn(bad(path, line.number, "too many rows", f"at most {_MOST:,}"))
            return
        level, parent = row.get(_LEVEL) or "part", row["parent"]
        if seen.setdefault((level, row["child"]), parent) != parent:
            what = f"{row['child']} has a second parent, {parent}, at level {level}"
            warn(bad(path, line.number, what, "a level of its own, such as enclosure or model"))
            continue
        yield Edge("table", settings.system, time_ns, level, row["child"], parent)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]), [])]
