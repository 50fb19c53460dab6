"""Performance by category (compiler, queue, user, file system): tested in each group, with a correction of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.categories import difference
from iosonde.stats.multiple import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from iosonde.model.arrays import Places, Texts
    from iosonde.model.jobs import JobTable

FEWEST = 5
"""Least number of runs of a category."""
MOST_LEVELS = 50
"""Most categories compared, the most frequent ones."""
_LABELS = ("user", "account", "system")


@dataclass(frozen=True)
class CategoryMedian:
    """Runs of one category. ``median``: of the performance."""

    name: str
    n: int
    median: float


@dataclass(frozen=True)
class CategoryEffect:
    """Difference of performance between the categories of one name in one group; () = all rows.

    ``share``: of the variance of ranks, 0 to 1; ``p`` allows for neighbouring runs being alike, ``q`` for the number of
    categories in the group; ``levels``: highest median first.
    """

    group: tuple[str, ...]
    category: str
    n: int
    share: float
    p: float
    q: float
    levels: tuple[CategoryMedian, ...]


def category_effects(
    table: JobTable, parts: Mapping[tuple[str, ...], Places], y: str, by: tuple[str, ...]
) -> tuple[CategoryEffect, ...]:
    """Effects of every category on ``y`` in each group of ``parts`` (and over all rows, ``()``).

    Missing data: rows without ``y`` or the category, and categories of fewer than ``FEWEST`` rows, are left out.
    """
    columns = dict(_columns(table, by))
    found: list[CategoryEffect] = []
    for group, rows in parts.items():
        some = [
            one
            for name, column in columns.items()
            if (one := _effect(table, rows, y, (group, name, column))) is not None
        ]
        q = benjamini_hochberg(np.array([one.p for one in some])) if some else ()
        found += [
            CategoryEffect(**{**vars(one), "q": float(at)}) for one, at in zip(some, q, strict=True)
        ]
    return tuple(found)


def _columns(table: JobTable, by: tuple[str, ...]) -> Iterator[tuple[str, Texts]]:
    yield from table.categories.items()
    yield from ((name, table.labels[name]) for name in _LABELS if name in table.labels)
    if "file_system" not in by:
        yield "file_system", table.file_system


def _effect(
    table: JobTable, rows: Places, y: str, of: tuple[tuple[str, ...], str, Texts]
) -> CategoryEffect | None:
    """The effect without its correction; None where there is nothing to compare."""
    group, name, column = of
    values, words = table.metrics[y][rows], column[rows].astype(str)
    known = np.isfinite(values) & (words != "")
    values, words = values[known], words[known]
    names, counts = np.unique(words, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    names = names[often[counts[often] >= FEWEST]]
    if len(names) < 2:
        return None
    kept = np.isin(words, names)
    names, codes = np.unique(words[kept], return_inverse=True)
    values = values[kept]
    told = difference(values, codes.astype(np.int64))
    levels = [
        CategoryMedian(str(level), int((codes == at).sum()), float(np.median(values[codes == at])))
        for at, level in enumerate(names)
    ]
    levels.sort(key=lambda level: -level.median)
    return CategoryEffect(group, name, len(values), told.share, told.p, np.nan, tuple(levels))
