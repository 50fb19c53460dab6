"""Lustre's names of components and operations, and iosonde's names for them."""

from __future__ import annotations

import math
import re

OPERATIONS: dict[str, str] = {
    "open": "opens",
    "close": "closes",
    "mknod": "mknods",
    "link": "links",
    "unlink": "unlinks",
    "mkdir": "mkdirs",
    "rmdir": "rmdirs",
    "rename": "renames",
    "getattr": "getattrs",
    "setattr": "setattrs",
    "getxattr": "getxattrs",
    "setxattr": "setxattrs",
    "statfs": "statfss",
    "sync": "syncs",
    "punch": "punches",
    "create": "creates",
    "readdir": "readdirs",
}
"""Lustre's operation -> metric. Others (ping, connect, llog_init) serve no user: left out."""

_TARGET = re.compile(r"([A-Za-z0-9][\w.+@:-]{0,127}?)-((?:OST|MDT)[0-9a-fA-F]{4})(?:_UUID)?")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?")


def target(text: str) -> str | None:
    """``work-OST0003_UUID`` -> ``work-OST0003``; None if it is no OST or MDT."""
    found = _TARGET.fullmatch(text)
    return f"{found[1]}-{found[2]}" if found else None


def system_of(name: str) -> str:
    """File system of a target; "" if not in its name."""
    found = _TARGET.fullmatch(name)
    return found[1] if found else ""


def level_of(name: str) -> str:
    """Level ``ost`` or ``mdt``; "" for anything else."""
    found = _TARGET.fullmatch(name)
    return found[2][:3].lower() if found else ""


def number(text: str) -> float | None:
    """A finite non-negative number in printf format; None for anything else (nan, inf, -1, "")."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
