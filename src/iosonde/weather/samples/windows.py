"""Window statistics: the engine groups and collects, ranks are picked from sorted lists.

The ranks of every quantile and of its interval come from the core for the group sizes that occur,
so that history and the live probe read the same ranks. A long range goes slice by slice (see
``store.slices``), each in three steps::

    groups     one a series and window: counts, plain aggregates, list of latencies      (engine)
    lists      one after the other as one array, in the order of the groups              (engine)
    ranks      lists of equal length sorted side by side, the wanted ranks picked   (store.picks)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from iosonde import _core
from iosonde.engine.contract import (
    DERIVED,
    FATE,
    LEVEL_COLUMNS,
    SERIES_KEY,
    WINDOW_COLUMNS,
    WINDOW_KEY,
)
from iosonde.engine.order_statistics import (
    LEVELS,
    TAILS,
    as_levels,
    floats,
    level_ranks,
    lists_of,
    picked,
    rank_of,
)
from iosonde.engine.ordering import in_order
from iosonde.engine.reader import Scope
from iosonde.engine.slices import over_slices
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS, Frame, SeriesKey

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
    root: Path,
    scope: Scope,
    window_ns: int,
    statistics: Sequence[str] | None = None,
    *,
    levels: bool = False,
) -> Frame:
    """Statistics of the samples of ``scope`` per series and window (columns: ``WINDOW_COLUMNS``).

    ``statistics`` limits them to the named columns beside ``WINDOW_KEY``. Durations become float64,
    NaN = missing. ``levels`` adds the columns of ``LEVEL_COLUMNS`` (see ``Store.windows``).
    """
    if window_ns <= 0:
        raise UsageError(f"a window of {window_ns} ns is not possible", expected="a window above 0")
    known = [c for c in (*WINDOW_COLUMNS, UNQUEUED) if c not in WINDOW_KEY]
    names = [c for c in known if (c in statistics if statistics else c != UNQUEUED)]

    def ask(con: duckdb.DuckDBPyConnection) -> tuple[list[SeriesKey], dict[str, Any]]:
        return _slice(con, window_ns, names, levels)

    return in_order(over_slices(root, scope, window_ns, ask), window_ns)


def pooled_table(con: duckdb.DuckDBPyConnection, source: str, names: Sequence[str]) -> Frame:
    """Statistics ``names`` of the samples of several windows together.

    ``source`` comes from ``tag_samples``. Columns: ``tag n_due n_seen`` and ``names``, sorted by
    tag; a tag without samples is absent.
    """
    _collect(con, source, "tag", names, levels=False)
    found = Frame(_fetch(con, "groups", ("tag",), names, levels=False))
    return found.take(np.argsort(found["tag"]))


def tag_samples(con: duckdb.DuckDBPyConnection, tags: Mapping[str, Any], window_ns: int) -> str:
    """SQL source of the samples in tagged windows, with their ``tag``.

    A real table and a literal window: the engine can then hash the small side and skip whole files.
    """
    con.register("tag_arrays", {name: np.ascontiguousarray(tags[name]) for name in tags})
    con.execute("CREATE TEMP TABLE tags AS SELECT * FROM tag_arrays")
    same = [f"samples.{name} = tags.{name}" for name in SERIES_KEY]
    same.append(f"samples.due_ns // {window_ns} = tags.start_ns // {window_ns}")
    return f"samples JOIN tags ON {' AND '.join(same)}"


def _slice(
    con: duckdb.DuckDBPyConnection, window_ns: int, names: Sequence[str], levels: bool
) -> tuple[list[SeriesKey], dict[str, Any]]:
    """The windows of the view ``samples`` in no order; ``id`` says which of the series they are of."""
    key = ", ".join(SERIES_KEY)
    start = f"due_ns // {window_ns} * {window_ns} AS start_ns"
    _collect(con, "samples", f"{key}, {start}", names, levels=levels)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE series AS SELECT *, row_number() OVER () - 1 AS id "
        f"FROM (SELECT DISTINCT {key} FROM groups)"
    )
    series = con.execute(f"SELECT {key} FROM series ORDER BY id").fetchall()
    source = f"(SELECT *, groups.rowid AS place FROM groups) JOIN series USING ({key})"
    columns = _fetch(con, source, ("place", "id", "start_ns"), names, levels=levels)
    columns.pop("place")
    return [SeriesKey(*row) for row in series], columns


def _collect(
    con: duckdb.DuckDBPyConnection, source: str, keys: str, names: Sequence[str], *, levels: bool
) -> None:
    """The table ``groups``: keys, counts, plain statistics, and service latencies ``s``.

    With ``levels`` those of ``s`` are of what was done in time, whose response is the same; ``late_s`` are
    the others, and ``r`` the responses that are no service latency. So every latency is listed once.
    """
    needs = {"median": _core.minimum_count(0.5), "q99": _core.minimum_count(0.99)}
    columns = [keys, f"count(*) {_DUE} AS n_due", f"count(*) {_OK} AS n_seen"]
    columns += [f"{_PLAIN[name].format(**needs)} AS {name}" for name in names if name in _PLAIN]
    if levels:
        columns.append("count(*) FILTER (fate BETWEEN 1 AND 3) AS n_lost")
        columns.append(f"list({_SERVICE}) FILTER (fate = 0) AS s")
        columns.append(f"list({_SERVICE}) FILTER (fate = 1) AS late_s")
        columns.append(f"list({_FELT}) FILTER (fate BETWEEN 1 AND 2) AS r")
        source = f"(SELECT *, {FATE} AS fate FROM {source})"
    elif any(name not in _PLAIN for name in names):
        columns.append(f"list({_SERVICE}) {_OK} AS s")
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE groups AS SELECT {', '.join(columns)} "
        f"FROM {source} GROUP BY ALL"
    )


def _fetch(
    con: duckdb.DuckDBPyConnection,
    source: str,
    keys: Sequence[str],
    names: Sequence[str],
    *,
    levels: bool,
) -> dict[str, Any]:
    """Columns of ``groups`` in the order of the table, with ranks turned into values."""
    chosen = [name for name in names if name not in _PLAIN]
    plain = [*keys, "n_due", "n_seen", *(name for name in names if name in _PLAIN)]
    plain += ["n_lost"] if levels else []
    got = con.execute(f"SELECT {', '.join(plain)} FROM {source}").fetchnumpy()
    order = np.argsort(np.ma.getdata(got["place"])) if "place" in got else slice(None)
    found = {
        name: (floats(column) if name in names else np.ma.getdata(column))[order]
        for name, column in got.items()
    }
    values: dict[str, Any] = {}
    if levels:
        values = _with_levels(con, chosen)
    elif chosen:
        picks = picked(lists_of(con, "groups", "s"), _ranks(chosen, ()))
        values = _named(picks, chosen)
    counts = (*keys, "n_due", "n_seen")
    ordered = [*counts, *names, *(LEVEL_COLUMNS if levels else ())]
    return {name: values[name] if name in values else found[name] for name in ordered}


def _with_levels(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, Any]:
    """Statistics ``names`` of service latency and the blocks of levels, in the order of ``groups``.

    Where every response is a service latency, one sorting serves both.
    """
    in_time, late, other = (lists_of(con, "groups", name) for name in ("s", "late_s", "r"))
    picks = picked(in_time.followed_by(late), _ranks(names, (*LEVELS, *TAILS)))
    width = 3 * len(TAILS)
    service, tails = picks[:, :-width], picks[:, -width:].copy()
    differ = np.flatnonzero(np.diff(late.offsets) + np.diff(other.offsets))
    if len(differ):
        responses = in_time.take(differ).followed_by(other.take(differ))
        tails[differ] = picked(responses, _ranks((), TAILS))
    return _named(service, names) | {
        "levels_ns": as_levels(service[:, len(names) :]),
        "response_ns": as_levels(tails),
        "n_response": np.diff(in_time.offsets) + np.diff(other.offsets),
    }


def _ranks(names: Sequence[str], levels: tuple[float, ...]) -> Callable[[int], Any]:
    """Which ranks of n latencies the statistics ``names`` are, and then all ends of ``levels``."""
    ends = [rank_of(name) for name in names]

    def ranks(n: int) -> Any:
        found = {q: _core.quantile_ranks(n, q) or (0, 0, 0) for q in {q for q, _ in ends}}
        chosen = np.array([found[q][end] for q, end in ends], dtype=np.int64)
        return np.concatenate((chosen, level_ranks(n, levels)))

    return ranks


def _named(values: Any, names: Sequence[str]) -> dict[str, Any]:
    """The first columns of picked values, NaN for missing."""
    columns = {}
    for place, name in enumerate(names):
        column = values[:, place]
        columns[name] = np.where(column == NULL_NS, np.nan, column.astype(np.float64))
    return columns
