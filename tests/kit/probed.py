"""Stores of a probe whose every operation a test draws: service times in, sealed segments out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.spool import NULL_SQL
from iosonde.model.frames import NULL_NS

SECOND = 1_000_000_000
DAY = 86_400 * SECOND


def probed(
    root: Path,
    service_s: NDArray[np.float64],
    start_ns: int,
    *,
    op: str = "md_create",
    target: str = "/work",
    host: str = "login2",
) -> None:
    """One operation a second from ``start_ns`` on; NaN: the probe did not run. A segment a UTC day."""
    due = start_ns + np.arange(len(service_s), dtype=np.int64) * SECOND
    ran = ~np.isnan(service_s)
    for day in np.unique(due[ran] // DAY).tolist():
        rows = ran & (due // DAY == day)
        _segment(root, due[rows], service_s[rows], {"op": op, "target": target, "host": host})


def _segment(root: Path, due: Any, service_s: Any, names: dict[str, str]) -> None:
    n = len(due)
    stem = f"{names['op']}-{names['target'].strip('/')}-{int(due[0])}"
    path = parquet_path(root, names["host"], stem, int(due[0]))
    path.parent.mkdir(parents=True, exist_ok=True)
    fixed: dict[str, Any] = {
        "schema_version": 1,
        "period_ns": SECOND,
        "size_bytes": 3901,
        "offset_bytes": NULL_NS,
        "outcome": "ok",
        "cache": "unknown",
        "control_runq_ns": 0,
        "seed": 7,
        "run_id": stem,
        **names,
    }
    columns = {name: np.full(n, value, dtype=object if isinstance(value, str) else np.int64)
               for name, value in fixed.items()}  # fmt: skip
    columns["due_ns"] = due
    columns["began_ns"] = due + 1_000
    columns["ended_ns"] = due + 1_000 + (service_s * 1e9).astype(np.int64)
    typed = ", ".join(
        f"({name})::{kind} AS {name}"
        if kind in ("VARCHAR", "UBIGINT", "UTINYINT")
        else f"nullif({name}, {NULL_SQL})::{kind} AS {name}"
        for name, kind in SAMPLE_TYPES.items()
    )
    with duckdb.connect() as con:
        con.register("t", {name: columns[name] for name in SAMPLE_TYPES})
        con.execute(f"COPY (SELECT {typed} FROM t) TO '{path}' (FORMAT parquet)")
