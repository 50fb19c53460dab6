"""From the first to the last slow operation of a stretch that is known only roughly.

::

    score of an operation   > 0 if it is slow, < 0 if it is as usual
    sum of the scores       9 8 7 8 9 10 11 10 9   begin: after the lowest sum in ``begins``
                                ^begin    ^end     end:   at the highest sum after it in ``ends``

Between the two the sum rises most: the stretch is the one that fits the scores best (Page 1954). Where the typical
operation is slow the score is ``ln(response / usual) - ln(factor) / 2``, clipped, as in the core's ``onset``; where
only some are, the log likelihood ratio of their share against the usual one, counted above ``limit_ns``. There a slow
operation right after a slow one says nothing new, as for the alarms: two quick ones in a row end a run. One that
failed or did not come back does: it is no queue's memory of the one before.
"""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.frames import NULL_NS
from iosonde.model.slowdown import HIT_SHARE, MODES, NULL_MISSES, Q50
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.typical import typical, usual_ns
from iosonde.weather.samples.operations import Operations

_Q50, _Q75, _Q95, _Q99, _HIT = Q50, 14, 18, 19, HIT_SHARE
"""Places in a version (``model.slowdown.VERSION_WIDTH``)."""
_NEAR = 3
"""An operation within so many periods is the next one of its schedule."""
TYPICAL = 1.5
"""From this slowdown of the typical operation on a stretch is judged on all of its operations."""
_FACTORS = (1.8, 4.0)
_USUAL_SHARE = 0.01
"""Above the 0.99 quantile."""
_SHARES = (0.03, 0.5)
_MISSES = 0.1
"""Least usual share of misses, as for the alarm."""
_COLD = 0.99
"""Largest share of misses that is told from all."""


def limit_ns(version: Floats) -> float:
    """The latency above which an operation is slow by itself: what one in a hundred exceeds, at least."""
    return float(max(version[_Q99], version[_Q95] ** 2 / max(version[_Q75], 1.0)))


def between_ns(version: Floats) -> float:
    """The latency between two modes, as many standard deviations from either; NaN where there is one."""
    hit, miss, narrow, wide = version[MODES]
    return float(np.exp((hit * wide + miss * narrow) / (narrow + wide)))


def q95_ns(version: Floats) -> float:
    """The latency that one operation in twenty exceeds."""
    return float(version[_Q95])


def q99_ns(version: Floats) -> float:
    """The latency that one operation in a hundred exceeds."""
    return float(version[_Q99])


def median_ns(version: Floats) -> float:
    """The expected median."""
    return float(version[_Q50])


def waits_ns(rows: Operations) -> Floats:
    """Response times without the wait for a CPU, as for the alarms: what the storage alone took.

    Infinite where an operation is lost and nobody knows how long it took.
    """
    response = np.maximum(rows.response_ns() - rows.queued_ns, 1.0)
    return np.where(np.isnan(response) & rows.lost(), np.inf, response)


def stretch(
    rows: Operations,
    version: Floats,
    begins: tuple[int, int],
    ends: tuple[int, int],
    factor: float,
    *,
    cold: bool = False,
) -> tuple[SlowPiece, int, float] | None:
    """The slow stretch that begins in ``begins`` and ends in ``ends`` (ns, both with their ends).

    A piece without an op, the row of its last slow operation, and the sum of the scores. ``typ`` of it is the median
    response / usual, NaN: too few.
    ``version``: what was expected; ``factor``: the slowdown of the typical operation at worst, as far as it is known.
    ``cold``: the stretch in which fewer operations came from a cache; slow are those that did not.
    None where no operation lies in ``begins``, or none is slow.
    """
    low, high = np.searchsorted(rows.due_ns, [begins[0], max(begins[1], ends[1]) + 1])
    if low == high:
        return None
    waits = waits_ns(rows.between(begins[0], max(begins[1], ends[1]) + 1))
    due = rows.due_ns[low:high]
    above = between_ns(version) if cold else limit_ns(version)
    slow = (waits > above) | np.isinf(waits)
    inside = (due > begins[1] - (ends[0] - begins[1])) & (due <= ends[0])
    scores = (
        _misses(waits, slow, inside, version)
        if cold
        else _scores(waits, slow, inside, version, factor)
    )
    total = np.concatenate(([0.0], np.cumsum(scores)))
    start, stop = np.searchsorted(due, [begins[0], begins[1] + 1])
    if start == stop:
        return None
    first = int(start + np.argmin(total[start:stop]))
    earliest, latest = np.searchsorted(due, [ends[0], ends[1] + 1])
    earliest = max(int(earliest), first)
    if earliest >= latest:
        return None
    last = earliest + _last_of_highest(total[earliest + 1 : latest + 1], slow[earliest:latest])
    if last < first or total[last + 1] <= total[first]:
        return None
    known = waits[first : last + 1]
    known = known[~np.isnan(known)]
    ended = known[np.isfinite(known)]
    typ, lower, upper = typical(ended, version, int(due[last] - due[first]))
    score = float(total[last + 1] - total[first])
    first, last = first + int(low), last + int(low)
    piece = SlowPiece(
        *("", int(rows.due_ns[first]), back_ns(rows, last), False, typ),
        n=last - first + 1,
        lower=lower,
        upper=upper,
        usual_ns=usual_ns(version),
    )
    if cold:
        piece = piece._replace(hits=float((ended <= above).mean()), hits_usual=float(version[_HIT]))
    return piece, last, score


def _last_of_highest(total: Floats, slow: Flags) -> int:
    """Where the sum is highest; of several such operations the last slow one: those in a row add nothing to it."""
    highest = np.flatnonzero(total == total.max())
    own = highest[slow[highest]]
    return int(own[-1] if len(own) else highest[0])


def back_ns(rows: Operations, place: int) -> int:
    """When a stretch ended of which the operation at ``place`` is the last slow one.

    It ended when that came back, or when the next one was due where the schedule goes on.
    """
    due = int(rows.due_ns[place])
    end = int(rows.ended_ns[place])
    back = max(due + 1, due if end == NULL_NS else end)
    if place + 1 == len(rows):
        return back
    after = int(rows.due_ns[place + 1])
    usual = int(np.median(np.diff(rows.due_ns[max(0, place - 9) : place + 2])))
    return max(back, after) if after - due <= _NEAR * usual else back


def _misses(waits: Floats, slow: Flags, inside: Flags, version: Floats) -> Floats:
    """Log likelihood ratios of the share of misses against the usual one; what is lost is neither hit nor miss."""
    known = np.isfinite(waits)
    usual = max(_MISSES, float(version[NULL_MISSES]))
    counted = inside & known
    part = float(slow[counted].mean()) if counted.any() else _COLD
    share = float(np.clip(part, (usual + _COLD) / 2, _COLD))
    rise, fall = np.log(share / usual), np.log((1 - share) / (1 - usual))
    return np.asarray(np.where(known, np.where(slow, rise, fall), 0.0))


def _scores(waits: Floats, slow: Flags, inside: Flags, version: Floats, factor: float) -> Floats:
    bimodal = not np.isnan(version[_HIT])
    neutral: Flags = np.isnan(waits) | (bimodal & (waits <= version[_Q50]))
    if factor >= TYPICAL:
        half = np.log(np.clip(factor, *_FACTORS)) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(np.maximum(waits, 1.0) / usual_ns(version))
        scores = np.clip(ratio - half, -half, half)
    else:
        again = slow.copy()
        again[1:] &= slow[:-1] | np.concatenate(([False], slow[:-2]))[: len(slow) - 1]
        again[:1] = False
        again &= np.isfinite(waits)
        neutral |= again
        counted = inside & ~neutral
        part = float(slow[counted].mean()) if counted.any() else _SHARES[0]
        share = float(np.clip(part, *_SHARES))
        rise, fall = np.log(share / _USUAL_SHARE), np.log((1 - share) / (1 - _USUAL_SHARE))
        scores = np.where(slow, rise, fall)
    return np.asarray(np.where(neutral, 0.0, scores))
