"""Slow now? The live probe's detectors, over samples of the past."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde import _core

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints

CAUSES = tuple(_core.ALARM_CAUSES)
"""What raises an alarm: typ, shift, share, tail, lost."""
_NULL = -(2**63)


class Alarm(NamedTuple):
    """An alarm: when it was raised and by what, its peaks, when it was over (None: it lasts)."""

    raised_ns: int
    cause: str
    peak: float
    peak_tail: float
    cleared_ns: int | None


def alarms(
    due_ns: Ints,
    service_ns: Floats,
    response_ns: Floats,
    lost: Flags,
    *,
    which: Ints,
    versions: Floats,
) -> list[Alarm]:
    """Every alarm of one series of samples, in the order in which they were raised.

    Shape: (n,) each, versions (versions, 38). ``due_ns`` ascending. ``which``: the row of ``versions``
    that each sample is judged by, -1 while learning (nothing is raised then).
    Unit: ns.
    Missing data: NaN for an operation without that latency.
    Source: docs/methods/slowdown.md (alarms); computed by the native core, the live probe's own code.
    """
    raw = _core.alarms(
        np.ascontiguousarray(due_ns, dtype=np.int64).data,
        _nullable(service_ns).data,
        _nullable(response_ns).data,
        np.ascontiguousarray(lost, dtype=np.uint8).data,
        np.ascontiguousarray(which, dtype=np.int64).data,
        np.ascontiguousarray(versions, dtype=np.float64).reshape(-1).data,
    )
    raised = np.frombuffer(raw["raised_ns"], dtype=np.int64).tolist()
    cause = np.frombuffer(raw["cause"], dtype=np.int64).tolist()
    peak, tail, cleared = (
        np.frombuffer(raw[name], dtype=np.float64).tolist()
        for name in ("peak", "peak_tail", "cleared_ns")
    )
    found: list[Alarm] = []
    for start, why, typ, slowest, end in zip(raised, cause, peak, tail, cleared, strict=True):
        over = None if np.isnan(end) else int(end)
        if over is not None and found and found[-1].raised_ns == start:
            found.pop()
        found.append(Alarm(start, CAUSES[why], typ, slowest, over))
    return found


def _nullable(values: Floats) -> Ints:
    known = ~np.isnan(values)
    found = np.full(len(values), _NULL, dtype=np.int64)
    found[known] = values[known].astype(np.int64)
    return found
