"""Single operations of several series, for detection of hangs, alarms and onsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from iosonde.engine.ordering import key_columns
from iosonde.engine.query import Query
from iosonde.engine.reader import SampleFilter
from iosonde.engine.spool import NULL_SQL
from iosonde.model.arrays import Flags, Floats, Instants, Ints
from iosonde.model.frames import NULL_NS, SeriesKey
from iosonde.weather.lateness import with_held_up

IN_TIME, LATE, GONE, FAILED = range(4)
"""Outcome of an operation: done, done and held up by an earlier one, not back (skipped, timed out, pending), failed."""
_FATE = (
    f"CASE WHEN outcome = 'ok' THEN CASE WHEN held_up THEN {LATE} ELSE {IN_TIME} END "
    f"WHEN outcome IN ('skipped', 'timeout', 'pending') THEN {GONE} ELSE {FAILED} END"
)


class Operations(NamedTuple):
    """Due operations of one series, ascending in ``due_ns``. Shape (n,) each.

    ``began_ns`` and ``ended_ns`` are ``NULL_NS`` where unknown; ``fate`` is one of the four above;
    ``queued_ns`` is what the probing thread waited for a CPU, 0 where unknown.
    """

    due_ns: Instants
    began_ns: Instants
    ended_ns: Instants
    fate: Ints
    queued_ns: Ints

    def __len__(self) -> int:
        return len(self.due_ns)

    def between(self, since_ns: int, until_ns: int) -> Operations:
        """Operations due in [since, until)."""
        first, last = np.searchsorted(self.due_ns, [since_ns, until_ns])
        return Operations(*(column[first:last] for column in self))

    def service_ns(self) -> Floats:
        """Service time of successful operations, NaN for others."""
        known = (self.fate <= LATE) & (self.began_ns != NULL_NS) & (self.ended_ns != NULL_NS)
        return np.where(known, self.ended_ns - self.began_ns, np.nan)

    def response_ns(self) -> Floats:
        """Waiting time of a user (``engine.contract.RESPONSE``), NaN if unknown."""
        held_up = (self.fate == LATE) | (self.fate == GONE)
        known = held_up & (self.ended_ns != NULL_NS)
        return np.where(known, self.ended_ns - self.due_ns, self.service_ns())

    def lost(self) -> Flags:
        """True for operations that are held up, not back or failed."""
        gone: Flags = self.fate != IN_TIME
        return gone


def operations_query(
    scope: SampleFilter, series: Sequence[SeriesKey]
) -> Query[dict[SeriesKey, Operations]]:
    """The operations of ``series`` in ``scope``; a series without any is absent. What was shed is left out."""
    places = {"place": np.arange(len(series)), **key_columns(list(series), slice(None))}
    sql = (
        f"SELECT place, due_ns, coalesce(began_ns, {NULL_SQL}) AS began_ns, "
        f"coalesce(ended_ns, {NULL_SQL}) AS ended_ns, ({_FATE})::TINYINT AS fate, "
        "coalesce(control_runq_ns, 0) AS queued_ns "
        f"FROM {with_held_up()} JOIN wanted USING (host, target, op, period_ns) WHERE outcome <> 'shed'"
    )
    if not series:
        scope = SampleFilter(since_ns=0, until_ns=0)
    return Query((sql,), partial(_by_series, tuple(series)), scope, {"wanted": places})


def _by_series(
    series: tuple[SeriesKey, ...], found: Mapping[str, Any]
) -> dict[SeriesKey, Operations]:
    columns = {name: np.ma.getdata(column) for name, column in found.items()}
    order = np.lexsort((columns["due_ns"], columns["place"]))
    edges = np.searchsorted(columns["place"][order], np.arange(len(series) + 1))
    ordered = [columns[name][order] for name in Operations._fields]
    return {
        key: Operations(*(column[edges[i] : edges[i + 1]] for column in ordered))
        for i, key in enumerate(series)
        if edges[i] < edges[i + 1]
    }
