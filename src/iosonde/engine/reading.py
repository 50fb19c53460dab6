"""The file that a process is reading, visible to another process: a hung query names its file.

Nothing is noted until ``share`` was called; then a note costs a copy of a path into memory that forks have in common.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable

_BYTES = 4096
_slot: list[mmap.mmap] = []


def share() -> Callable[[], str]:
    """Let forks of this process record the files they read; the returned function gives the latest one."""
    slot = mmap.mmap(-1, _BYTES)
    _slot[:] = [slot]
    return lambda: slot[:].rstrip(b"\0").decode("utf-8", "replace")


def reading(path: os.PathLike[str] | str) -> None:
    """Record the next file before reading it, since the read may never return."""
    if _slot:
        text = os.fsencode(path)[:_BYTES]
        _slot[0][:] = text.ljust(_BYTES, b"\0")
