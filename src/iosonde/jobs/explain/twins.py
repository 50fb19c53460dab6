"""Twins: metrics that move together and give the same information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.midranks import FEWEST_RANKED, midranks, rank_correlation

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

TOGETHER = 0.8
"""Rank correlation above which metrics are one reason."""


def twins(columns: Mapping[str, Floats]) -> dict[str, tuple[str, ...]]:
    """Metrics that move together with each one, closest first. ``columns``: name -> values (n,).

    Missing data: rows in which both are known count.
    """
    found: dict[str, tuple[str, ...]] = {}
    names = list(columns)
    if not names or len(columns[names[0]]) < FEWEST_RANKED:
        return dict.fromkeys(names, ())
    x = np.column_stack([columns[name] for name in names])
    whole = np.isfinite(x).all(axis=0)
    together = np.zeros((len(names), len(names)))
    if whole.sum() > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            found_whole = np.corrcoef(midranks(x[:, whole]), rowvar=False)
        together[np.ix_(whole, whole)] = np.nan_to_num(found_whole)
    for place in np.flatnonzero(~whole).tolist():
        together[place] = together[:, place] = rank_correlation(x[:, place], x)
    for place, name in enumerate(names):
        rho = np.abs(together[place])
        rho[place] = 0.0
        order = np.argsort(-rho, kind="stable")
        found[name] = tuple(names[i] for i in order[rho[order] > TOGETHER].tolist())
    return found
