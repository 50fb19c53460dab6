"""Lists of what a folder of the store holds; a folder that is not there holds nothing."""

from __future__ import annotations

from pathlib import Path

from iosonde.engine.reading import reading
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import StoreError


def folders_in(path: Path) -> list[Path]:
    """Folders in a folder, hidden ones left out. Raises StoreError where it cannot be listed."""
    return [entry for entry in _entries(path) if entry.is_dir() and not entry.name.startswith(".")]


def files_in(path: Path, suffix: str) -> list[Path]:
    """Its files with a suffix, likewise."""
    return [e for e in _entries(path) if e.suffix == suffix and not e.name.startswith(".")]


def _entries(path: Path) -> list[Path]:
    reading(path)
    try:
        return list(path.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"cannot list {path}: {error.strerror}",
            expected="a readable store folder",
            hint=Advice(Argument("store", "DIR"), " or IOSONDE_STORE"),
        ) from error
