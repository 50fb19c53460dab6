"""Hangs of the ops of one target as events, and slow events without what hung."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.frames import TargetRef
from iosonde.model.ops import op_order
from iosonde.weather.events.joining import ranked
from iosonde.weather.events.pieces.hangs import overlap_ns, together
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.slow_intervals import Rule

_BEFORE_NS = 60_000_000_000
_AFTER_NS = 120_000_000_000
"""What is slow for so long around a hang of its op is the hang: operations queue behind it."""
_MOSTLY = 0.8


def hang_events(ref: TargetRef, pieces: Sequence[SlowPiece]) -> list[SlowEvent]:
    """Events of kind ``hang``; ops that hung together are one."""
    return [_event(ref, group) for group in together(list(pieces))]


def _event(ref: TargetRef, group: Sequence[SlowPiece]) -> SlowEvent:
    ranked = sorted(group, key=lambda p: (p.begin_ns - p.end_ns, p.begin_ns, op_order(p.op)))
    longest: dict[str, SlowPiece] = {}
    for piece in ranked:
        longest.setdefault(piece.op, piece)
    start, end = min(p.begin_ns for p in group), max(p.end_ns for p in group)
    worst = ranked[0]
    still = any(piece.open and piece.end_ns == end for piece in group)
    return SlowEvent(
        host=ref.host,
        target=ref.target,
        start_ns=start,
        end_ns=None if still else end,
        seen_until_ns=end,
        peak=None,
        peak_ns=None,
        median=None,
        area_s=0.0,
        recovery_ns=None,
        n=sum(piece.n for piece in group),
        ops=tuple(_share(piece) for piece in longest.values()),
        lost=1.0,
        unobserved_ns=0,
        kind="hang",
        op=worst.op,
    )


def _share(piece: SlowPiece) -> OpShare:
    return OpShare(
        piece.op,
        None,
        None,
        None,
        1.0,
        1.0,
        True,
        piece.n,
        start_ns=piece.begin_ns,
        end_ns=piece.end_ns,
        hung_ns=piece.end_ns - piece.begin_ns,
    )


def without_hangs(event: SlowEvent, hung: Sequence[SlowPiece], rule: Rule) -> SlowEvent | None:
    """A slow event without ops that were slow because they hung; None if nothing else was slow."""
    gone = {share.op for share in event.ops if _hung(share, hung)}
    if not gone:
        return event
    kind, left = ranked([share for share in event.ops if share.op not in gone], rule)
    own = [share for share in left if share.start_ns is not None and share.end_ns is not None]
    if not own:
        return None
    worst = left[0]
    end = max(share.end_ns or 0 for share in own)
    return replace(
        event,
        kind=kind,
        ops=tuple(left),
        op=worst.op,
        peak=worst.peak,
        peak_ns=worst.peak_ns,
        median=worst.median,
        lost=worst.lost,
        recovery_ns=worst.recovery_ns,
        n=sum(share.n for share in left),
        start_ns=min(share.start_ns or end for share in own),
        end_ns=None if event.end_ns is None else end,
        seen_until_ns=end,
    )


def _hung(share: OpShare, hung: Sequence[SlowPiece]) -> bool:
    if share.start_ns is None or share.end_ns is None:
        return False
    mine = [piece for piece in hung if piece.op == share.op]
    around = any(
        piece.begin_ns - _BEFORE_NS <= share.start_ns and share.end_ns <= piece.end_ns + _AFTER_NS
        for piece in mine
    )
    length = share.end_ns - share.start_ns
    return around or overlap_ns(mine, share.start_ns, share.end_ns) >= _MOSTLY * length
