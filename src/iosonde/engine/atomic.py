"""Files that appear whole or not at all: written beside under a name with a dot, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

_KEPT_S = 3600
"""A draft older than this was left by a process that died."""


def draft_of(path: Path) -> Path:
    """A name for a draft of ``path``, whose folder is made; what others left of it long ago is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f".{path.stem}.*{path.suffix}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - old.stat().st_mtime > _KEPT_S:
                old.unlink()
    return path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")


def sync(path: Path) -> None:
    """Wait until a file or folder is on the device."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
