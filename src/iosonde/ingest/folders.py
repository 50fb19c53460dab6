"""Folders of logs: every file in them that can be read, with what reads it; the rest is counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.compressed import unreadable
from iosonde.connectors.containers import container_error
from iosonde.connectors.darshan.head import is_log
from iosonde.connectors.source import head_of
from iosonde.connectors.sources import every
from iosonde.connectors.unsupported import near_miss
from iosonde.ingest.kinds import kind_of
from iosonde.ingest.records import Records
from iosonde.ingest.tables import given_reader, table_reader
from iosonde.model.errors import InputFileError, UsageError

if TYPE_CHECKING:
    from iosonde.connectors.sources import Connector
    from iosonde.connectors.tables.mapping import Mapping

MOST_FILES = 1_000_000
_TREES = ("proc", "sys")
_BY_ITS_FOLDER = "Darshan log"


@dataclass
class FolderContents:
    """What a folder holds."""

    records: Records = field(default_factory=list)
    """The folder itself, where a connector reads folders (Darshan logs, a kernel's tree), and files."""
    others: list[Path] = field(default_factory=list)
    """Files of benchmarks and probes."""
    unknown: list[Path] = field(default_factory=list)
    """Files that nothing can read."""
    broken: list[InputFileError] = field(default_factory=list)
    """Files and folders that cannot be opened."""


def look(
    folder: Path,
    mappings: Sequence[Mapping] = (),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> FolderContents:
    """What is in a folder and below. No link is followed; names that begin with a dot are left out.

    ``progress`` gets how many files were looked at, of how many. Raises InputFileError: more than ``MOST_FILES``.
    """
    found = FolderContents()
    connectors = list(every())
    for one in connectors:
        takes = getattr(one, "recognises_folder", None)
        with suppress(InputFileError):
            if takes is not None and takes(folder):
                found.records.append((folder, one))
    kinds = {one.KIND for _, one in found.records}
    tree = any(kind != _BY_ITS_FOLDER for kind in kinds)
    files = list(_files(folder, found, tree))
    for done, path in enumerate(files, 1):
        if progress is not None:
            progress(done, len(files))
        _sort(path, connectors, mappings, found)
    return found


def why_unknown(path: Path) -> str:
    """Why nothing can read a file, for people."""
    error = unreadable(path)
    with suppress(InputFileError):
        error = error or container_error(path)
    if error is not None:
        what = error.what.removeprefix(f"{path} ").removeprefix(f"{path}: ")
        return f"{what}; try {error.hint}" if error.hint else what
    with suppress(InputFileError):
        what, hint = near_miss(head_of(path).lines)
        if what:
            return f"{what}; try {hint}" if hint else what
    return "no kind that iosonde reads"


def _files(folder: Path, found: FolderContents, tree: bool) -> Iterator[Path]:
    """Regular files, folder by folder; ``tree``: without those of a kernel's trees, which are read by their place."""
    waiting, n = [folder], 0
    while waiting:
        here = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            what = f"cannot read {here}: {error.strerror or error}"
            found.broken.append(InputFileError(what, expected="a readable folder"))
            continue
        below = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not (tree and entry.name in _TREES):
                    below.append(here / entry.name)
            elif entry.is_file(follow_symlinks=False):
                n += 1
                if n > MOST_FILES:
                    what = f"{folder} has more than {MOST_FILES} files"
                    raise InputFileError(what, expected="fewer", hint="parts of it")
                yield here / entry.name
        waiting += reversed(below)


def _sort(
    path: Path, connectors: Sequence[Connector], mappings: Sequence[Mapping], found: FolderContents
) -> None:
    """Puts one file where it belongs."""
    try:
        head = head_of(path)
    except InputFileError as error:
        found.broken.append(error)
        return
    if is_log(head.raw):
        return  # read with the folder, on all CPUs
    given = given_reader(path, mappings) if head.data else None
    reader = given or next((one for one in connectors if one.recognises(head)), None)
    if reader is not None:
        found.records.append((path, reader))
        return
    if not head.data or unreadable(path) is not None:
        found.unknown.append(path)
        return
    with suppress(InputFileError):
        kind_of(path)
        found.others.append(path)
        return
    table = None
    with suppress(InputFileError, UsageError):
        table = table_reader(path, mappings)
    if table is None:
        found.unknown.append(path)
    else:
        found.records.append((path, table))
