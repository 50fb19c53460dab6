"""When a number becomes a word: the core's rules, for whole columns.

Float64 columns of equal length, one entry a window, ratios and ns; NaN = unknown, which is neither slow nor busy.
Source: docs/methods/slowdown.md, docs/methods/probe.md (the control).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


FLOOR_NS: float = _core.FLOOR_NS
"""Added latency of which no verdict is given: what a processor takes to wake."""


def slow(median_ns: Floats, lower_ns: Floats, baseline_ns: Floats) -> Flags:
    """Which windows are slow. ``lower_ns`` is the lower end of the median's interval.

    Raises ValueError for columns of different lengths.
    """
    return _flags(_core.slow_windows(_column(median_ns), _column(lower_ns), _column(baseline_ns)))


def young_slow(slowdown: Floats, lower: Floats, upper: Floats, error: Floats) -> Flags:
    """Which windows are slow against a baseline of the windows so far, which vary by ``error`` (of logarithms).

    Raises ValueError for columns of different lengths.
    """
    columns = (_column(slowdown), _column(lower), _column(upper), _column(error))
    return _flags(_core.young_slow_windows(*columns))


def host_busy(
    slowdown: Floats,
    unqueued: Floats,
    late_ns: Floats,
    middle_ns: Floats,
    host_ns: tuple[Floats, Floats] | None = None,
) -> Flags:
    """Which windows the probing host explains, if they are slow.

    ``unqueued`` is the slowdown without the time the thread waited for a CPU, ``late_ns`` the median
    of began - due, ``middle_ns`` the latency expected in the middle of the band, ``host_ns`` median and
    0.9 quantile of began - due over all operations of the target (None = unknown). Raises ValueError for
    columns of different lengths.
    """
    columns = (_column(slowdown), _column(unqueued), _column(late_ns), _column(middle_ns))
    unknown = np.full(len(slowdown), np.nan)
    median, q90 = host_ns or (unknown, unknown)
    return _flags(_core.host_busy_windows(*columns, (_column(median), _column(q90))))


def _column(values: Floats) -> memoryview:
    return np.ascontiguousarray(values, dtype=np.float64).data


def _flags(raw: bytes) -> Flags:
    return np.frombuffer(raw, dtype=np.uint8).astype(np.bool_)
