"""Tables of jobs from files: each with its mapping, joined by mapping, with derived columns."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.lines import Warn
from iosonde.connectors.source import Settings
from iosonde.connectors.tables.mapping import Mapping
from iosonde.connectors.tables.mapping_toml import load_mapping
from iosonde.connectors.tables.order import by_begin
from iosonde.connectors.tables.table import choose, read_table
from iosonde.engine.foreign.tables import as_text
from iosonde.jobs.table.derived import Peak, with_derived
from iosonde.jobs.table.sizes import bases, unsized
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.jobs import LABELS, SIZES, JobTable
from iosonde.model.quality import LeftOut, Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Texts

Wanted = str | Sequence[str] | None
"""One name, several, or any."""


class Loaded(NamedTuple):
    """A table ready for analysis, notes on it, and the meaning of its columns."""

    table: JobTable
    notes: tuple[Note, ...]
    mapping: str


def mappings(given: Sequence[Path | Mapping]) -> list[Mapping]:
    """Mappings from files, and from all .toml files of folders; ready ones stay. Raises UsageError."""
    found: list[Mapping] = []
    for path in given:
        if isinstance(path, Mapping):
            found.append(path)
            continue
        several = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not several:
            raise UsageError(f"there is no mapping in {path}", expected="files that end in .toml")
        found += [load_mapping(one) for one in several]
    return found


def load_tables(
    paths: Sequence[Path],
    given: Sequence[Mapping],
    settings: Settings,
    warn: Warn,
    of: Peak = "max",
) -> list[Loaded]:
    """Tables of files (CSV, Parquet, JSON lines), in their order; files with one mapping are joined.

    Raises UsageError (no mapping fits), InputFileError (unreadable, no rows).
    """
    parts: dict[int, list[JobTable]] = {}
    used: dict[int, Mapping] = {}
    notes: dict[int, list[Note]] = {}
    for path in dict.fromkeys(paths):
        with as_text(path, warn) as text:
            mapping = choose(path, given, text)
            read = read_table(path, settings, warn, mapping, text=text)
        key = id(mapping)
        used[key] = mapping
        parts.setdefault(key, []).append(read.table)
        notes.setdefault(key, []).extend(read.notes)
    loaded = []
    for key, tables in parts.items():
        whole, more = with_derived(merged(tables), of)
        loaded.append(Loaded(whole, (*notes[key], *more), used[key].name))
    return loaded


def merged(tables: Sequence[JobTable]) -> JobTable:
    """Tables of one kind joined, in the order of start; missing columns are missing in rows; motifs without sizes.

    The same job again (id, step, begin, file system and motif) counts once.
    """
    if len(tables) == 1:
        return tables[0]
    tables = [unsized(table) for table in tables]
    names = list(dict.fromkeys(name for table in tables for name in table.metrics))
    metrics = {
        name: np.concatenate([t.metrics.get(name, np.full(len(t), np.nan)) for t in tables])
        for name in names
    }
    flags, begin = {}, 0
    for table in tables:
        flags.update({(row + begin, name): flag for (row, name), flag in table.flags.items()})
        begin += len(table)
    labels = {
        name: np.concatenate([table.label(name) for table in tables])
        for name in LABELS
        if any(name in table.labels for table in tables)
    }
    sizes = {
        name: np.concatenate([table.size(name) for table in tables])
        for name in SIZES
        if any(name in table.sizes for table in tables)
    }
    categories = {
        name: np.concatenate(
            [t.categories.get(name, np.full(len(t), "", dtype=object)) for t in tables]
        )
        for name in dict.fromkeys(name for table in tables for name in table.categories)
    }
    whole = JobTable(
        job_id=np.concatenate([table.job_id for table in tables]),
        step=np.concatenate([table.step for table in tables]),
        start_ns=np.concatenate([table.start_ns for table in tables]),
        end_ns=np.concatenate([table.end_ns for table in tables]),
        file_system=np.concatenate([table.file_system for table in tables]),
        motif=np.concatenate([table.motif for table in tables]),
        metrics=metrics,
        abouts={name: told for table in tables for name, told in table.abouts.items()},
        flags=flags,
        reasons=tuple(reason for table in tables for reason in table.reasons),
        source=", ".join(dict.fromkeys(table.source for table in tables)),
        labels=labels,
        categories=categories,
        sizes=sizes,
    )
    keys = zip(
        whole.job_id,
        whole.step,
        whole.start_ns.tolist(),
        whole.file_system,
        whole.motif,
        strict=True,
    )
    origin = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    first: dict[tuple[object, ...], int] = {}
    known = (whole.job_id != "").tolist()
    kept = [
        not named or first.setdefault(key, int(of)) == of
        for key, of, named in zip(keys, origin, known, strict=True)
    ]
    rest = whole.take(np.flatnonzero(kept))
    rest = rest.take(by_begin(rest))
    again = len(whole) - len(rest)
    if again:
        rest = replace(rest, reasons=(*rest.reasons, LeftOut(again, "the same job again")))
    return rest


def picked(
    table: JobTable,
    stratum: tuple[Wanted, Wanted],
    span_ns: tuple[int | None, int | None] = (None, None),
) -> JobTable:
    """Rows of a (file system, motif), each one or several, that started in a span, its end not included; None = any.

    Raises UsageError (the table has no such file system or motif), NothingMeasuredError (no row).
    """
    keep = np.ones(len(table), dtype=bool)
    for name, wanted in zip(("file_system", "motif"), stratum, strict=True):
        if wanted is None:
            continue
        rows = np.zeros(len(table), dtype=bool)
        for one in [wanted] if isinstance(wanted, str) else wanted:
            rows |= _named(table, name, one)
        keep &= rows
    since, until = span_ns
    keep &= (table.start_ns >= since) if since is not None else True
    keep &= (table.start_ns < until) if until is not None else True
    if not keep.any():
        raise NothingMeasuredError(f"{table.source} has no row for this question")
    return table if keep.all() else table.take(keep)


def _named(table: JobTable, name: str, wanted: str) -> Flags:
    """(n,) rows of a file system, or of a motif with or without its class of size. Raises UsageError: there is none."""
    column: Texts = getattr(table, name)
    known = sorted(set(column.tolist()))
    if name == "motif" and wanted not in known:
        column = bases(table)
    rows = column == wanted
    if not rows.any():
        near = difflib.get_close_matches(wanted, known, n=1)
        raise UsageError(
            f"{table.source} has no {name.replace('_', ' ')} {wanted!r}",
            expected="one of " + ", ".join(known[:12]),
            hint=repr(near[0]) if near else "",
        )
    return np.asarray(rows, dtype=np.bool_)
