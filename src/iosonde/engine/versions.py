"""Messages about files of other versions; ``rust/core/src/stored.rs`` has the same."""

from __future__ import annotations

UPGRADE = "a newer iosonde"
"""Advice."""
WRITTEN = "written by a newer iosonde"


def other_version(found: object, ours: int) -> str:
    """A clause about a file or a line whose ``schema_version`` is not ``ours``."""
    if not isinstance(found, int) or isinstance(found, bool):
        return f"schema_version is no integer, expected {ours}"
    if found > ours:
        return newer(found, ours)
    return f"schema_version is {found}, expected {ours}"


def newer(found: int, ours: int) -> str:
    """A clause about a file or a line whose ``schema_version`` is newer."""
    return f"{WRITTEN} (schema {found}, this one reads {ours}): upgrade"
