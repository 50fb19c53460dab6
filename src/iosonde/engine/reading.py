"""What a process is reading, where another can see it: a question that hangs says on which file.

Nothing is noted until ``share`` was called; then a note costs a copy of a path into memory that forks have in common.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable

_BYTES = 4096
_slot: list[mmap.mmap] = []


def share() -> Callable[[], str]:
    """Let forks of this process note what they read; the function gives the latest note."""
    slot = mmap.mmap(-1, _BYTES)
    _slot[:] = [slot]
    return lambda: slot[:].rstrip(b"\0").decode("utf-8", "replace")


def reading(path: os.PathLike[str] | str) -> None:
    """Note what is read next: said before it, because it may never return."""
    if _slot:
        text = os.fsencode(path)[:_BYTES]
        _slot[0][:] = text.ljust(_BYTES, b"\0")
