"""Metrics that move together: whatever one of them says, the other says too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.midranks import FEWEST_RANKED, midranks, rank_correlation

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

TOGETHER = 0.8
"""Metrics whose rank correlation is above this are one reason."""


def twins(columns: Mapping[str, Floats]) -> dict[str, tuple[str, ...]]:
    """Of each metric those that move together with it, closest first. ``columns``: name -> values (n,).

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
