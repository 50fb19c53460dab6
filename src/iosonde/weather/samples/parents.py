"""What imported tables say a target is part of: an enclosure, a model, a server."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iosonde.engine.parts import TOPOLOGY, parts, select

_OF_PARTS = "level NOT IN ('node', 'filesystem')"
"""SQL: levels whose parent is neither coordinates nor a mount point."""


def parents_of(root: Path) -> dict[str, frozenset[str]]:
    """Parents of each child as last seen by each source. Raises StoreError."""
    rows = []
    for columns in select(
        "time_ns, source, system, level, child, parent", parts(root, TOPOLOGY), _OF_PARTS
    ):
        values = [np.ma.getdata(column).tolist() for column in columns.values()]
        rows += list(zip(*values, strict=True))
    latest: dict[tuple[str, ...], int] = {}
    for time_ns, *named, _ in rows:
        latest[tuple(named)] = max(time_ns, latest.get(tuple(named), 0))
    found: dict[str, set[str]] = {}
    for time_ns, *named, parent in rows:
        if latest[tuple(named)] == time_ns:
            found.setdefault(named[3], set()).add(parent)
    return {child: frozenset(some) for child, some in found.items()}
