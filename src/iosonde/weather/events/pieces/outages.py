"""Losses that stopped in between: each outage is a piece of its own.

::

    lost          xxxxx                    xxxxxxx
    the piece     |------------------------------|     quiet windows end it, and a busy host hides some of these
    its outages   |---|  all came in time  |-----|
"""

from __future__ import annotations

import itertools

import numpy as np

from iosonde.weather.events.pieces.piece import NAN, SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries, cut
from iosonde.weather.events.pieces.stretch import TYPICAL, back_ns
from iosonde.weather.samples.operations import Operations

LEAST_MISSED = 7.0
"""Operations that would have been lost between two outages, had losses gone on: that none was has a chance of e^-7."""

FEWEST = 3
"""Losses of an outage beside others: fewer come by chance."""


def outages(piece: SlowPiece, series: JudgedSeries, rows: Operations) -> list[SlowPiece]:
    """The outages of a piece; the piece itself where losses did not stop, or where the typical operation was slow.

    They lie further apart than spells that are one, and nothing was slow between them. Missing data: windows that the
    probing host explains say nothing.
    """
    first, last = np.searchsorted(rows.due_ns, [piece.begin_ns, piece.end_ns])
    lost = first + np.flatnonzero(rows.lost()[first:last])
    if piece.typ >= TYPICAL or len(lost) < 2:
        return [piece]
    due = rows.due_ns[lost]
    missed = (np.diff(lost) - 1) * len(lost) / (last - first)
    apart = np.diff(due) > series.rule.merged_windows * series.windows.window_ns
    stops = [
        place
        for place in np.flatnonzero(apart & (missed >= LEAST_MISSED)).tolist()
        if _is_quiet(series, int(due[place]), int(due[place + 1]))
    ]
    if not stops:
        return [piece]
    own = piece._replace(typ=NAN, lower=NAN, upper=NAN, open=False)
    edges = [-1, *stops, len(lost) - 1]
    found = [
        own._replace(
            begin_ns=int(due[before + 1]),
            end_ns=back_ns(rows, int(lost[end])),
            n=int(lost[end] - lost[before + 1]) + 1,
        )
        for before, end in itertools.pairwise(edges)
    ]
    found[0] = found[0]._replace(begin_ns=piece.begin_ns)
    found[-1] = found[-1]._replace(end_ns=piece.end_ns, open=piece.open)
    many = np.diff(edges) >= FEWEST
    return [one for one, enough in zip(found, many.tolist(), strict=True) if enough] or [piece]


def _is_quiet(series: JudgedSeries, since_ns: int, until_ns: int) -> bool:
    """Whether no window of its own between two instants is slow."""
    inside = cut(series, since_ns + 1, until_ns - series.windows.window_ns)
    windows, rule = inside.windows, series.rule
    loud = (windows.typ >= rule.quiet_typ) | (windows.tail >= rule.quiet_tail)
    return not (loud & ~inside.busy).any()
