"""What is usual: the trailing median of window medians."""

from __future__ import annotations

import numpy as np

from iosonde import _core
from iosonde.model.arrays import Floats, Ints

_NULL = -(2**63)


def trailing_median(start_ns: Ints, median_ns: Floats, trailing_ns: int) -> Floats:
    """The baseline of every window of one series.

    Shape: (windows,), (windows,) -> (windows,). ``start_ns`` ascending.
    Unit: ns since the epoch, ns, ns -> ns.
    Value i is the median of the medians of windows that started in [start_i - trailing, start_i):
    a window never counts for its own baseline.
    Missing data: windows without a median (NaN) are left out; the result is NaN ("learning") until
    5 windows with a median are known.
    Source: the native core, which gives the live probe its baseline.
    """
    starts = np.ascontiguousarray(start_ns, dtype=np.int64)
    known = ~np.isnan(median_ns)
    medians = np.full(len(starts), _NULL, dtype=np.int64)
    medians[known] = median_ns[known].astype(np.int64)
    answer = _core.trailing_median(starts.data, medians.data, trailing_ns)
    return np.frombuffer(answer, dtype=np.float64)
