"""Where a table of jobs comes from: a file, or the store. The one place that chooses."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from iosonde.analysis.peak import with_derived
from iosonde.analysis.tables import load_tables, mappings
from iosonde.connectors.source import Settings
from iosonde.model.errors import InputFileError, MissingPartError, NothingMeasuredError
from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note

Told = Callable[[str], None]


def from_file(path: Path, given: Sequence[Path], settings: Settings, tell: Told) -> JobTable:
    """The jobs of a table with a row a job, cleaned and with what follows from its columns.

    ``given``: files (or folders of files) that say what columns mean; none: as they are known, or called.
    ``tell`` gets what was left out and why. Raises UsageError (mapping), InputFileError (unreadable).
    """
    refused: list[InputFileError] = []
    loaded = load_tables([path], mappings(given), settings, refused.append)[0]
    for line in (*map(str, refused[:3]), *loaded.table.reasons, *map(_said, loaded.notes)):
        tell(line)
    if len(refused) > 3:
        tell(f"{path}: {len(refused) - 3} more rows are no rows")
    return loaded.table


def _said(note: Note) -> str:
    return f"{note.flag}: {note.what}" + (f" (x {note.n})" if note.n > 1 else "")


def from_store(root: Path) -> JobTable:
    """The jobs of a store. Raises NothingMeasuredError: it holds none."""
    try:
        module = importlib.import_module("iosonde.store.jobs")
    except ModuleNotFoundError as error:
        raise MissingPartError("this iosonde keeps no jobs in its store", hint="a TABLE") from error
    table: JobTable = module.read_table(root)
    if not len(table):
        raise NothingMeasuredError(
            f"there are no jobs in {root}", hint="'iosonde import', or TABLE"
        )
    return with_derived(table).table
