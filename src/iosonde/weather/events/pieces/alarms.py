"""Slow stretches that the live probe's detectors find, over samples of the past.

They see what windows of a minute do not: a tenth of the operations slow, or all of them for less than three minutes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iosonde import _core
from iosonde.model.arrays import Floats, Ints
from iosonde.model.frames import NULL_NS
from iosonde.model.slowdown import NULL_RATES, Baseline
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.stretch import TYPICAL, stretch
from iosonde.weather.samples.operations import Operations

WARM_UP_NS = 3_600_000_000_000
"""What detectors see before the day that they are asked about."""
_CLEAR_NS = 300_000_000_000
"""An alarm is over after so long without a reason for one (docs/methods/alarms.md)."""
STILL_NS = 90_000_000_000
"""A stretch is over for now where the typical operation was as usual for so long: a window and a half."""
_FADE = 300
"""Operations after which the cumulative sums have forgotten the last slow one."""
CACHE = "cache"
"""Cause of an alarm: fewer operations come from a cache."""
LEAST_SCORE = 17.0
"""``ln(10 n)`` for the n operations of a month at 1 Hz: a stretch of less comes by chance once in ten months (Karlin
and Altschul 1990). An alarm cannot wait for so much, an event can."""


class Alarm(NamedTuple):
    """An alarm: when it was raised and by what, its peaks, when it was over (None: it lasts)."""

    raised_ns: int
    cause: str
    peak: float
    peak_tail: float
    cleared_ns: int | None


def alarms(rows: Operations, which: Ints, versions: Floats) -> list[Alarm]:
    """Every alarm of one series, in the order in which they were raised.

    Shape: (n,), versions as ``Baseline.numbers``. ``which``: the row of ``versions`` that an operation is judged by, -1
    while learning (nothing is raised then). Source: docs/methods/alarms.md; computed by the native core, the live
    probe's own code.
    """
    raw = _core.alarms(
        np.ascontiguousarray(rows.due_ns, dtype=np.int64).data,
        _nullable(rows.service_ns() - rows.queued_ns).data,
        _nullable(rows.response_ns() - rows.queued_ns).data,
        np.ascontiguousarray(rows.lost(), dtype=np.uint8).data,
        np.ascontiguousarray(which, dtype=np.int64).data,
        np.ascontiguousarray(versions, dtype=np.float64).reshape(-1).data,
    )
    raised, cause = (
        np.frombuffer(raw[name], dtype=np.int64).tolist() for name in ("raised_ns", "cause")
    )
    peak, tail, cleared = (
        np.frombuffer(raw[name], dtype=np.float64).tolist()
        for name in ("peak", "peak_tail", "cleared_ns")
    )
    found: dict[int, Alarm] = {}
    for start, why, typ, slowest, end in zip(raised, cause, peak, tail, cleared, strict=True):
        over = None if np.isnan(end) else int(end)
        found[start] = Alarm(start, _core.ALARM_CAUSES[why], typ, slowest, over)
    return list(found.values())


def alarm_pieces(op: str, rows: Operations, baseline: Baseline) -> list[SlowPiece]:
    """What the alarms of one series are about: from the first to the last slow operation of each."""
    which = baseline.at(rows.due_ns)
    if len(rows) < 2 or (which < 0).all():
        return []
    fade_ns = _FADE * int(np.median(np.diff(rows.due_ns)))
    found = []
    before = int(rows.due_ns[0])
    for alarm in alarms(rows, which, with_rates(baseline.numbers)):
        version = baseline.numbers[int(baseline.at(np.array([alarm.raised_ns - 1]))[0])]
        begins = (max(before, alarm.raised_ns - WARM_UP_NS), alarm.raised_ns)
        last_ns = int(rows.due_ns[-1])
        over = last_ns if alarm.cleared_ns is None else alarm.cleared_ns - 1
        calm = over if alarm.cleared_ns is None else alarm.cleared_ns - _CLEAR_NS
        earliest = max(alarm.raised_ns - fade_ns, begins[0], calm - fade_ns)
        factor = alarm.peak if alarm.peak >= 2 or alarm.cause in ("typ", "shift") else 1.0
        before = over
        cold = alarm.cause == CACHE
        factor = 1.0 if cold else factor
        slow = stretch(rows, version, begins, (min(earliest, over), over), factor, cold=cold)
        if slow is None and factor >= TYPICAL:
            # The typical operation was slow by chance, or for a moment only: a part of them may be.
            factor = 1.0
            slow = stretch(rows, version, begins, (min(earliest, over), over), factor)
        if slow is None or (factor < TYPICAL and slow[2] < LEAST_SCORE):
            continue
        piece, last, _ = slow
        patience_ns = STILL_NS if cold or factor >= TYPICAL else _CLEAR_NS
        found.append(
            piece._replace(
                op=op,
                open=alarm.cleared_ns is None and not is_over(rows, last, patience_ns),
                peak=alarm.peak,
                tail=alarm.peak_tail,
                cause=alarm.cause,
                lost=alarm.cause == "lost",
            )
        )
    return found


def is_over(rows: Operations, last: int, patience_ns: int) -> bool:
    """Whether the last slow operation is so long ago."""
    return int(rows.due_ns[-1] - rows.due_ns[last]) >= patience_ns


def with_rates(versions: Floats) -> Floats:
    """Versions from before null rates were known take the first known ones: in hindsight they are."""
    known = np.flatnonzero(~np.isnan(versions[:, NULL_RATES]))
    if len(known) == 0 or known[0] == 0:
        return versions
    filled = versions.copy()
    filled[: known[0], NULL_RATES:] = versions[known[0], NULL_RATES:]
    return filled


def _nullable(values: Floats) -> Ints:
    known = ~np.isnan(values)
    found = np.full(len(values), NULL_NS, dtype=np.int64)
    found[known] = values[known].astype(np.int64)
    return found
