"""A slow stretch of one operation, before it is joined with others to an event."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

NAN = float("nan")


class SlowPiece(NamedTuple):
    """[begin, end) of one op in which it was slow, partly slow or hung; ``open``: the data ended first.

    ``typ`` and ``peak``: median slowdown, and the largest of a minute; ``tail``: the largest ratio of 95%
    quantiles; NaN where unknown. ``n``: operations behind it. ``cause``: the detector that found it, if one did.
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

    def overlaps(self, begin_ns: int, end_ns: int) -> bool:
        """Whether both share a moment."""
        return self.begin_ns < end_ns and self.end_ns > begin_ns


def united(pieces: Iterable[SlowPiece], gap_ns: int = 0) -> list[SlowPiece]:
    """Pieces by op and begin; those of one op that overlap or lie at most ``gap_ns`` apart are one."""
    found: list[SlowPiece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.op, piece.begin_ns, piece.end_ns)):
        last = found[-1] if found else None
        if last and last.op == piece.op and piece.begin_ns - last.end_ns <= gap_ns:
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
    )


def _largest(one: float, other: float) -> float:
    """The larger one; NaN only if neither is known."""
    known = [value for value in (one, other) if not math.isnan(value)]
    return max(known, default=NAN)
