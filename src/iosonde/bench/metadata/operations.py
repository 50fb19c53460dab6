"""Operations of a benchmark, written into the store as sealed Parquet: a file per rank and phase."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from iosonde import _core
from iosonde.bench.runtime.histogram import Counts
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_ORDER, SAMPLE_TYPES, SCHEMA_VERSION
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.parquet import write_parquet
from iosonde.engine.spool import literal
from iosonde.model.errors import StoreError
from iosonde.model.names import slug


class RankOperations(NamedTuple):
    """Operations of one rank in one phase. The columns:
    ``began_ns`` (since ``start_ns``), ``latency_ns``, ``op``, ``outcome``.
    """

    host: str
    target: str
    run_id: str
    part: str
    """Distinguishes files of one rank and run."""
    start_ns: int
    size_bytes: int
    seed: int
    columns: Mapping[str, Counts]


def write_operations(root: Path, rows: RankOperations) -> Path | None:
    """Write the operations; None if there are none. Raises StoreError."""
    columns = dict(rows.columns)
    if not len(columns["began_ns"]):
        return None
    stem = slug(f"{rows.run_id}-{rows.part}")
    path = parquet_path(Path(root), slug(rows.host), stem, rows.start_ns)
    codes = np.unique(columns["outcome"]).tolist()
    outcomes = " ".join(f"WHEN {c} THEN {literal(_core.outcome_name(c))}" for c in codes)
    ops = ", ".join(literal(op) for op in _core.OPS)
    values = {
        "schema_version": str(SCHEMA_VERSION),
        "due_ns": f"{rows.start_ns} + began_ns",
        "began_ns": f"{rows.start_ns} + began_ns",
        "ended_ns": f"{rows.start_ns} + began_ns + latency_ns",
        "host": literal(rows.host),
        "target": literal(rows.target),
        "op": f"([{ops}])[op + 1]",
        "period_ns": "0",
        "size_bytes": str(rows.size_bytes),
        "outcome": f"CASE outcome {outcomes} END",
        "cache": "'unknown'",
        "seed": str(rows.seed),
        "run_id": literal(rows.run_id),
    }
    select = ", ".join(
        f"({values.get(name, 'NULL')})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
    )
    con = connect(threads=1)
    try:
        con.register("operations", columns)
        order = ", ".join(SAMPLE_ORDER)
        write_parquet(con, f"SELECT {select} FROM operations ORDER BY {order}", path)
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise StoreError(
            f"cannot write {path}: {reason}", expected="room and the right to write in the store"
        ) from error
    finally:
        con.close()
    return path
