"""Atomic file writes: a draft under a dot name beside the file, then a rename.

A store names users, jobs and applications. The store itself and the tables that name them are made for their owner
alone (0700); what is made in a folder of the store has the permissions of that folder, so ``chmod`` of a folder lets
others read.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from pathlib import Path

_KEPT_S = 3600
"""Age above which a draft is a dead process's."""
_GROWING_S = 60.0
"""Time without an append after which a file is complete: an agent appends every few seconds."""
_PRIVATE = 0o700
PRIVATE_TABLES = frozenset(
    ("jobs", "scalars", "metrics", "topology", "described", "runs", "transfers", "rates")
)
"""Tables that name users, jobs or applications."""
_TABLES = PRIVATE_TABLES | {"samples", "rollups", "judged", "events"}
_DEPTH = 3
"""Levels of folders of a table: samples/date=.../host=..."""


def draft_of(path: Path) -> Path:
    """Path of a draft for ``path``; makes the folder, and removes old drafts of others.

    The draft is there already, empty and for its owner alone; ``permitted`` gives it the permissions of its folder.
    """
    make_folder(path.parent)
    for old in path.parent.glob(f".{path.stem}.*{path.suffix}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - old.stat().st_mtime > _KEPT_S:
                old.unlink()
    draft = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return draft


def make_folder(folder: Path) -> None:
    """Make a folder of a store, and missing parents. Raises OSError."""
    missing = [folder]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):
            one.mkdir(_PRIVATE)
            if _inherits(one, folder):
                one.chmod(stat.S_IMODE(one.parent.stat().st_mode) & 0o777 | _PRIVATE)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def permitted(path: Path) -> None:
    """Give a file the read permissions of its folder. Raises OSError."""
    path.chmod(stat.S_IMODE(path.parent.stat().st_mode) & 0o666 | 0o600)


def _inherits(one: Path, folder: Path) -> bool:
    """True if a folder on the way to ``folder`` lies in a table, or is one without personal data."""
    depth = len(folder.parts)
    places = range(max(0, depth - _DEPTH), depth)
    table = max((place for place in places if folder.parts[place] in _TABLES), default=depth)
    place = len(one.parts) - 1
    return place > table or (place == table and one.name not in PRIVATE_TABLES)


def lately_written(path: Path) -> bool:
    """True for an incomplete file that may still be written, or has vanished."""
    try:
        return time.time() - path.stat().st_mtime < _GROWING_S
    except OSError:
        return True


def is_blank(path: Path) -> bool:
    """True if a file is empty, and has been for a while."""
    try:
        return path.stat().st_size == 0 and not lately_written(path)
    except OSError:
        return False


def sync(path: Path) -> None:
    """Wait until a file or folder is on the device."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
