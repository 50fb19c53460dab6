"""Where a table of jobs comes from: a file, or the store. The one place that chooses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from iosonde.analysis.peak import with_derived
from iosonde.connectors.source import Settings
from iosonde.connectors.table import choose, read_table
from iosonde.connectors.table_toml import load_mapping
from iosonde.model.errors import InputFileError, MissingPartError, NothingMeasuredError
from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note

Told = Callable[[str], None]


def from_file(path: Path, mapping: Path | None, tell: Told) -> JobTable:
    """The jobs of a table with a row a job, cleaned and with what follows from its columns.

    ``mapping``: a file that says what columns mean; None: as they are known, or called. ``tell`` gets what was
    left out and why. Raises UsageError (mapping), InputFileError (unreadable).
    """
    refused: list[InputFileError] = []
    chosen = choose(path, () if mapping is None else (load_mapping(mapping),))
    read = read_table(path, Settings(), refused.append, chosen)
    table, notes = with_derived(read.table)
    for line in (*map(str, refused[:3]), *table.reasons, *map(_said, (*read.notes, *notes))):
        tell(line)
    if len(refused) > 3:
        tell(f"{path}: {len(refused) - 3} more rows are no rows")
    return table


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
