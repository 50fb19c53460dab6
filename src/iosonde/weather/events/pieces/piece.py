"""A slow stretch of one operation, before it is joined with others to an event."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

NAN = float("nan")


class SlowPiece(NamedTuple):
    """[begin, end) of one op in which it was slow, partly slow, lossy or hung; ``open``: the data ended first.

    ``lost``: operations were late or missing, and those that came back were not slow all of that time.

    ``lower`` and ``upper``: the interval of ``typ``; ``usual_ns``: the typical latency that it is against.
    ``typ`` and ``peak``: median slowdown, and the largest of a minute; ``tail``: the largest ratio of 95%
    quantiles; NaN where unknown. ``hits``: where fewer operations came from a cache, the share that did, and the usual
    one. ``n``: operations behind it. ``cause``: the detector that found it, if one did.
    """

    op: str
    begin_ns: int
    end_ns: int
    open: bool
    typ: float = NAN
    peak: float = NAN
    tail: float = NAN
    n: int = 0
    cause: str | None = None
    lower: float = NAN
    upper: float = NAN
    usual_ns: float = NAN
    lost: bool = False
    hits: float = NAN
    hits_usual: float = NAN

    def overlaps(self, begin_ns: int, end_ns: int) -> bool:
        """Whether both share a moment."""
        return self.begin_ns < end_ns and self.end_ns > begin_ns


def united(pieces: Iterable[SlowPiece], gap_ns: int = 0) -> list[SlowPiece]:
    """Pieces by op and begin; those of one op that overlap or lie at most ``gap_ns`` apart are one.

    Slow and lossy ones stay apart: losses hide no slowdown.
    """
    found: list[SlowPiece] = []
    order = sorted(pieces, key=lambda one: (one.op, one.lost, one.begin_ns, one.end_ns))
    for piece in order:
        last = found[-1] if found else None
        alike = last is not None and (last.op, last.lost) == (piece.op, piece.lost)
        if last and alike and piece.begin_ns - last.end_ns <= gap_ns:
            found[-1] = _union(last, piece)
        else:
            found.append(piece)
    return found


def _union(one: SlowPiece, other: SlowPiece) -> SlowPiece:
    longer = max(one, other, key=lambda piece: piece.n)
    latest = max(one, other, key=lambda piece: piece.end_ns)
    return SlowPiece(
        one.op,
        one.begin_ns,
        latest.end_ns,
        latest.open,
        longer.typ,
        _largest(one.peak, other.peak),
        _largest(one.tail, other.tail),
        longer.n,
        one.cause or other.cause,
        longer.lower,
        longer.upper,
        longer.usual_ns,
        one.lost,
    )


def _largest(one: float, other: float) -> float:
    """The larger one; NaN only if neither is known."""
    known = [value for value in (one, other) if not math.isnan(value)]
    return max(known, default=NAN)
