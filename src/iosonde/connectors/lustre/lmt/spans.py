"""A table of LMT's samples as spans of time, each a matrix of bounded size."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from iosonde.connectors.lustre.lmt.blanks import Blanks
from iosonde.connectors.lustre.lmt.matrix import Axis, Filled, filled
from iosonde.connectors.lustre.lmt.tables import Times
from iosonde.model.arrays import Places

_CELLS = 2_000_000
"""Most values of one column held at a time."""
_FEW = 10
"""Fraction of parts up to which a query selects ids; reading all is quicker beyond it."""


class Samples(NamedTuple):
    """Location of samples: table, id column, and row filter."""

    table: str
    key: str
    only: str = ""


class Spans:
    """Samples of parts by tick. ``idents`` (N,): ids of the parts, ascending."""

    def __init__(
        self, db: sqlite3.Connection, times: Times, samples: Samples, idents: Sequence[int]
    ) -> None:
        self._db, self._ids, self._samples = db, times.ids, samples
        self._ticks, self._parts = Axis(times.ids), Axis(np.array(idents, dtype=np.int64))
        self._idents, self._n = idents, len(idents)
        self._width = max(2, _CELLS // self._n)
        self.total = len(times.ids)

    def read(self, columns: Sequence[str], rows: slice, places: Places | None = None) -> Filled:
        """The columns at some ticks: (C, T, N); only those of ``places`` must be filled."""
        ids = self._ids[rows]
        table, key, only = self._samples
        if places is not None and len(places) * _FEW <= self._n:
            only += f" AND {key} IN ({', '.join(str(self._idents[place]) for place in places)})"
        sql = f"SELECT TS_ID, {key}, {', '.join(columns)} FROM {table} WHERE TS_ID BETWEEN ? AND ? {only}"
        cursor = self._db.execute(sql, (int(ids.min()), int(ids.max())))
        return filled(cursor, self._ticks, rows, self._parts, (len(columns), self._n))

    def all(self, columns: Sequence[str]) -> Iterator[tuple[slice, Filled]]:
        """All samples, in spans that share one tick with the next."""
        for begin in range(0, max(self.total - 1, 1), self._width - 1):
            rows = slice(begin, min(begin + self._width, self.total))
            yield rows, self.read(columns, rows)

    def blanks(self, column: str) -> Blanks:
        """Detector of false zeros in a counter column."""
        return Blanks(
            lambda rows, places: self.read([column], rows, places).cube[0],
            *(self.total, self._width, self._n),
        )
