"""Files of a store that readers skipped: a warning for people, and a list for programs.

One damaged file never ends a question about the others. Whoever leaves one out says so here, with what is wrong and
what to try; the list is this process's memory, and a file that has changed since, or gone, is no longer on it.
"""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from iosonde.engine.stopping import current_stop
from iosonde.model.errors import DamagedFileWarning
from iosonde.model.text import clean_text

MOVE = "moving it out of the store; a copy from a backup brings its rows back"
"""Default advice for a skipped file."""
MOST = 1000
"""Most files on the list; the oldest entries go first."""

Identity = tuple[int, int, int, int, int]
"""Device, inode, size, and times of the last change of a file's bytes and of its inode."""


class LeftOutFile(NamedTuple):
    """A file that was skipped, wholly or in part."""

    path: str
    what: str
    hint: str

    def to_json(self) -> dict[str, str]:
        """Entry of JSON output and the API."""
        return {"path": self.path, "what": self.what, "try": self.hint}


_lock = threading.Lock()
_noted: dict[str, tuple[Identity | None, LeftOutFile]] = {}


def identity(path: Path) -> Identity | None:
    """Identity that changes with the file; None if it does not exist or its folder is unreadable."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a hot path: Path.stat takes twice as long
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def leave_out(
    path: Path, what: str, hint: str = MOVE, fate: str = "left out", *, shown: str = ""
) -> None:
    """Report that a file, or a part of it, does not count. ``what``: a clause about the file; ``shown``: its name.

    Raises StoppedError: the question was stopped, which may be what looks like a damaged file.
    """
    if stop := current_stop():
        stop.check()
    note = LeftOutFile(shown or clean_text(str(path)), clean_text(what), hint)
    with _lock:
        _noted.pop(str(path), None)
        _noted[str(path)] = (identity(path), note)
        if len(_noted) > MOST:
            del _noted[next(iter(_noted))]
    joint = ", " if note.what.startswith("line ") else " "
    text = f"{note.path}{joint}{note.what}; {fate}" + (f"; try {hint}" if hint else "")
    warnings.warn(text, DamagedFileWarning, stacklevel=3)


def left_out(root: Path) -> list[dict[str, str]]:
    """Skipped files below ``root`` that have not changed since, by path: ``path what try``."""
    folder = f"{root}/"
    with _lock:
        noted = [(path, *one) for path, one in _noted.items() if path.startswith(folder)]
    return [note.to_json() for path, was, note in sorted(noted) if identity(Path(path)) == was]


def with_left_out(document: dict[str, Any], root: Path) -> dict[str, Any]:
    """A JSON document with the field ``left_out``: skipped files of the store."""
    return {**document, "left_out": left_out(root)}
