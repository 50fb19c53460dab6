"""Node of a /proc file or of an exporter's page, which does not name it itself."""

from __future__ import annotations

from pathlib import Path

from iosonde.connectors.source import Settings

ENDINGS = ("mountstats", "nfsiostat", "rpcnfs", "cgroups", "diskstats", "prom")
"""Endings of file names: NODE.mountstats is of NODE."""
_PACKED = ("gz", "xz", "bz2", "zst")


def node_of(path: Path, settings: Settings) -> str:
    """The configured node, else the part before an ending of ``ENDINGS`` in the file's name, else ""."""
    if settings.node:
        return settings.node
    parts = path.name.split(".")
    while len(parts) > 1 and parts[-1].lower() in _PACKED:
        parts.pop()
    return ".".join(parts[:-1])[:255] if len(parts) > 1 and parts[-1] in ENDINGS else ""
