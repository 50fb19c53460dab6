"""Sizes as part of a job's kind: motifs with runs of several sizes are split by classes of size.

A motif is program, file mode and direction. Runs of 512 and of 4,096 ranks of one motif are no history of each other.
Within a file system and a motif ranks, then nodes (where ranks do not split them), then bytes split the runs wherever
the history itself shows classes (``stats.size_classes``); a run that is in no class by itself belongs to the nearest.
Source: docs/methods/umami.md, kinds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.table.hygiene import own_bytes
from iosonde.model.amounts import scale_of
from iosonde.model.jobs import SIZES, JobTable
from iosonde.stats.size_classes import FEWEST, size_classes

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places, Texts


EXACT = 0.005
"""Relative spread of a class below which it is named by one number."""


def sizes_of(table: JobTable) -> dict[str, Floats]:
    """Unit -> size of each run (n,); missing is NaN. Ranks, nodes, bytes, in this order."""
    found = {name: _counted(table, name) for name in SIZES[::-1]} | {"bytes": own_bytes(table)}
    return {unit: column for unit, column in found.items() if column is not None}


def _counted(table: JobTable, name: str) -> Floats | None:
    """Ranks or nodes: from the job, else from its metrics."""
    given, metric = table.sizes.get(name), table.metrics.get(f"own_{name}")
    if given is None or metric is None:
        return metric if given is None else given
    return np.where(np.isnan(given), metric, given)


def sized(table: JobTable) -> JobTable:
    """The table with ``motif`` as ``name, 512 ranks`` for motifs with classes of size; ``base_motif`` keeps the name.

    A table that has a ``base_motif`` stays as it is. Missing data: runs of an unknown size keep the name.
    """
    if table.base_motif is not None:
        return table
    sizes = sizes_of(table)
    names = table.motif.copy()
    for rows in table.strata().values() if sizes else ():
        if table.motif[rows[0]] != "" and len(rows) >= 2 * FEWEST:
            names[rows] = _named(str(table.motif[rows[0]]), sizes, rows)
    return replace(table, motif=names, base_motif=table.motif)


def unsized(table: JobTable) -> JobTable:
    """The table with motifs without sizes."""
    if table.base_motif is None:
        return table
    return replace(table, motif=table.base_motif, base_motif=None)


def bases(table: JobTable) -> Texts:
    """(n,) motifs without sizes."""
    return table.motif if table.base_motif is None else table.base_motif


def _named(name: str, sizes: dict[str, Floats], rows: Places) -> Texts:
    """Names of these runs of one motif."""
    found = np.full(len(rows), name, dtype=object)
    for unit, column in sizes.items():
        label = size_classes(column[rows])
        if label.max() < 1:
            continue
        for one in range(int(label.max()) + 1):
            of_class = np.flatnonzero(label == one)
            called = f"{name}, {_size_words(column[rows[of_class]], unit)}"
            found[of_class] = _named(called, sizes, rows[of_class])
        break
    return found


def _size_words(values: Floats, unit: str) -> str:
    """``512 ranks``, ``about 1.1 TiB``: the median, and ``about`` unless all agree."""
    middle = float(np.median(values))
    about = "" if values.max() - values.min() <= EXACT * middle else "about "
    if unit == "bytes":
        scale = scale_of(unit, [middle])
        return f"{about}{middle / scale.divisor:.3g} {scale.word}"
    return f"{about}{_whole(middle)} {unit if middle != 1 else unit.removesuffix('s')}"


def _whole(value: float) -> str:
    """Two digits, or the integer if exact."""
    return f"{round(value):d}"
