"""Order statistics of many lists at once: sort, then pick ranks.

The engine groups and collects; arrays of equal length are sorted here, side by side in one matrix,
which is several times as fast as sorting lists in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde import _core
from iosonde.engine.contract import QUANTILES
from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Ints, Places


LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 20))
"""Quantile levels of a window for its typical slowdown."""
TAILS = (0.90, 0.95)
"""Quantile levels of a window's response time."""
NO_LEVEL = -1
"""In a block of levels: n is too small for that bound, or there is no value."""
_BLOCK = 4 << 20
"""Values sorted at a time."""


@dataclass(frozen=True)
class Ragged:
    """Lists of different lengths: ``values`` one after the other, ``offsets`` of n + 1 places."""

    values: NDArray[Any]
    offsets: Ints

    @staticmethod
    def of(values: NDArray[Any], lengths: NDArray[Any]) -> Ragged:
        """Build from the length of each list."""
        return Ragged(values, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Places) -> Ragged:
        """Some lists, in the given order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        place = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.values[place], offsets)

    def followed_by(self, other: Ragged) -> Ragged:
        """Each list concatenated with the other's list of the same index."""
        if len(other.values) == 0:
            return self
        offsets = self.offsets + other.offsets
        values = np.empty(offsets[-1], dtype=self.values.dtype)
        own = np.arange(len(self.values)) + np.repeat(other.offsets[:-1], np.diff(self.offsets))
        values[own] = self.values
        values[
            np.arange(len(other.values)) + np.repeat(self.offsets[1:], np.diff(other.offsets))
        ] = other.values
        return Ragged(values, offsets)

    def each_sorted(self) -> Ragged:
        """Each list sorted."""
        values = np.empty_like(self.values)
        for rows, matrix in self.by_length():
            matrix.sort(axis=1)
            values[self.offsets[rows][:, None] + np.arange(matrix.shape[1])] = matrix
        return Ragged(values, self.offsets)

    def sums(self) -> Ints:
        """The sum of each list."""
        reached = np.concatenate(([0], np.cumsum(self.values)))
        found: Ints = reached[self.offsets[1:]] - reached[self.offsets[:-1]]
        return found

    def at(self, ranks: Ints) -> tuple[Ints, Flags]:
        """Values at 1-based ``ranks`` (lists, k) as (lists, k), and a mask of those that exist: rank 0 does not."""
        there = ranks > 0
        if len(self.values) == 0:
            return np.zeros_like(ranks), np.zeros_like(there)
        place = np.where(there, self.offsets[:-1, None] + ranks - 1, 0)
        return self.values[place], there

    def by_length(self) -> Iterator[tuple[Places, NDArray[Any]]]:
        """Non-empty lists grouped by length: their indices, and a matrix with one list per row."""
        lengths = np.diff(self.offsets)
        order = np.argsort(lengths, kind="stable")
        order = order[np.count_nonzero(lengths == 0) :]
        sizes, firsts = np.unique(lengths[order], return_index=True)
        for size, rows in zip(sizes.tolist(), np.split(order, firsts)[1:], strict=True):
            step = max(1, _BLOCK // size)
            for begin in range(0, len(rows), step):
                some = rows[begin : begin + step]
                yield some, self.values[self.offsets[some][:, None] + np.arange(size)]


def picked(lists: Ragged, ranks: Callable[[int], Ints]) -> Ints:
    """Sorted values of each list at 1-based ranks.

    Shape: ``ranks(n)`` gives the k ranks for a list of n, the result is (lists, k). Missing data:
    rank 0 and an empty list give ``NULL_NS``.
    """
    width = len(ranks(0))
    found = np.full((len(lists), width), NULL_NS, dtype=np.int64)
    for rows, matrix in lists.by_length():
        wanted = ranks(matrix.shape[1])
        matrix.sort(axis=1)
        there = np.flatnonzero(wanted)
        found[rows[:, None], there] = matrix[:, wanted[there] - 1]
    return found


@lru_cache(maxsize=65_536)
def bounds(n: int, q: float) -> tuple[int, int, int]:
    """1-based ranks (lower, point, upper) of a quantile; a bound that n is too small for is 0.

    Unlike ``_core.quantile_ranks`` one end may be there without the other. (0, 0, 0) for n = 0.
    """
    if n == 0:
        return (0, 0, 0)
    lower, point, upper = _core.quantile_bounds(n, q)
    return (lower or 0, point, upper or 0)


def level_ranks(n: int, levels: tuple[float, ...]) -> Ints:
    """Ranks of all bounds of all levels: lower, point, upper of the first, and so on."""
    return np.array([bounds(n, q) for q in levels], dtype=np.int64).reshape(-1)


def as_levels(found: Ints) -> Ints:
    """Picked values (windows, 3 k) as a block (windows, k, 3) with ``NO_LEVEL`` for missing."""
    block = np.where(found == NULL_NS, NO_LEVEL, found)
    return block.reshape(len(block), found.shape[1] // 3, 3)


def values_of(con: duckdb.DuckDBPyConnection, table: str, column: str) -> NDArray[Any]:
    """All lists concatenated."""
    found = in_table_order(con, f"SELECT unnest({column}) AS v FROM {table}")
    return np.ma.getdata(found["v"])


def in_table_order(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    """Result of a query without ORDER BY, in the order of its table's rows."""
    con.execute("SET preserve_insertion_order = true")
    try:
        found: dict[str, Any] = con.execute(sql).fetchnumpy()
    finally:
        con.execute("SET preserve_insertion_order = false")
    return found


def rank_of(name: str) -> tuple[float, int]:
    """``q95_lower_ns`` -> quantile level and index of lower, point, upper."""
    quantile, _, end = name.removesuffix("_ns").partition("_")
    return QUANTILES[quantile], {"lower": 0, "": 1, "upper": 2}[end]


def floats(column: Any) -> Any:
    """A fetched column as float64 with NaN for null."""
    values = np.ma.getdata(column).astype(np.float64)
    mask = np.ma.getmask(column)
    if mask is not np.ma.nomask:
        values[mask] = np.nan
    return values
