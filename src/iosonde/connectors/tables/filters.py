"""Filter rows of a table: those that the mapping selects, of a known file system, with a start, without duplicates."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.tables.columns import Values
from iosonde.connectors.tables.csv_text import MISSING, Columns
from iosonde.connectors.tables.mapping import Filter, Mapping
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import JobTable
from iosonde.model.quality import LeftOut, Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Places


def filtered(
    table: JobTable, columns: Columns, mapping: Mapping, values: Values
) -> tuple[Places, tuple[LeftOut, ...], tuple[Note, ...]]:
    """(rows kept, numbers left out by reason, notes). Each row is left out for one reason only."""
    kept = np.ones(len(columns), dtype=bool)
    reasons: list[LeftOut] = []
    notes: list[Note] = []

    def leave_out(rows: Flags, why: str, flag: str = "") -> None:
        n = int((kept & rows).sum())
        if n:
            note = Note(flag, f"{columns.path}: {why}", n) if flag else None
            reasons.append(LeftOut(n, why, note))
            if note is not None:
                notes.append(note)
            kept[rows] = False

    if mapping.begin is not None:
        leave_out(table.start_ns == NULL_NS, "no begin", "missing")
    if mapping.file_system.columns:
        blank = np.array([not name for name in table.file_system], dtype=bool)
        leave_out(blank, "no file system", "incomplete")
    for one in mapping.filters:
        leave_out(~_passes(one, table, columns, values), one.said, one.flag)
    leave_out(_again(table, kept), "the same job again", "duplicate")
    return np.flatnonzero(kept), tuple(reasons), tuple(notes)


def _passes(one: Filter, table: JobTable, columns: Columns, values: Values) -> Flags:
    if one.kind == "began_by":
        began = (table.start_ns <= one.at_ns) & (table.start_ns != NULL_NS)
        return np.asarray(began, dtype=np.bool_)
    if one.kind == "excluded":
        cells = columns.texts[one.columns[0]].tolist()
        return np.array([cell not in one.values for cell in cells], dtype=bool)
    if one.kind == "holds":
        assert one.expression is not None
        return np.broadcast_to(
            one.expression.value_of(values, values.words) == 1, (len(columns),)
        ).copy()
    whole = np.ones(len(columns), dtype=bool)
    for name in one.columns or columns.names:
        if name in columns.texts:
            whole &= np.array([cell.lower() not in MISSING for cell in columns.texts[name]])
        elif name in columns.numbers:
            whole &= ~np.isnan(columns.numbers[name])
    return whole


def _again(table: JobTable, kept: Flags) -> Flags:
    """Mask of duplicate rows: same job, same time, same values."""
    again = np.zeros(len(table), dtype=bool)
    if not any(table.job_id) and (table.start_ns == NULL_NS).all():
        return again
    if len({*zip(table.job_id.tolist(), table.start_ns.tolist(), strict=True)}) == len(again):
        return again
    names = [name for name in table.metrics if name == "performance_bytes_per_s"]
    names = names or list(table.metrics)[:8]
    seen: Counter[tuple[object, ...]] = Counter()
    numbers = [np.nan_to_num(table.metrics[name], nan=-1.0).tolist() for name in names]
    fixed = (table.job_id, table.step, table.start_ns.tolist(), table.file_system, table.motif)
    for row, key in enumerate(zip(*fixed, *numbers, strict=True)):
        if kept[row]:
            again[row] = seen[key] > 0
            seen[key] += 1
    return again
