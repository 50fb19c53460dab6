"""Any table with one row per job -> JobTable, with its defects.

What columns mean is said by a mapping (``table_toml``), is known (``table_known``), or is what they are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.lines import Warn, bad, shown
from iosonde.connectors.source import Settings
from iosonde.connectors.tables.builtin_mappings import by_own_names, known_mappings
from iosonde.connectors.tables.columns import Values, joined, texts_of
from iosonde.connectors.tables.csv_text import Columns, read_columns
from iosonde.connectors.tables.filters import filtered
from iosonde.connectors.tables.mapping import Mapping, Metric, Time
from iosonde.connectors.tables.order import by_begin
from iosonde.connectors.tables.records import header_of
from iosonde.connectors.tables.times import Read, disagreement, instants
from iosonde.connectors.tables.toml_table import zone_of
from iosonde.connectors.tables.unparsable_cells import about_time, told_number
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints, Texts

    Odd = dict[str, list[tuple[int, str]]]

__all__ = ["ReadTable", "choose", "read_table"]


class ReadTable(NamedTuple):
    """A table, notes on it, and the mapping used."""

    table: JobTable
    notes: tuple[Note, ...]
    mapping: Mapping


def choose(
    path: Path,
    given: Sequence[Mapping] = (),
    text: Path | None = None,
    names: Sequence[str] = (),
) -> Mapping:
    """First mapping whose columns a table has: of ``given``, else of the built-in ones.

    ``text``: where the table is as text, if not in ``path``; ``names``: its columns, if they are known. Without
    any mapping, columns are what they are called. Raises UsageError: none of ``given`` fits (with file, table and
    key of the nearest); InputFileError: unreadable.
    """
    known = tuple(names)
    names = known or header_of(text or path)
    problems: list[tuple[int, Mapping, list[tuple[str, str]]]] = []
    for place, mapping in enumerate(given):
        lacks = mapping.missing(known or header_of(text or path, mapping.delimiter or None))
        if not lacks:
            return mapping
        problems.append((place, mapping, lacks))
    if problems:
        _, nearest, lacks = min(problems, key=lambda one: (len(one[2]), one[0]))
        key, column = lacks[0]
        raise UsageError(
            f"{nearest.place}, {key}: {path} has no column {column!r}",
            expected="one of " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else ""),
            hint=Advice("another ", Argument("mapping")) if len(given) > 1 else "",
        )
    return next(
        (one for one in known_mappings() if not one.missing(names)), by_own_names(path, names)
    )


def read_table(
    path: Path, settings: Settings, warn: Warn, mapping: Mapping, *, text: Path | None = None
) -> ReadTable:
    """Read a table as jobs, in the order of their start. ``text``: the table as text, if not in ``path``.

    ``warn`` gets rows that are left out because they are no rows. Rows left out for what they say are in
    ``reasons`` of the table, cells that are not used are NaN with a flag. Raises UsageError (the mapping
    does not fit), InputFileError (unreadable; no row).
    """
    columns = read_columns(path, mapping.texts, warn, delimiter=mapping.delimiter, text=text)
    if not len(columns):
        raise bad(path, 2, "there is no row", "a row a job below the names")
    notes = [note for note in columns.notes if _concerns(note, columns, mapping)]
    begin, end = _times(columns, mapping, settings, notes)
    others: dict[str, Floats] = {}
    for join in mapping.joins:
        others.update(joined(join, columns, begin, mapping, warn))
    values = Values(columns, mapping, others)
    odd: Odd = {}
    metrics = {name: values(name) for name in others}
    for metric in mapping.metrics:
        if not metric.optional or values.has(metric):
            metrics[metric.name] = _metric(metric, columns, values, odd, notes)
        elif source := next((name for name in metric.columns if name in columns.words), None):
            line, cell = columns.words[source]
            what = f"{columns.path}, column {source}: no numbers ({told_number(line, cell)})"
            notes.append(Note("not-a-number", what, len(columns)))
    if mapping.others:
        free = (name for name in columns.numbers if name not in mapping.uses | metrics.keys())
        metrics |= {name: columns.numbers[name] for name in free if not _nameless(name)}
    file_system = texts_of(mapping.file_system, columns, values)
    if not mapping.file_system.columns:
        file_system[:] = settings.system
    motif = _motif(mapping, columns, values)
    job_id, step = (texts_of(one, columns, values) for one in (mapping.job_id, mapping.step))
    whole = JobTable(
        job_id=job_id,
        step=step,
        start_ns=begin,
        end_ns=end,
        file_system=file_system,
        motif=motif,
        metrics=metrics,
        abouts=dict(mapping.abouts),
        flags=_flags(odd),
        source=path.name,
        labels={name: texts_of(words, columns, values) for name, words in mapping.labels},
        categories={name: texts_of(words, columns, values) for name, words in mapping.categories},
        sizes=_sizes(columns, mapping, values, notes),
    )
    kept, reasons, more = filtered(whole, columns, mapping, values)
    if mapping.begin is not None:
        _tell_begins(columns, mapping.begin, begin, warn)
    table = whole.take(kept)
    table = table.take(by_begin(table))
    if len(table) < len(whole):
        table = JobTable(**{**vars(table), "reasons": reasons})
    return ReadTable(table, (*notes, *more), mapping)


def _sizes(
    columns: Columns, mapping: Mapping, values: Values, notes: list[Note]
) -> dict[str, Floats]:
    """Nodes and ranks; malformed sizes are missing, and a column of texts is left out with a note."""
    found = {}
    for name, column in mapping.sizes:
        if column in columns.words:
            line, cell = columns.words[column]
            what = f"{columns.path}, column {column}: no numbers ({told_number(line, cell)})"
            notes.append(Note("not-a-number", what, len(columns)))
        else:
            size = values(column)
            found[name] = np.where(size > 0, size, np.nan)
    return found


def _tell_begins(columns: Columns, time: Time, begin: Ints, warn: Warn) -> None:
    """Report rows without a start."""
    name = next((name for name in time.columns if name in columns.texts), "")
    for row in np.flatnonzero(begin == NULL_NS).tolist():
        cell = columns.texts[name][row]
        advice = about_time(cell, text=time.unit == "text")
        what = (
            f"{columns.path}, line {int(columns.line[row])}: {shown(cell or 'nothing')} is no begin"
        )
        warn(InputFileError(what, expected=advice.expected, hint=advice.hint))


def _nameless(name: str) -> bool:
    """True for the column of row numbers that pandas writes, and for one without a name."""
    return name.startswith("column_") or name == "index"


def _concerns(note: Note, columns: Columns, mapping: Mapping) -> bool:
    """True unless the note is on an unmapped column; unmapped columns count if there are no others."""
    used = mapping.uses & set(columns.names)
    return not mapping.metrics or any(f"column {name}, first" in note.what for name in used)


def _times(
    columns: Columns, mapping: Mapping, settings: Settings, notes: list[Note]
) -> tuple[Ints, Ints]:
    zone = zone_of(mapping.zone) if mapping.zone else settings.zone

    def read(time: Time | None) -> tuple[Read, str]:
        nothing = Read(np.full(len(columns), NULL_NS, dtype=np.int64), ())
        name = next((n for n in time.columns if n in columns.texts), None) if time else None
        if time is None or name is None:
            return nothing, ""
        where = f"{columns.path}, column {name}"
        cells = columns.texts[name].tolist()
        return instants(cells, time.unit, zone, where, named=bool(mapping.zone)), where

    (begin, _), (end, told_in) = read(mapping.begin), read(mapping.end)
    doubtful, where = read(mapping.doubtful)
    notes += [*begin.notes, *end.notes]
    notes += disagreement(begin.ns, doubtful.ns, where) if where else ()
    backwards = (begin.ns != NULL_NS) & (end.ns != NULL_NS) & (end.ns < begin.ns)
    if backwards.any():
        line = int(columns.line[np.flatnonzero(backwards)[0]])
        what = (
            f"{told_in}, first in line {line}: ends before it begins; its end is taken as missing"
        )
        notes.append(Note("clock-skew", what, int(backwards.sum())))
    return begin.ns, np.where(backwards, NULL_NS, end.ns)


def _metric(
    metric: Metric, columns: Columns, values: Values, odd: Odd, notes: list[Note]
) -> Floats:
    """A metric's values; those recorded too long before (or well after) the start are missing."""
    found = values(metric.name)
    source = values.source(metric)
    marks = list(columns.odd.get(source, ())) if source else []
    age = next((columns.numbers[name] for name in metric.age if name in columns.numbers), None)
    if age is not None:
        stale = ((age > metric.oldest_s) | (age < -3600)) & ~np.isnan(found)
        if stale.any():
            found = np.where(stale, np.nan, found)
            marks += [(int(row), "stale") for row in np.flatnonzero(stale)]
            worst = float(age[stale][np.abs(age[stale]).argmax()])
            when = "before" if worst > 0 else "after"
            what = f"{columns.path}, {' or '.join(metric.age)}: up to {abs(worst):.0f} s {when} the begin"
            if not any(note.what == what for note in notes):
                notes.append(Note("stale", what, int(stale.sum())))
    if marks:
        odd[metric.name] = marks
    return found


def _motif(mapping: Mapping, columns: Columns, values: Values) -> Texts:
    parts = [texts_of(part, columns, values).tolist() for part in mapping.motif]
    rows = zip(*parts, strict=True) if parts else ((),) * len(columns)
    return np.array([" ".join(word for word in row if word) for row in rows], dtype=object)


def _flags(odd: Odd) -> dict[tuple[int, str], tuple[str, ...]]:
    flags: dict[tuple[int, str], tuple[str, ...]] = {}
    for metric, marks in odd.items():
        for row, flag in marks:
            flags[row, metric] = (*flags.get((row, metric), ()), flag)
    return flags
