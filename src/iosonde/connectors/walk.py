"""Files in and below a folder, sorted by name: without following links or recursion."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.lines import Warn
from iosonde.model.errors import InputFileError

MOST_DEPTH = 100
"""Deepest level of folders visited."""


def entries_below(
    folder: Path, warn: Warn, *, hidden: bool = True, but: tuple[str, ...] = ()
) -> Iterator[os.DirEntry[str]]:
    """Yield every entry that is no folder. ``hidden``: with names that start with a dot; ``but``: folders left out.

    ``warn`` is told of folders below that cannot be read or lie too deep. Raises InputFileError: the folder cannot.
    """
    waiting = [iter(_entries(folder))]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif not hidden and entry.name.startswith("."):
            continue
        elif not entry.is_dir(follow_symlinks=False):
            yield entry
        elif entry.name not in but:
            try:
                if len(waiting) > MOST_DEPTH:
                    what = f"{entry.path} lies more than {MOST_DEPTH} folders deep"
                    raise InputFileError(what, expected="logs nearer to the folder that is named")
                waiting.append(iter(_entries(Path(entry.path))))
            except InputFileError as error:
                warn(error)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        what = f"cannot read {folder}: {error.strerror or error}"
        raise InputFileError(what, expected="a readable folder") from error
