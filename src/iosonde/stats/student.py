"""Student's distribution by the native core: SciPy's import takes longer than most questions about one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


def student_share(t: Floats, freedom: Floats | float) -> Floats:
    """Share of Student's distribution with ``freedom`` > 0 degrees (same shape, or one for all) below ``t``.

    NaN stays NaN. Source: Abramowitz and Stegun 26.5.8 and 26.7.1 (``rust/core/src/student.rs``).
    """
    given, nu = np.broadcast_arrays(
        np.asarray(t, dtype=np.float64), np.asarray(freedom, dtype=np.float64)
    )
    flat = [np.ascontiguousarray(column.ravel()) for column in (given, nu)]
    share = np.frombuffer(_core.student_shares(flat[0].data, flat[1].data), dtype=np.float64)
    return share.reshape(given.shape)


def student_quantile(probability: float, freedom: float) -> float:
    """Quantile of Student's distribution with ``freedom`` > 0 degrees at ``probability``, 0 < p < 1.

    Raises ValueError outside of either range.
    """
    return _core.student_quantile(probability, freedom)
