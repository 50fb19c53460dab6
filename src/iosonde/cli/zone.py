"""The reader's time zone by name: what comes back on Sundays needs to know summer from winter."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

_LINK = Path("/etc/localtime")


def local_zone(link: Path = _LINK) -> tzinfo | None:
    """The zone that TZ or the system's link names; else the present offset, whatever the season."""
    named = os.environ.get("TZ", "").lstrip(":")
    name = named or str(link.resolve()).rpartition("/zoneinfo/")[2]
    if name.rpartition("/")[2] in ("UTC", "UCT", "Universal", "Zulu"):
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return datetime.now().astimezone().tzinfo
