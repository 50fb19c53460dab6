"""Correlations for programs: JSON-able data, and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import Frame
from iosonde.model.json_types import as_json

if TYPE_CHECKING:
    from iosonde.jobs.correlate.correlate import Correlated, Correlation
    from iosonde.jobs.table.from_files import Loaded
    from iosonde.model.jobs import JobTable

SCHEMA_VERSION = 1


def correlations_data(
    parts: Sequence[tuple[Correlated, JobTable]], loaded: Sequence[Loaded]
) -> dict[str, Any]:
    """Tables with their mapping, what was left out, correlations and warnings; missing is None."""
    tables = [
        {
            "source": one.source,
            "mapping": given.mapping,
            "with": one.y,
            "by": one.by,
            "controls": one.controls,
            "jobs": one.jobs,
            "left_out": [str(reason) for reason in rows.reasons],
            "notes": [note._asdict() for note in given.notes],
            "correlations": [row._asdict() for row in one.rows],
            "categories": as_json(one.categories),
            "warnings": [warning._asdict() for warning in one.warnings],
        }
        for (one, rows), given in zip(parts, loaded, strict=True)
    ]
    return {"schema_version": SCHEMA_VERSION, "tables": tables}


def correlations_frame(found: Sequence[Correlated]) -> Frame:
    """A row a table, group and metric; missing is NaN."""
    rows = [_plain(row, one.source, one.y) for one in found for row in one.rows]
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if all(isinstance(value, str) for value in values):
            columns[name] = np.array(values, dtype=object)
        elif isinstance(values[0], (bool, int)):
            columns[name] = np.array(values)
        else:
            filled = [np.nan if value is None else value for value in values]
            columns[name] = np.array(filled, dtype=np.float64)
    return Frame(columns)


def _plain(row: Correlation, source: str, y: str) -> dict[str, Any]:
    group = " / ".join(row.group)
    return {"source": source, "with": y, **row._asdict(), "group": group}
