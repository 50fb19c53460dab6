"""The phase find: size and name of every entry below a directory, in one thread as ``find`` does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_ASK_EVERY = 256


class FindCount(NamedTuple):
    """Numbers of examined and matching entries, and True if an end was wanted."""

    examined: int
    matching: int
    stopped: bool


def find(root: Path, wanted: Callable[[], bool], size_bytes: int, part: str = "01") -> FindCount:
    """Examine all entries below ``root``; a match is a file of ``size_bytes`` with ``part`` in its name.

    No link is followed; entries that vanish meanwhile are left out.
    """
    examined = matching = 0
    folders = [str(root)]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                except OSError:
                    continue
                examined += 1
                matching += status.st_size == size_bytes and part in entry.name
                if examined % _ASK_EVERY == 0 and wanted():
                    return FindCount(examined, matching, True)
    return FindCount(examined, matching, wanted())
