"""The tables ``transfers`` and ``rates`` of runs: parts during a run, one file at its end.

::

    transfers/<run slug>.<process>-<direction>-<repetition>.part.parquet    appears as the phase ends
    transfers/date=YYYY-MM-DD/<run slug>.parquet                            all of a run that has ended
    rates/...                                                              the same

A reader takes the whole file of a run where there is one, else its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import RATE_TYPES, TRANSFER_TYPES
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.engine.sound import sound
from iosonde.engine.spool import NULL_SQL
from iosonde.model.errors import StoreError
from iosonde.model.names import slug
from iosonde.model.transfers import BIN_NS

TABLES: dict[str, dict[str, str]] = {"transfers": TRANSFER_TYPES, "rates": RATE_TYPES}
_ORDER = "repetition, direction DESC, rank"
_PART = ".part.parquet"
Columns = Mapping[str, Any]
"""Columns by name: shape (rows,); missing integers are ``NULL_NS``, missing words None."""


def write_part(root: Path, table: str, run_id: str, part: str, columns: Columns) -> Path | None:
    """Write rows of one process and phase; None when there are none. Raises StoreError."""
    if not len(columns["rank"]):
        return None
    path = Path(root) / table / f"{slug(run_id)}.{slug(part).replace('.', '-')}{_PART}"
    select = ", ".join(
        f"({_as_sql(name, kind)})::{kind} AS {name}" for name, kind in TABLES[table].items()
    )
    with closing(connect(threads=1)) as con:
        con.register("columns", {name: np.ascontiguousarray(c) for name, c in columns.items()})
        _write(con, f"SELECT {select} FROM columns ORDER BY {_ORDER}", path)
    return path


def _as_sql(name: str, kind: str) -> str:
    if kind == "DOUBLE":
        return f"CASE WHEN isfinite({name}) THEN {name} END"
    return f"nullif({name}, {NULL_SQL})" if kind == "BIGINT" else name


def finish(root: Path, run_id: str, began_ns: int) -> None:
    """Merge a run's parts into one file per table, then remove them. Raises StoreError."""
    for table in TABLES:
        parts = _parts(Path(root), table, run_id)
        if not parts:
            continue
        path = Path(root) / table / f"date={utc_date(began_ns)}" / f"{slug(run_id)}.parquet"
        with closing(connect(threads=1)) as con:
            parts = sound(con, parts, {})
            if parts:
                _write(con, f"SELECT * FROM {parquet(parts)} ORDER BY {_ORDER}", path)
        for part in parts:
            with suppress(OSError):
                part.unlink()


def read_columns(root: Path, table: str, run_id: str) -> dict[str, Any]:
    """Columns of a run, numpy arrays (masked for missing values); empty without rows. Raises StoreError."""
    whole = table_file(root, table, run_id)
    files = _parts(Path(root), table, run_id) if whole is None else [whole]
    if not files:
        return {}
    with closing(connect(threads=1)) as con:
        try:
            files = sound(con, files, {})
            if not files:
                return {}
            select = f"SELECT * FROM {parquet(files)} ORDER BY {_ORDER}"
            return dict(con.execute(select).fetchnumpy())
        except duckdb.Error as error:
            raise StoreError(
                f"cannot read {files[0]}: {str(error).splitlines()[0]}",
                expected=f"a file of the table {table}",
            ) from error


def table_file(root: Path, table: str, run_id: str) -> Path | None:
    """File of a finished run."""
    folder = Path(root) / table
    return next(iter(sorted(folder.glob(f"date=*/{slug(run_id)}.parquet"))), None)


def _parts(root: Path, table: str, run_id: str) -> list[Path]:
    name = slug(run_id)
    try:
        found = sorted((root / table).iterdir())
    except OSError:
        return []
    return [p for p in found if p.name.endswith(_PART) and p.name.rsplit(".", 3)[0] == name]


def _write(con: duckdb.DuckDBPyConnection, select: str, path: Path) -> None:
    try:
        write_parquet(con, select, path)
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise StoreError(
            f"cannot write {path}: {reason}", expected="room and the right to write in the store"
        ) from error


def rate_columns(rows: Sequence[tuple[int, str, int, int, Any]], run_id: str) -> Columns:
    """The table ``rates`` from (repetition, direction, rank, first bin, bytes of each bin of ``BIN_NS``)."""
    counts = [len(bins) for *_, bins in rows]
    first = np.concatenate([r[3] + np.arange(len(r[4])) for r in rows] or [np.zeros(0, np.int64)])
    return {
        "run_id": np.full(sum(counts), run_id, object),
        "repetition": np.repeat([r[0] for r in rows], counts),
        "direction": np.repeat(np.array([r[1] for r in rows], object), counts),
        "rank": np.repeat([r[2] for r in rows], counts),
        "begin_ns": first.astype(np.int64) * BIN_NS,
        "bytes": np.concatenate([r[4] for r in rows] or [np.zeros(0, np.int64)]),
    }
