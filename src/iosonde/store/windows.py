"""Window statistics in SQL: exact nearest ranks, one scan.

Each group's service latencies are collected and sorted once; the ranks of every quantile and of its
interval come from ``_core.quantile_ranks`` for the group sizes that occur, so that SQL and the live
probe read the same ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from iosonde import _core
from iosonde.model.errors import UsageError
from iosonde.model.frames import Frame
from iosonde.store.columns import DERIVED, QUANTILES, SERIES_KEY, WINDOW_COLUMNS, WINDOW_KEY

_OK = "FILTER (outcome = 'ok')"
_DUE = "FILTER (outcome <> 'shed')"
"""A probe that had lowered its rate left the others out on purpose."""
_SERVICE, _FELT = DERIVED["service_ns"], DERIVED["felt_ns"]
_LATE = "(began_ns - due_ns)"

UNQUEUED = "unqueued_q50_ns"
"""Median of service latency without the time the probing thread waited for a CPU; not in
windows.toml, computed only when asked for: what host-busy is judged on, live and here."""

_PLAIN = {
    "mean_ns": f"avg({_SERVICE}) {_OK}",
    "min_ns": f"min({_SERVICE}) {_OK}",
    "max_ns": f"max({_SERVICE}) {_OK}",
    "runq_q50_ns": f"CASE WHEN count(*) {_OK} >= {{median}} "
    f"THEN quantile_disc(control_runq_ns, 0.5) {_OK} END",
    "late_q50_ns": f"quantile_disc({_LATE}, 0.5) {_OK}",
    "felt_q99_ns": f"CASE WHEN count(ended_ns) >= {{q99}} THEN quantile_disc({_FELT}, 0.99) END",
    UNQUEUED: f"CASE WHEN count(*) {_OK} >= {{median}} "
    f"THEN quantile_disc({_SERVICE} - coalesce(control_runq_ns, 0), 0.5) {_OK} END",
}
"""Statistics that DuckDB's own aggregates give; its quantile_disc is the nearest rank too. late_q50
is a control of the probing host, not a claim about the storage: as in the live probe it needs no
interval."""


def window_table(
    con: duckdb.DuckDBPyConnection, window_ns: int, statistics: Sequence[str] | None = None
) -> Frame:
    """Statistics of the view ``samples`` per series and window (columns: ``WINDOW_COLUMNS``).

    ``statistics`` limits them to the named columns beside ``WINDOW_KEY``. Durations become float64,
    NaN = missing.
    """
    if window_ns <= 0:
        raise UsageError(f"a window of {window_ns} ns is not possible", expected="a window above 0")
    known = [c for c in (*WINDOW_COLUMNS, UNQUEUED) if c not in WINDOW_KEY]
    names = [c for c in known if (c in statistics if statistics else c != UNQUEUED)]
    series_key = ", ".join(SERIES_KEY)
    _collect(
        con, "samples", f"{series_key}, due_ns // {window_ns} * {window_ns} AS start_ns", names
    )
    con.execute(
        "CREATE TEMP TABLE series AS "
        f"SELECT *, row_number() OVER (ORDER BY {series_key}) - 1 AS id "
        f"FROM (SELECT DISTINCT {series_key} FROM groups)"
    )
    series = con.execute("SELECT * FROM series ORDER BY id").fetchall()
    got = _fetch(con, f"groups JOIN series USING ({series_key})", ("id", "start_ns"), names)
    ids = got.pop("id").astype(np.intp)
    columns: dict[str, Any] = {}
    for place, name in enumerate(SERIES_KEY):
        kind = np.int64 if name == "period_ns" else object
        columns[name] = np.array([key[place] for key in series], dtype=kind)[ids]
    columns["start_ns"] = got.pop("start_ns")
    columns["window_ns"] = np.full(len(ids), window_ns, dtype=np.int64)
    return Frame(columns | got)


def pooled_table(con: duckdb.DuckDBPyConnection, source: str, names: Sequence[str]) -> Frame:
    """Statistics ``names`` of the samples of several windows together.

    ``source`` comes from ``tag_samples``. Columns: ``tag n_due n_seen`` and ``names``, sorted by
    tag; a tag without samples is absent.
    """
    _collect(con, source, "tag", names)
    return Frame(_fetch(con, "groups", ("tag",), names))


def tag_samples(con: duckdb.DuckDBPyConnection, tags: Mapping[str, Any], window_ns: int) -> str:
    """SQL source of the samples in tagged windows, with their ``tag``.

    A real table and a literal window: the engine can then hash the small side and skip whole files.
    """
    con.register("tag_arrays", {name: np.ascontiguousarray(tags[name]) for name in tags})
    con.execute("CREATE TEMP TABLE tags AS SELECT * FROM tag_arrays")
    same = [f"samples.{name} = tags.{name}" for name in SERIES_KEY]
    same.append(f"samples.due_ns // {window_ns} = tags.start_ns // {window_ns}")
    return f"samples JOIN tags ON {' AND '.join(same)}"


def _collect(con: duckdb.DuckDBPyConnection, source: str, keys: str, names: Sequence[str]) -> None:
    """The table ``groups``: keys, counts, plain statistics, sorted latencies ``s``."""
    needs = {"median": _core.minimum_count(0.5), "q99": _core.minimum_count(0.99)}
    plain = [f"{_PLAIN[name].format(**needs)} AS {name}" for name in names if name in _PLAIN]
    if any(name not in _PLAIN for name in names):
        plain.append(f"list_sort(list({_SERVICE}) {_OK}) AS s")
    columns = ", ".join([keys, f"count(*) {_DUE} AS n_due", f"count(*) {_OK} AS n_seen", *plain])
    con.execute(f"CREATE TEMP TABLE groups AS SELECT {columns} FROM {source} GROUP BY ALL")


def _fetch(
    con: duckdb.DuckDBPyConnection, source: str, keys: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Columns of ``groups``, sorted by ``keys``, with ranks turned into values."""
    _make_ranks(con)
    columns = [*keys, "n_due", "n_seen", *(_picked(name) for name in names)]
    fetched = con.execute(
        f"SELECT {', '.join(columns)} FROM {source} LEFT JOIN ranks USING (n_seen) "
        f"ORDER BY {', '.join(keys)}"
    ).fetchnumpy()
    return {
        name: floats(column) if name in names else np.ma.getdata(column)
        for name, column in fetched.items()
    }


def _picked(name: str) -> str:
    """``q95_lower_ns`` -> the value at rank ``q95_lower`` of the list; a null rank gives null."""
    return name if name in _PLAIN else f"s[{_rank_column(name)}] AS {name}"


def _rank_column(name: str) -> str:
    stem = name.removesuffix("_ns")
    return stem if "_" in stem else f"{stem}_point"


def _make_ranks(con: duckdb.DuckDBPyConnection) -> None:
    """The table ``ranks``: for each n that occurs, every quantile's rank and its interval's."""
    sizes = [n for (n,) in con.execute("SELECT DISTINCT n_seen FROM groups").fetchall()]
    columns: dict[str, Any] = {"n_seen": np.array(sizes, dtype=np.int64)}
    for name, q in QUANTILES.items():
        found = [_core.quantile_ranks(n, q) or (0, 0, 0) for n in sizes]
        ranks = np.array(found, dtype=np.int64).reshape(-1, 3)
        for place, end in enumerate(("lower", "point", "upper")):
            columns[f"{name}_{end}"] = np.ascontiguousarray(ranks[:, place])
    con.register("rank_arrays", columns)
    picked = ", ".join(f"nullif({name}, 0) AS {name}" for name in columns if name != "n_seen")
    con.execute(f"CREATE TEMP TABLE ranks AS SELECT n_seen, {picked} FROM rank_arrays")


def floats(column: Any) -> Any:
    """A fetched column as float64 with NaN for null."""
    values = np.ma.getdata(column).astype(np.float64)
    mask = np.ma.getmask(column)
    if mask is not np.ma.nomask:
        values[mask] = np.nan
    return values
