"""Metrics that move together: whatever one of them says, the other says too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.midranks import rank_correlation

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
    if not names:
        return found
    x = np.column_stack([columns[name] for name in names])
    for place, name in enumerate(names):
        rho = np.abs(rank_correlation(x[:, place], x))
        rho[place] = 0.0
        order = np.argsort(-rho, kind="stable")
        found[name] = tuple(names[i] for i in order[rho[order] > TOGETHER].tolist())
    return found
