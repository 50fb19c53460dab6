"""Hangs, from samples alone: operations of one op that did not come back, one after the other.

::

    due      t   t+1  t+2  ...  t+59  t+60
    became   ok  hung skip ...  skip  ok          begin: due of the first that did not come back
                 ^begin               ^end        end:   when it came back, or the first good one began

An operation did not come back if it was skipped, timed out or stayed pending, or if it took as long as a hang.
"""

from __future__ import annotations

import numpy as np

from iosonde.model.frames import NULL_NS
from iosonde.weather.events.pieces.piece import SlowPiece, united
from iosonde.weather.samples.operations import GONE, LATE, Operations

HANG_NS = 5_000_000_000
"""An operation hangs when it takes longer than this, as for the agent's breaker, ..."""
HANG_PERIODS = 2
"""... than so many periods ..."""
HANG_MEDIANS = 50
"""... and than so many times the usual median, ..."""
HANG_SLOWEST = 3
"""... so many times the usual 0.99 quantile."""
FEWEST = 3
"""Operations in a row that did not come back in this time together, where none of them took so long by itself."""
_UNSEEN_NS = 600_000_000_000
"""After this long without any operation nobody knows when the last one came back."""


def patience_ns(period_ns: int, median_ns: float, q99_ns: float) -> float:
    """From how long on an operation hangs. Missing data: NaN for what is not known of what is usual."""
    usual = [HANG_MEDIANS * median_ns, HANG_SLOWEST * q99_ns]
    return max([HANG_NS, HANG_PERIODS * period_ns, *(ns for ns in usual if not np.isnan(ns))])


def hang_pieces(op: str, rows: Operations, limit_ns: float) -> list[SlowPiece]:
    """Every hang of one series that lasts ``limit_ns`` or longer; ``n``: operations that did not come back."""
    if len(rows) == 0:
        return []
    begun, ended = rows.began_ns != NULL_NS, rows.ended_ns != NULL_NS
    service = np.where(begun & ended, rows.ended_ns - rows.began_ns, 0)
    gone = (rows.fate == GONE) | (service >= limit_ns)
    changed = np.flatnonzero(np.diff(gone.astype(np.int8), prepend=0, append=0))
    pairs = zip(changed[::2].tolist(), changed[1::2].tolist(), strict=True)
    found = [_piece(op, rows, first, last, limit_ns) for first, last in pairs]
    return united((piece for piece in found if piece is not None), gap_ns=HANG_NS)


def _piece(op: str, rows: Operations, first: int, last: int, limit_ns: float) -> SlowPiece | None:
    """Rows first to last - 1 as a hang, if they are one."""
    begin, final = int(rows.due_ns[first]), int(rows.due_ns[last - 1])
    ended = rows.ended_ns[first:last]
    known = ended != NULL_NS
    back = int(ended[known].max()) if known[-1] else None
    good = _first_good(rows, last)
    if good is not None and good - final > max(_UNSEEN_NS, limit_ns):
        good = None
    ends = [end for end in (back, good) if end is not None]
    open_ = not ends and last == len(rows)
    end = max(min(ends, default=final), begin + 1)
    alone = known & (ended - rows.due_ns[first:last] >= limit_ns)
    if end - begin < limit_ns or (not alone.any() and last - first < FEWEST and not open_):
        return None
    return SlowPiece(op, begin, end, open_, n=last - first)


def _first_good(rows: Operations, place: int) -> int | None:
    """When the operation at ``place`` began or, if nobody knows, was due; None at the end of the data."""
    if place >= len(rows):
        return None
    began = int(rows.began_ns[place])
    return began if began != NULL_NS and rows.fate[place] <= LATE else int(rows.due_ns[place])


def together(pieces: list[SlowPiece]) -> list[list[SlowPiece]]:
    """Hangs of ops of one target that overlap, by begin: each of one event."""
    ordered = sorted(pieces, key=lambda piece: piece.begin_ns)
    groups: list[list[SlowPiece]] = []
    for piece in ordered:
        if groups and piece.begin_ns <= max(one.end_ns for one in groups[-1]):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def overlap_ns(pieces: list[SlowPiece], begin_ns: int, end_ns: int) -> int:
    """How much of [begin, end) lies in any of the pieces."""
    edges = sorted(
        (max(p.begin_ns, begin_ns), min(p.end_ns, end_ns))
        for p in pieces
        if p.overlaps(begin_ns, end_ns)
    )
    total, reached = 0, begin_ns
    for first, last in edges:
        total += max(0, last - max(first, reached))
        reached = max(reached, last)
    return total
