"""Since when: the first sample of a slow stretch."""

from __future__ import annotations

import numpy as np

from iosonde import _core
from iosonde.model.arrays import Floats, Ints


def onset(
    due_ns: Ints,
    service_ns: Floats,
    baseline_ns: float,
    slowdown: float,
) -> int | None:
    """Index of the first sample of the slow stretch that the last sample belongs to.

    Shape: (samples,), (samples,) -> index. ``due_ns`` ascending.
    Unit: ns since the epoch, ns, ns, ratio. ``slowdown`` is about what the stretch shows.
    Missing data: samples without a service time (NaN) are left out; None when no sample is known
    or none begins a slow stretch.
    Source: the native core.
    """
    known = np.flatnonzero(~np.isnan(service_ns))
    if len(known) == 0:
        return None
    found = _core.onset(
        np.ascontiguousarray(due_ns[known], dtype=np.int64).data,
        np.ascontiguousarray(service_ns[known], dtype=np.int64).data,
        baseline_ns,
        slowdown,
    )
    return None if found is None else int(known[found])
