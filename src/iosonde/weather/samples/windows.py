"""Window statistics: the engine groups and collects, ranks are picked from sorted lists.

The ranks of every quantile and of its interval come from the core for the group sizes that occur,
so that history and the live probe read the same ranks. Each slice goes in three steps::

    groups     one a series and window: counts, plain aggregates, list of latencies           (SQL)
    lists      one after the other as one array, in the order of the groups                   (SQL)
    ranks      lists of equal length sorted side by side, the wanted ranks picked            (read)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from iosonde import _core
from iosonde.engine.contract import (
    DERIVED,
    FATE,
    HOST_COLUMNS,
    LEVEL_COLUMNS,
    SERIES_KEY,
    WINDOW_COLUMNS,
    WINDOW_KEY,
)
from iosonde.engine.order_statistics import (
    LEVELS,
    TAILS,
    Ragged,
    as_levels,
    floats,
    level_ranks,
    picked,
    rank_of,
)
from iosonde.engine.ordering import Part
from iosonde.engine.query import Query, rows
from iosonde.engine.reader import SampleFilter
from iosonde.model.frames import NULL_NS, Frame, SeriesKey
from iosonde.weather.lateness import LATE_BY_HOST, MISSED_BY_HOST, with_held_up

_OK = "FILTER (outcome = 'ok')"
_DUE = "FILTER (outcome <> 'shed')"
"""Operations that a probe with a lowered rate omits on purpose are not due."""
_SERVICE, _RESPONSE_TIME = DERIVED["service_ns"], DERIVED["response_ns"]
_LATE = "(began_ns - due_ns)"

UNQUEUED = {f"unqueued_q{round(100 * q)}_ns": q for q in map(_core.control_level, (False, True))}
"""Quantiles of service time minus the probing thread's wait for a CPU; not in
windows.toml, computed on request: the input of the host-busy judgement, live and here.
"""

LATE_Q90 = "late_q90_ns"
"""The 0.9 quantile of began - due; not in windows.toml."""

_PLAIN = {
    "mean_ns": f"avg({_SERVICE}) {_OK}",
    "min_ns": f"min({_SERVICE}) {_OK}",
    "max_ns": f"max({_SERVICE}) {_OK}",
    "runq_q50_ns": f"CASE WHEN count(*) {_OK} >= {{median}} "
    f"THEN quantile_disc(control_runq_ns, 0.5) {_OK} END",
    "late_q50_ns": f"quantile_disc({_LATE}, 0.5) {_OK}",
    LATE_Q90: f"quantile_disc({_LATE}, 0.9) {_OK}",
    "response_q99_ns": f"CASE WHEN count(ended_ns) >= {{q99}} THEN quantile_disc({_RESPONSE_TIME}, 0.99) END",
    **{
        name: f"CASE WHEN count(*) {_OK} >= {{median}} "
        f"THEN quantile_disc({_SERVICE} - coalesce(control_runq_ns, 0), {q}) {_OK} END"
        for name, q in UNQUEUED.items()
    },
}
"""Statistics that DuckDB's own aggregates give; its quantile_disc is the nearest rank too. late_q50
is a control of the probing host, not a claim about the storage: as in the live probe it needs no
interval."""

_LISTED = ("mean_ns", "min_ns", "max_ns")
"""Statistics that a sorted list gives at once, if it exists for others."""


def windows_query(
    scope: SampleFilter,
    window_ns: int,
    statistics: Sequence[str] | None = None,
    *,
    levels: bool = False,
) -> Query[list[Part]]:
    """Query for statistics of the samples of ``scope`` per series and window, for ``ordering.in_order``.

    ``statistics`` limits them to the named columns of ``WINDOW_COLUMNS`` beside ``WINDOW_KEY``. Durations
    become float64, NaN = missing. ``levels`` adds the columns of ``LEVEL_COLUMNS`` (see ``Store.windows``).
    """
    known = [c for c in (*WINDOW_COLUMNS, *UNQUEUED) if c not in WINDOW_KEY]
    names = [c for c in known if (c in statistics if statistics else c not in UNQUEUED)]
    key = ", ".join(SERIES_KEY)
    start = f"due_ns // {window_ns} * {window_ns} AS start_ns"
    source = f"(SELECT *, groups.rowid AS place FROM groups) JOIN series USING ({key})"
    return Query(
        (
            f"SELECT {key} FROM series ORDER BY id",
            *_selects(source, ("place", "id", "start_ns"), names, levels),
        ),
        partial(_part, names, levels),
        scope,
        tables={
            "groups": _groups("samples", f"{key}, {start}", names, levels),
            "series": "SELECT *, row_number() OVER () - 1 AS id "
            f"FROM (SELECT DISTINCT {key} FROM groups)",
        },
        merge=operator.add,
        cut_ns=window_ns,
    )


def pooled_query(
    scope: SampleFilter, tags: Mapping[str, Any], window_ns: int, names: Sequence[str]
) -> Query[Frame]:
    """Query for statistics ``names`` of the samples of several windows together (``tags``: see ``Store.pooled``).

    Columns: ``tag n_due n_seen`` and ``names``, sorted by tag; a tag without samples is absent.
    """
    return Query(
        _selects("groups", ("tag",), names, levels=False),
        partial(_pooled, names),
        scope,
        {"tags": tags},
        {"groups": _groups(tagged(window_ns), "tag", names, levels=False)},
    )


def tagged(window_ns: int) -> str:
    """SQL source of the samples in the windows of the table ``tags``, with their ``tag``.

    A real table and a literal window: the engine can then hash the small side and skip whole files.
    """
    same = [f"samples.{name} = tags.{name}" for name in SERIES_KEY]
    same.append(f"samples.due_ns // {window_ns} = tags.start_ns // {window_ns}")
    return f"samples JOIN tags ON {' AND '.join(same)}"


def _part(
    names: Sequence[str], levels: bool, series: Mapping[str, Any], *fetched: Mapping[str, Any]
) -> list[Part]:
    """Windows of a slice in no order; ``id`` is the index of their series."""
    columns = _columns(names, levels, *fetched)
    columns.pop("place")
    return [([SeriesKey(*row) for row in rows(series)], columns)]


def _pooled(names: Sequence[str], *fetched: Mapping[str, Any]) -> Frame:
    found = Frame(_columns(names, False, *fetched))
    return found.take(np.argsort(found["tag"]))


def _groups(source: str, keys: str, names: Sequence[str], levels: bool) -> str:
    """SQL of the table ``groups``: keys, counts, plain statistics, and service times ``s``.

    With ``levels`` those of ``s`` are of what was not held up, whose response is the same; ``late_s`` are
    the others, and ``r`` the responses that are no service time. So every latency is listed once.
    """
    needs = {"median": _core.minimum_count(0.5), "q99": _core.minimum_count(0.99)}
    columns = [keys, f"count(*) {_DUE} AS n_due", f"count(*) {_OK} AS n_seen"]
    columns += [f"{_PLAIN[name].format(**needs)} AS {name}" for name in _plain(names, levels)]
    if levels:
        columns.append("count(*) FILTER (fate BETWEEN 1 AND 3) AS n_lost")
        columns.append(f"count(*) FILTER ({LATE_BY_HOST}) AS n_late")
        columns.append(f"count(*) FILTER ({MISSED_BY_HOST}) AS n_missed")
        columns.append(f"list({_SERVICE}) FILTER (fate = 0) AS s")
        columns.append(f"list({_SERVICE}) FILTER (fate = 1) AS late_s")
        columns.append(f"list({_RESPONSE_TIME}) FILTER (fate BETWEEN 1 AND 2) AS r")
        source = f"(SELECT *, {FATE} AS fate FROM {with_held_up(source)})"
    elif _lists(names, levels):
        columns.append(f"list({_SERVICE}) {_OK} AS s")
    return f"SELECT {', '.join(columns)} FROM {source} GROUP BY ALL"


def _lists(names: Sequence[str], levels: bool) -> tuple[str, ...]:
    """List columns of ``groups``."""
    if levels:
        return ("s", "late_s", "r")
    return ("s",) if any(name not in _PLAIN for name in names) else ()


def _plain(names: Sequence[str], levels: bool) -> list[str]:
    """Statistics computed by the engine's own aggregates."""
    left = _LISTED if _lists(names, levels) else ()
    return [name for name in names if name in _PLAIN and name not in left]


def _selects(
    source: str, keys: Sequence[str], names: Sequence[str], levels: bool
) -> tuple[str, ...]:
    """SELECTs for ``_columns`` from ``groups``: plain columns, then for each list its lengths and its values."""
    plain = [*keys, "n_due", "n_seen", *_plain(names, levels)]
    plain += ["n_lost", *HOST_COLUMNS] if levels else []
    return (
        f"SELECT {', '.join(plain)} FROM {source}",
        *(
            sql
            for name in _lists(names, levels)
            for sql in (
                f"SELECT coalesce(len({name}), 0) AS n FROM groups",
                f"SELECT unnest({name}) AS v FROM groups",
            )
        ),
    )


def _columns(
    names: Sequence[str], levels: bool, plain: Mapping[str, Any], *pairs: Mapping[str, Any]
) -> dict[str, Any]:
    """Columns of ``groups`` in the order of the table, with ranks turned into values."""
    aggregates = _plain(names, levels)
    chosen = [name for name in names if name not in aggregates]
    order = np.argsort(np.ma.getdata(plain["place"])) if "place" in plain else slice(None)
    found = {
        name: (floats(column) if name in names else np.ma.getdata(column))[order]
        for name, column in plain.items()
    }
    lists = [
        Ragged.of(np.ma.getdata(values["v"]), np.ma.getdata(lengths["n"]))
        for lengths, values in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    values = {}
    if levels:
        values = _with_levels(chosen, *lists)
    elif chosen:
        values = _of_lists(lists[0], chosen, picked(lists[0], _ranks(chosen, ())))
    kept = [name for name in found if name not in names and name not in LEVEL_COLUMNS]
    ordered = [*kept, *names, *(LEVEL_COLUMNS if levels else ())]
    return {name: values[name] if name in values else found[name] for name in ordered}


def _with_levels(
    names: Sequence[str], in_time: Ragged, late: Ragged, other: Ragged
) -> dict[str, Any]:
    """Statistics ``names`` of service time and the blocks of levels, in the order of ``groups``.

    Where every response is a service time, one sorting serves both.
    """
    seen = in_time.followed_by(late)
    picks = picked(seen, _ranks(names, (*LEVELS, *TAILS)))
    width = 3 * len(TAILS)
    service, tails = picks[:, :-width], picks[:, -width:].copy()
    differ = np.flatnonzero(np.diff(late.offsets) + np.diff(other.offsets))
    if len(differ):
        responses = in_time.take(differ).followed_by(other.take(differ))
        tails[differ] = picked(responses, _ranks((), TAILS))
    return _of_lists(seen, names, service) | {
        "levels_ns": as_levels(service[:, len(names) :]),
        "response_ns": as_levels(tails),
        "n_response": np.diff(in_time.offsets) + np.diff(other.offsets),
    }


def _ranks(names: Sequence[str], levels: tuple[float, ...]) -> Callable[[int], Any]:
    """Function from n to the ranks of the statistics ``names``, then of all bounds of ``levels``."""
    ends = [rank_of(name) for name in names if name not in _LISTED]

    def ranks(n: int) -> Any:
        found = {q: _core.quantile_ranks(n, q) or (0, 0, 0) for q in {q for q, _ in ends}}
        of = {"mean_ns": 0, "min_ns": min(n, 1), "max_ns": n}
        quantiles = iter([found[q][end] for q, end in ends])
        chosen = [of[name] if name in of else next(quantiles) for name in names]
        return np.concatenate((np.array(chosen, dtype=np.int64), level_ranks(n, levels)))

    return ranks


def _of_lists(lists: Ragged, names: Sequence[str], picks: Any) -> dict[str, Any]:
    """Statistics ``names``: means of ``lists``, and the first columns of picked values."""
    columns = _named(picks, names)
    if "mean_ns" in columns:
        lengths = np.diff(lists.offsets)
        means = np.full(len(lists), np.nan)
        np.divide(lists.sums(), lengths, out=means, where=lengths > 0)
        columns["mean_ns"] = means
    return columns


def _named(values: Any, names: Sequence[str]) -> dict[str, Any]:
    """The first columns of picked values, NaN for missing."""
    columns = {}
    for place, name in enumerate(names):
        column = values[:, place]
        columns[name] = np.where(column == NULL_NS, np.nan, column.astype(np.float64))
    return columns
