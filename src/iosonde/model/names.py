"""Names as people type them, and file names of hosts and servers (rust/probe/src/probe/state.rs)."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence

_SHORTEST_RUN = 4


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


def spellings(text: str) -> set[str]:
    """Variants of a name or path: as typed, without a trailing slash, and absolute."""
    return {text, text.rstrip("/") or "/", os.path.abspath(text)}  # noqa: PTH100 - resolves .. only


def runs_called(word: str, run_ids: Sequence[str]) -> list[str]:
    """Run of this id; else all with this prefix, as ``mdw`` for ``mdw-i0``; else, from 4 letters on, any match."""
    if word in run_ids:
        return [word]
    found = [run_id for run_id in run_ids if word and run_id.startswith(f"{word}-")]
    if not found and len(word) >= _SHORTEST_RUN:
        found = [run_id for run_id in run_ids if run_id.startswith(word)]
    return found
