"""Merge of new rows into a part of a table, at a cost proportional to the new rows.

::

    the part, in its order     | before |    where new rows lie      | behind |
    new rows, in that order             | as there | from here on    |
                                          ^ dropped   ^ the first that differs

Rows that are there already are recognised by looking, place by place, from the first on; nothing is written where
all are. Where other rows lie between them they are looked up. What lies before and behind is copied as it is.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine.parquet import rows_of_table, write_parquet
from iosonde.engine.parts import StoreTable, cannot_write, rows_of

_MEMORY = "1GB"
"""Memory limit of a merge; the engine spills the rest."""


Bounds = tuple[int, int]
"""The first and the last value of the column that rows are sorted by."""


class Merged(NamedTuple):
    """Result of a merge: numbers of new keys, and of rows with a changed value."""

    new: int
    changed: int


class _Whole(NamedTuple):
    """The merged part (a SELECT), and its number of changed values."""

    rows: str
    changed: int


class _Differences(NamedTuple):
    """Number of differing positions, number with a differing key or value, and their range."""

    differ: int
    keys_differ: int
    values_differ: int
    first: int | None
    last: int | None


def merge(
    con: duckdb.DuckDBPyConnection,
    table: StoreTable,
    path: Path,
    rows: str,
    *,
    value: str = "",
    ordered: bool = False,
) -> Merged:
    """Merge the rows of a SELECT into a part; returns the number of new keys.

    ``rows`` has the table's columns by name, each key once. ``value``: the column whose changes are counted ("":
    none). ``ordered``: rows are in the table's order, and may be asked for several times. A part that has them all
    is left alone. Raises StoreError.
    """
    con.execute(f"SET memory_limit = '{_MEMORY}'")
    con.execute("SET preserve_insertion_order = true")
    try:
        before = rows_of(con, path)
        _fresh(con, table, rows, ordered)
        whole = (
            _merged(con, table, path, value) if before else _Whole("SELECT * FROM fresh", changed=0)
        )
        if whole is None:
            return Merged(0, 0)
        return Merged((write_parquet(con, whole.rows, path) or 0) - (before or 0), whole.changed)
    except (OSError, duckdb.Error) as error:
        raise cannot_write(path, error) from error


def _fresh(con: duckdb.DuckDBPyConnection, table: StoreTable, rows: str, ordered: bool) -> None:
    """Create ``fresh``: new rows in the table's order."""
    for kind in ("VIEW", "TABLE"):
        with suppress(duckdb.CatalogException):  # the other kind has that name
            con.execute(f"DROP {kind} IF EXISTS fresh")
    names = ", ".join(f"{name}::{kind} AS {name}" for name, kind in table.types.items())
    order = "" if ordered else f" ORDER BY {', '.join(table.order)}"
    kind = "VIEW" if ordered else "TABLE"
    con.execute(f"CREATE TEMP {kind} fresh AS SELECT {names} FROM ({rows}){order}")


def _merged(
    con: duckdb.DuckDBPyConnection, table: StoreTable, path: Path, value: str
) -> _Whole | None:
    """The part merged with ``fresh``, in order; None if it has all of them."""
    lead = table.order[0]
    there = f"(SELECT {', '.join(table.types)} FROM {rows_of_table([path], table.types)})"
    bounds = _bounds(con, "fresh", lead)
    rows = _count(con, f"{there} WHERE {_inside(lead, bounds)}")
    found = None
    if rows:
        found = _compared(
            con, table, f"(SELECT * FROM {there} WHERE {_inside(lead, bounds)})", value
        )
        if found.differ == 0:
            return None
        aligned = rows == _count(con, "fresh")
        if bounds and found.first is not None and found.last is not None:
            bounds = (found.first, found.last if aligned else bounds[1])
        if aligned and not found.keys_differ:
            fresh = f"SELECT * FROM fresh WHERE {_inside(lead, bounds)}"
            return _Whole(_between(lead, bounds, there, fresh), found.values_differ)
    return _sorted_in(con, table, there, bounds, value)


def _sorted_in(
    con: duckdb.DuckDBPyConnection, table: StoreTable, there: str, bounds: Bounds | None, value: str
) -> _Whole | None:
    """The part merged with ``fresh`` if existing rows lie between those of ``fresh``; only rows in ``bounds`` count."""
    lead = table.order[0]
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE more AS SELECT * FROM fresh WHERE {_inside(lead, bounds)}"
    )
    between = _count(con, f"{there} WHERE {_inside(lead, bounds)}")
    if between and between != _count(con, "more"):
        con.execute(
            "CREATE OR REPLACE TEMP TABLE more AS SELECT * FROM more f WHERE NOT EXISTS "
            f"(SELECT 1 FROM {there} o WHERE {_inside(lead, bounds)} AND {_same(table)})"
        )
        if not _count(con, "more"):
            return None
        bounds = _bounds(con, "more", lead)
    key = _same_key(table)
    changed = 0
    if value:
        other = f"{key} AND f.{value} IS DISTINCT FROM o.{value}"
        inside = f"(SELECT * FROM {there} WHERE {_inside(lead, bounds)})"
        changed = _count(con, f"more f JOIN {inside} o ON {other}")
    con.execute(
        "CREATE OR REPLACE TEMP TABLE middle AS SELECT * FROM (SELECT * FROM more UNION ALL "
        f"SELECT * FROM {there} o WHERE {_inside(lead, bounds)} "
        f"AND NOT EXISTS (SELECT 1 FROM more f WHERE {key})) ORDER BY {', '.join(table.order)}"
    )
    return _Whole(_between(lead, bounds, there, "SELECT * FROM middle"), changed)


def _between(lead: str, bounds: Bounds | None, there: str, middle: str) -> str:
    """SELECT of the rows before, ``middle``, and the rows after."""
    if bounds is None:
        return middle
    return (
        f"SELECT * FROM {there} WHERE {lead} < {bounds[0]} UNION ALL {middle} UNION ALL "
        f"SELECT * FROM {there} WHERE {lead} > {bounds[1]} OR {lead} IS NULL"
    )


def _bounds(con: duckdb.DuckDBPyConnection, rows: str, lead: str) -> Bounds | None:
    """Bounds of some rows; None if unknown, or text: small tables are merged as a whole."""
    sql = f"SELECT min({lead}), max({lead}), count(*) = count({lead}) FROM {rows}"
    first, last, known = con.execute(sql).fetchall()[0]
    return (int(first), int(last)) if known and isinstance(first, int) else None


def _inside(lead: str, bounds: Bounds | None) -> str:
    return "true" if bounds is None else f"{lead} BETWEEN {bounds[0]} AND {bounds[1]}"


def _count(con: duckdb.DuckDBPyConnection, rows: str) -> int:
    return int(con.execute(f"SELECT count(*) FROM {rows}").fetchall()[0][0])


def _compared(
    con: duckdb.DuckDBPyConnection, table: StoreTable, there: str, value: str
) -> _Differences:
    """Compare ``fresh`` with the rows ``there``, both in order, position by position."""
    lead = table.order[0]
    other = f"o.{value} IS DISTINCT FROM f.{value}" if value else "false"
    sql = (
        f"SELECT count(*), count(*) FILTER (NOT ({_same_key(table)})), count(*) FILTER ({other}), "
        f"min(least(f.{lead}, o.{lead})), "
        f"max(greatest(f.{lead}, o.{lead})) FROM (SELECT * FROM fresh) f POSITIONAL JOIN {there} o "
        f"WHERE NOT ({_same(table)})"
    )
    return _Differences(*con.execute(sql).fetchall()[0])


def _same_key(table: StoreTable) -> str:
    return " AND ".join(f"o.{name} IS NOT DISTINCT FROM f.{name}" for name in table.key)


def _same(table: StoreTable) -> str:
    """SQL: rows ``o`` and ``f`` are equal, including the sign of a zero."""
    tests = [f"o.{name} IS NOT DISTINCT FROM f.{name}" for name in table.types]
    floats = [name for name, kind in table.types.items() if kind == "DOUBLE"]
    tests += [f"signbit(o.{name}) IS NOT DISTINCT FROM signbit(f.{name})" for name in floats]
    return " AND ".join(tests)
