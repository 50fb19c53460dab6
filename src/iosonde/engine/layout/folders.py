"""Listings of folders of the store; a missing folder is empty.

A folder within a table that cannot be listed, for example of a host whose files are its owner's alone, is named and
left out: the others answer.
"""

from __future__ import annotations

from pathlib import Path

from iosonde.engine.left_out import leave_out
from iosonde.engine.reading import reading
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import StoreError

_RIGHT = "the right to read it"
_TABLES = frozenset(("samples", "rollups", "spool", "windows", "events", "runs", "jobs", "metrics"))
"""Tables whose listing must succeed for a query to have an answer."""


def folders_in(path: Path) -> list[Path]:
    """Folders in a folder, without hidden ones. Raises StoreError if a table cannot be listed."""
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
        if path.name not in _TABLES:
            if isinstance(error, NotADirectoryError):
                return []
            leave_out(path, f"cannot be listed: {error.strerror}", _RIGHT)
            return []
        raise StoreError(
            f"cannot list {path}: {error.strerror}",
            expected="a readable store folder",
            hint=Advice(Argument("store", "DIR"), " or IOSONDE_STORE"),
        ) from error
