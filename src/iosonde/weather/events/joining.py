"""Slow stretches of the ops of one target become events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.frames import TargetRef
from iosonde.model.ops import op_order
from iosonde.weather.events import slow_intervals as spells
from iosonde.weather.events.pieces.piece import SlowPiece, united
from iosonde.weather.events.slow_intervals import Measures, OpWindows, Rule

_PEAK_WINDOWS = 5
"""A shorter stretch is measured on its operations."""
_UNSEEN_WINDOWS = 1.5
"""Less than this is no gap: a stretch begins and ends within windows."""


def spell_pieces(op: str, series: OpWindows, rule: Rule) -> list[SlowPiece]:
    """The spells of one series as pieces, to the window; where losses last longer, what was slow stands by itself."""
    nothing = np.full(len(series.lost), np.nan)
    slow = spells.spells(series._replace(lost=nothing), rule, op)
    found = list(slow)
    for spell in spells.spells(series, rule, op):
        inside = [one for one in slow if one.overlaps(spell.begin_ns, spell.end_ns)]
        near_ns = rule.merged_windows * series.window_ns
        same = len(inside) == 1 and (
            inside[0].begin_ns - spell.begin_ns <= near_ns
            and spell.end_ns - inside[-1].end_ns <= near_ns
        )
        if not same:
            found.append(spell._replace(lost=bool(inside)))
    return sorted(found, key=lambda one: (one.begin_ns, one.end_ns))


def joined(
    ref: TargetRef, ops: Mapping[str, OpWindows], pieces: Sequence[SlowPiece], rule: Rule
) -> list[SlowEvent]:
    """The events of one target: pieces of its ops that overlap or nearly touch are one event.

    ``ops``: the windows of every op, over which an event is measured.
    """
    window_ns = max((series.window_ns for series in ops.values()), default=0)
    whole = united(
        (piece._replace(op="", lost=False) for piece in pieces), rule.merged_windows * window_ns
    )
    found = []
    for span in whole:
        mine = [piece for piece in pieces if piece.overlaps(span.begin_ns, span.end_ns)]
        found.append(_event(ref, ops, mine, rule))
    return found


def _event(
    ref: TargetRef,
    ops: Mapping[str, OpWindows],
    pieces: Sequence[SlowPiece],
    rule: Rule,
) -> SlowEvent:
    start, end, open_ = _around(pieces)
    whole = {op: _measured(series, pieces, rule) for op, series in ops.items()}
    shares = [
        _share(
            op, series, whole[op], [piece for piece in pieces if piece.op == op], rule, until_ns=end
        )
        for op, series in ops.items()
    ]
    kind, shares = ranked([share for share in shares if share.n > 0], rule)
    worst = shares[0] if shares else None
    window_ns = max((series.window_ns for series in ops.values()), default=0)
    unseen = min((found.unobserved_ns for found in whole.values()), default=0)
    causes = [piece.cause for piece in pieces if worst and piece.op == worst.op and piece.cause]
    return SlowEvent(
        host=ref.host,
        target=ref.target,
        start_ns=start,
        end_ns=None if open_ else end,
        seen_until_ns=end,
        peak=worst.peak if worst else None,
        peak_ns=worst.peak_ns if worst else None,
        median=worst.median if worst else None,
        area_s=float(sum(found.area_s for found in whole.values())),
        recovery_ns=worst.recovery_ns if worst else None,
        n=sum(share.n for share in shares),
        ops=tuple(shares),
        lost=worst.lost if worst else None,
        unobserved_ns=unseen if unseen >= _UNSEEN_WINDOWS * window_ns else 0,
        kind=kind,
        op=worst.op if worst else None,
        cause=causes[0] if causes else None,
    )


def _measured(series: OpWindows, pieces: Sequence[SlowPiece], rule: Rule) -> Measures:
    """Windows that lie in the time of pieces for the better part; those that touch it where there is none."""
    begin, end, open_ = _around(pieces)
    half = series.window_ns // 2
    shifted = begin - half, end - half
    first, last = np.searchsorted(series.start_ns, shifted)
    if first == last:
        shifted = begin - series.window_ns + 1, end
    return spells.measure(series, shifted, rule, open_=open_)


def _share(
    op: str,
    series: OpWindows,
    whole: Measures,
    own: Sequence[SlowPiece],
    rule: Rule,
    *,
    until_ns: int,
) -> OpShare:
    """``own``: pieces of this op; one that goes on ends with the event, at ``until_ns``, if it ends a window before."""
    found = whole
    start = end = None
    median, peak, peak_ns = found.median, found.peak, found.peak_ns
    ends, usual_ns = (found.lower, found.upper), float("nan")
    if own:
        lossy = _measured(series, own, rule)
        own = [piece for piece in own if not piece.lost] or own
        start, end, open_ = _around(own)
        end = until_ns if open_ and until_ns - end <= series.window_ns else end
        found = _measured(series, own, rule)._replace(lost=lossy.lost)
        median, peak, peak_ns = found.median, found.peak, found.peak_ns
        ends = found.lower, found.upper
        longest = max(own, key=lambda piece: piece.n)
        short = end - start < _PEAK_WINDOWS * series.window_ns
        if not math.isnan(longest.typ) and (short or math.isnan(median)):
            median, ends = longest.typ, (longest.lower, longest.upper)
        elif longest.lower > 0:
            # Windows' own intervals know no memory that is longer than a window.
            by = median / longest.typ
            ends = min(ends[0], by * longest.lower), max(ends[1], by * longest.upper)
        usual_ns = longest.usual_ns
        steep = max((p.peak for p in own if not math.isnan(p.peak)), default=float("nan"))
        if not math.isnan(steep) and not peak >= steep:
            peak, peak_ns = steep, _hottest(series, start, end)
        if not math.isnan(median) and not peak >= median:
            peak = median
    tails = [t for t in (found.tail, *(p.tail for p in own)) if not math.isnan(t)]
    # Where a cache serves fewer operations the typical one of the others tells nothing.
    cold = next((p for p in own if not math.isnan(p.hits)), None)
    alone = cold is not None and all(p.cause == cold.cause for p in own)
    affected = median >= rule.quiet_typ and not alone if own else found.share >= spells.AFFECTED
    return OpShare(
        op,
        _known(median),
        _known(peak),
        max(tails, default=None),
        _known(found.lost),
        found.share,
        affected,
        found.n or sum(piece.n for piece in own),
        peak_ns=peak_ns,
        recovery_ns=found.recovery_ns,
        start_ns=start,
        end_ns=end,
        lower=_known(ends[0]),
        upper=_known(ends[1]),
        usual_ns=_known(usual_ns),
        hits=cold.hits if cold else None,
        hits_usual=cold.hits_usual if cold else None,
    )


def _around(pieces: Sequence[SlowPiece]) -> tuple[int, int, bool]:
    """The first begin and the last end; whether one of them goes on."""
    begin = min(piece.begin_ns for piece in pieces)
    end = max(piece.end_ns for piece in pieces)
    return begin, end, any(piece.open for piece in pieces)


def _hottest(series: OpWindows, start_ns: int, end_ns: int) -> int:
    """When the slowest window of a stretch began, not before the stretch."""
    first, last = np.searchsorted(series.start_ns, [start_ns - series.window_ns + 1, end_ns])
    typ = series.typ[first:last]
    if len(typ) == 0 or np.isnan(typ).all():
        return start_ns
    return max(start_ns, int(series.start_ns[first + int(np.nanargmax(typ))]))


def ranked(shares: Sequence[OpShare], rule: Rule) -> tuple[str, list[OpShare]]:
    """The kind of an event by the shares of its ops, and these, the worst first."""
    order = sorted(shares, key=_rank)
    kind = _kind(order, rule)
    if kind == "lost":
        order.sort(key=lambda share: -(share.lost or 0.0))
    return kind, order


def _rank(share: OpShare) -> tuple[bool, bool, float, int]:
    """The worst first: typically slow, then partly, by how much."""
    worst = share.peak if share.affected or share.start_ns is None else share.tail
    return not share.affected, share.start_ns is None, -(worst or 0.0), op_order(share.op)


def _kind(shares: Sequence[OpShare], rule: Rule) -> str:
    if any(share.affected for share in shares):
        return "slow"
    own = [share for share in shares if share.start_ns is not None]
    if any((share.tail or 0.0) >= rule.quiet_tail for share in own):
        return "partly_slow"
    if any((share.lost or 0.0) >= rule.hot_lost for share in own):
        return "lost"
    return "partly_slow"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
