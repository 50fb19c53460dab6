"""The slowdown of windows, three numbers: the typical operation, the slow tail, what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core
from iosonde.model.slowdown import TRIPLE_COLUMNS, VERSION_WIDTH

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.slowdown import Histograms


def triples(
    levels: Floats, tails: Floats, counts: Ints, which: Ints, versions: Floats
) -> dict[str, Floats]:
    """typ, tail and lost of n windows, each with ``_lower`` and ``_upper``.

    Shape: (n, 19, 3), (n, 2, 3), (n, 4), (n,), (versions, 38) -> nine columns (n,).
    ``levels``: service time at .05 ... .95 as lower end, point, upper end; ``tails``: the response
    quantiles .90 and .95 likewise; ``counts``: n, n with a response, n due, n lost; ``which``: the row
    of ``versions`` (``Baseline.numbers``) that a window is compared with, -1 for none.
    Unit: ns in, ratios and a share out.
    Missing data: NaN in, NaN out; also NaN where there are too few rows for an interval (tail: its
    upper end only, below 72 rows).
    Raises ValueError for columns that do not fit.
    Source: docs/methods/slowdown.md; computed by the native core.
    """
    raw = _core.triples(
        np.ascontiguousarray(levels, dtype=np.float64).reshape(-1).data,
        np.ascontiguousarray(tails, dtype=np.float64).reshape(-1).data,
        np.ascontiguousarray(counts, dtype=np.int64).reshape(-1).data,
        np.ascontiguousarray(which, dtype=np.int64).data,
        np.ascontiguousarray(versions, dtype=np.float64).reshape(-1).data,
    )
    return {name: np.frombuffer(raw[name], dtype=np.float64) for name in TRIPLE_COLUMNS}


def expectations(histograms: Histograms) -> Floats:
    """What each histogram makes one expect: (rows,) -> (rows, 38), see ``Baseline.numbers``; NaN if empty."""
    raw = _core.expectations(histograms.buffers())["versions"]
    return np.frombuffer(raw, dtype=np.float64).reshape(-1, VERSION_WIDTH)


def mode_shifts(
    histograms: Histograms, which: Ints, versions: Floats
) -> tuple[Floats, Floats, Floats]:
    """Share of the fast mode, and the slowdown of either mode, of each histogram: three (rows,).

    ``which`` and ``versions`` as in ``triples``. Missing data: NaN below 60 rows, and where one mode is
    expected. Source: maximum a posteriori by expectation and maximisation, docs/methods/slowdown.md.
    """
    raw = _core.mode_shifts(
        histograms.buffers(),
        np.ascontiguousarray(which, dtype=np.int64).data,
        np.ascontiguousarray(versions, dtype=np.float64).reshape(-1).data,
    )
    hit_share, hit, miss = (
        np.frombuffer(raw[name], dtype=np.float64) for name in ("hit_share", "hit", "miss")
    )
    return hit_share, hit, miss
