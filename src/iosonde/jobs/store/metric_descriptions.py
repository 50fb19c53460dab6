"""Descriptions of metrics from tables of jobs, stored beside the numbers.

::

    described/<source>.parquet        a row a metric of a source, in the order of its columns

A mapping says a label, a unit, which way is good, a role. Of a metric that it only names nothing is kept but its
place: it means what ``model.job_metrics`` knows when it is read. The newest import of a source and metric counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import (
    DESCRIBED_KEY,
    DESCRIBED_ORDER,
    DESCRIBED_TYPES,
    SCHEMA_VERSION,
)
from iosonde.engine.layout.folders import files_in
from iosonde.engine.merge import merge
from iosonde.engine.parts import StoreTable, select, writing
from iosonde.model.job_metrics import About, Good, Role
from iosonde.model.names import slug

DESCRIBED = StoreTable("described", DESCRIBED_TYPES, DESCRIBED_KEY, DESCRIBED_ORDER)
_DERIVED = "fraction_of_peak_ratio"
"""Derived performance metric, sufficient if a table has nothing else."""
_TEXTS = ("unit", "label", "good", "role", "grouped")


class Described(NamedTuple):
    """A metric of a source. ``place``: index of its column; ``about`` None: the source only names it."""

    source: str
    metric: str
    place: int
    about: About | None


def write_described(root: Path, rows: Sequence[Described]) -> None:
    """Store descriptions of metrics; for a repeated source and metric the last row counts. Raises StoreError."""
    parts: dict[str, dict[tuple[str, str], Described]] = defaultdict(dict)
    for row in rows:
        parts[slug(row.source)][row.source, row.metric] = row
    if not parts:
        return
    with writing(root, DESCRIBED), closing(connect(threads=2)) as con:
        for name, some in parts.items():
            con.register("rows", _columns(list(some.values())))
            path = Path(root) / DESCRIBED.name / f"{name}.parquet"
            merge(con, DESCRIBED, path, f"SELECT {SCHEMA_VERSION} AS schema_version, * FROM rows")
            con.unregister("rows")


def _columns(rows: Sequence[Described]) -> dict[str, object]:
    texts = {
        "source": [row.source for row in rows],
        "metric": [row.metric for row in rows],
        **{
            name: [None if row.about is None else row.about[field] for row in rows]
            for field, name in enumerate(_TEXTS)
        },
    }
    columns: dict[str, object] = {
        name: np.array(values, dtype=object) for name, values in texts.items()
    }
    columns["place"] = np.array([row.place for row in rows], dtype=np.int64)
    return columns


def read_described(root: Path, sources: Collection[str] | None = None) -> list[Described]:
    """Descriptions of metrics, by source and in the order of their columns. ``sources`` None: of all.

    A file that is damaged is left out, with a warning. A row whose words are none that are known describes nothing.
    """
    files = sorted(files_in(Path(root) / DESCRIBED.name, ".parquet"))
    names = [name for name in DESCRIBED_TYPES if name != "schema_version"]
    found: list[Described] = []
    for columns in select(", ".join(names), files):
        values = (np.ma.asarray(columns[name]).tolist() for name in names)
        for source, metric, place, *told in zip(*values, strict=True):
            if sources is None or source in sources:
                found.append(Described(source, metric, place, _about(told)))
    return sorted(found, key=lambda one: (one.source, one.place, one.metric))


def _about(told: Sequence[str | None]) -> About | None:
    unit, label, good, role, group = told
    goods, roles = ("high", "low", None), get_args(Role)
    if label is None or role not in roles or good not in goods:
        return None
    way: Good = good  # type: ignore[assignment]
    kind: Role = role  # type: ignore[assignment]
    return About(unit or "", label, way, kind, group or "")


def described_performances(rows: Sequence[Described]) -> frozenset[str]:
    """Metrics that a source describes as a performance with a good direction."""
    return frozenset(row.metric for row in rows if _says_how_fast(row))


def tables_of_performance(rows: Sequence[Described], known: Collection[str]) -> list[str]:
    """Sources with a performance column, one of ``known`` or described as such; sorted.

    All their jobs are rows of a table, also those in which that cell is empty: as when the table itself is read.
    """
    every = {*known, _DERIVED}
    return sorted({row.source for row in rows if row.metric in every or _says_how_fast(row)})


def _says_how_fast(row: Described) -> bool:
    about = row.about
    return (
        about is not None
        and about.role == "performance"
        and about.good is not None
        and row.metric != _DERIVED
    )
