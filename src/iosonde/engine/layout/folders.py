"""Listings of folders of the store; a missing folder is empty.

A folder that cannot be listed, for example of a host whose files are its owner's alone, or a file in its place, is
named and left out: the others answer. Only a store that cannot be entered at all ends a question.
"""

from __future__ import annotations

import os
from pathlib import Path

from iosonde.engine.left_out import leave_out
from iosonde.engine.reading import reading
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import StoreError

_RIGHT = "the right to read it"


def folders_in(path: Path) -> list[Path]:
    """Folders in a folder, hidden ones left out. Raises StoreError where its parent cannot be entered."""
    return [
        entry for entry in _entries(path) if _is_folder(entry) and not entry.name.startswith(".")
    ]


def files_in(path: Path, suffix: str) -> list[Path]:
    """Files in a folder with a suffix, without hidden ones. Raises StoreError if a table cannot be listed."""
    return [e for e in _entries(path) if e.suffix == suffix and not e.name.startswith(".")]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _entries(path: Path) -> list[Path]:
    reading(path)
    try:
        return list(path.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        if not (path.parent.is_dir() and os.access(path.parent, os.X_OK)):
            raise StoreError(
                f"cannot list {path}: {error.strerror}",
                expected="a readable store folder",
                hint=Advice(Argument("store", "DIR"), " or IOSONDE_STORE"),
            ) from error
        leave_out(path, f"cannot be listed: {error.strerror}", _RIGHT)
        return []
