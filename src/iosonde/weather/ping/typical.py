"""Typical latencies of operations by kind of file system, for places without a baseline.

Ranges of medians on healthy systems, wide on purpose: docs/methods/ping.md has their sources. Durations in ns.
"""

from __future__ import annotations

from typing import NamedTuple

from iosonde.host.mounts import LOCAL, MEMORY, OVERLAY, PARALLEL

SLOW_AT = 3.0
"""Multiple of the upper end of its range from which on a median is slow."""


class Typical(NamedTuple):
    """Range of an operation's median."""

    low_ns: int
    high_ns: int


_OPS = ("md_list", "md_stat", "md_read", "md_create", "md_delete", "data_read", "data_write")
_US = 1_000
_RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "memory": ((1, 50), (0.5, 20), (2, 50), (5, 100), (3, 100), (50, 2_000), (50, 2_000)),
    "local": ((5, 200), (1, 50), (3, 200), (10, 1_000), (10, 1_000), (200, 20_000), (200, 20_000)),
    "nfs": (
        *((50, 5_000), (1, 5_000), (200, 10_000), (500, 20_000), (300, 10_000)),
        *((1_000, 50_000), (1_000, 50_000)),
    ),
    "parallel": (
        *((100, 5_000), (1, 5_000), (200, 10_000), (300, 20_000), (300, 10_000)),
        *((500, 50_000), (500, 50_000)),
    ),
}
"""Microseconds, in the order of ``_OPS``."""
NAMES = {
    "memory": "a file system in memory",
    "local": "a local file system",
    "nfs": "NFS",
    "parallel": "a parallel file system",
}


def family(kind: str) -> str | None:
    """Row of the table for a file system by its name in the mount table; None if unknown."""
    if kind in MEMORY:
        return "memory"
    if kind in LOCAL or kind in OVERLAY:
        return "local"
    if kind in ("nfs", "nfs4"):
        return "nfs"
    return "parallel" if kind in PARALLEL or kind in ("ceph", "pvfs2") else None


def typical(kind: str, op: str) -> Typical | None:
    """Range of ``op``; None without a source."""
    row = family(kind)
    if row is None or op not in _OPS:
        return None
    low, high = _RANGES[row][_OPS.index(op)]
    return Typical(int(low * _US), int(high * _US))


def rows() -> dict[str, dict[str, Typical]]:
    """The whole table, by family and operation."""
    kinds = {"memory": "tmpfs", "local": "ext4", "nfs": "nfs", "parallel": "lustre"}
    return {
        name: {op: found for op in _OPS if (found := typical(kind, op)) is not None}
        for name, kind in kinds.items()
    }
