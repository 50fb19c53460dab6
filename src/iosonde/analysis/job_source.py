"""Where a table of jobs comes from: a file, or the store. The one place that chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.analysis.own_runs import own_runs
from iosonde.analysis.peak import with_derived
from iosonde.connectors.source import Settings
from iosonde.connectors.table import choose, read_table
from iosonde.connectors.table_toml import load_mapping
from iosonde.model.errors import InputFileError, NothingMeasuredError
from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note
from iosonde.store import jobs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
    table = together(jobs.read_table(root), own_runs(root))
    if not len(table):
        raise NothingMeasuredError(
            f"there are no jobs in {root}", hint="'iosonde import', or TABLE"
        )
    return with_derived(table).table


def together(one: JobTable, other: JobTable) -> JobTable:
    """Rows of both, by begin; a metric that one of them has not is missing in its rows."""
    if not len(one) or not len(other):
        return one if len(one) else other
    n = len(one)
    names = list(dict.fromkeys((*one.metrics, *other.metrics)))

    def column(table: JobTable, name: str) -> Floats:
        return table.metrics.get(name, np.full(len(table), np.nan))

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(one, name), getattr(other, name)])

    both = JobTable(
        job_id=joined("job_id"),
        step=joined("step"),
        start_ns=joined("start_ns"),
        end_ns=joined("end_ns"),
        file_system=joined("file_system"),
        motif=joined("motif"),
        metrics={name: np.concatenate([column(one, name), column(other, name)]) for name in names},
        abouts={**other.abouts, **one.abouts},
        flags={**one.flags, **{(r + n, m): f for (r, m), f in other.flags.items()}},
        reasons=(*one.reasons, *other.reasons),
        source=one.source,
    )
    return both.take(np.argsort(both.start_ns, kind="stable"))
