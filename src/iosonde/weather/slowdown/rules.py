"""When a number becomes a word: the core's rules, for whole columns.

Float64 columns of equal length, one entry a window, ns; NaN = unknown, which is neither slow nor busy.
Source: docs/methods/slowdown.md, docs/methods/probe.md (the control).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


def slow(median_ns: Floats, lower_ns: Floats, baseline_ns: Floats) -> Flags:
    """Which windows are slow. ``lower_ns`` is the lower end of the median's interval.

    Raises ValueError for columns of different lengths.
    """
    return _flags(_core.slow_windows(_column(median_ns), _column(lower_ns), _column(baseline_ns)))


def host_busy(
    median_ns: Floats, unqueued_ns: Floats, late_ns: Floats, baseline_ns: Floats
) -> Flags:
    """Which windows the probing host explains, if they are slow.

    ``unqueued_ns`` is the median of service time less the time the thread waited for a CPU,
    ``late_ns`` the median of began - due. Raises ValueError for columns of different lengths.
    """
    columns = (_column(median_ns), _column(unqueued_ns), _column(late_ns), _column(baseline_ns))
    return _flags(_core.host_busy_windows(*columns))


def _column(values: Floats) -> memoryview:
    return np.ascontiguousarray(values, dtype=np.float64).data


def _flags(raw: bytes) -> Flags:
    return np.frombuffer(raw, dtype=np.uint8).astype(np.bool_)
