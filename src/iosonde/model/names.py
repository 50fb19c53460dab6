"""File names for names of hosts and servers, as the probe makes them (rust/probe/src/probe/state.rs)."""

from __future__ import annotations

import re
import zlib


def slug(text: str) -> str:
    """The text itself if it is a safe file name, else with a checksum so that no two collide."""
    clean = re.sub(r"[^A-Za-z0-9_.-]", "-", text.strip("/")).lstrip(".")[:80]
    return clean if clean == text and clean else f"{clean}-{zlib.crc32(text.encode()):08x}"


def rank_host(host: str, rank: int) -> str:
    """Host in a rank's samples: ranks stay apart, and are pooled by target or run."""
    return f"{host}.rank{rank:04d}"


def host_of_rank(host: str) -> str | None:
    """The host before ``.rank0007``; None for a host that is no rank."""
    match = re.fullmatch(r"(.+)\.rank\d{4,}", host)
    return match[1] if match else None
