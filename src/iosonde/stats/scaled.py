"""Numbers of any size, made small enough for squares of them to exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


def tamed(values: Floats) -> Floats:
    """Columns of ``values`` (n,) or (n, p), n > 0, divided by their largest size: for what knows no unit.

    Missing data: NaN stays NaN, and a column of nothing else is left as it is.
    """
    largest = np.fmax.reduce(np.abs(values), axis=0)
    fit: Floats = values / np.where(largest > 0, largest, 1.0)
    return fit
