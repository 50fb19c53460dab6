"""Spells of windows that say nothing about the storage: what a busy hour is like, and what the probing host did."""

from __future__ import annotations

import numpy as np

from iosonde.model.slowdown import NULL_TYP, NULL_TYP_ERROR, Baseline
from iosonde.model.units import MINUTE_NS
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries, version_at
from iosonde.weather.events.pieces.stretch import limit_ns, waits_ns
from iosonde.weather.samples.operations import Operations

ORDINARY = 1.5
"""A busy but ordinary ten minutes counts so much at most: a backup every night stays an event."""
ABOVE_ORDINARY = 1.5
"""A spell whose typical slowdown is below so many times that of a busy but ordinary ten minutes is none, ..."""
ERRORS = 3.0
"""... nor one within so many standard errors of it: minutes vary more where operations have a memory."""


def is_harmless(
    piece: SlowPiece, series: JudgedSeries, rows: Operations, baseline: Baseline | None
) -> bool:
    """Whether a spell is ordinary, or nothing is left of it without what the probing host did."""
    if _is_ordinary(piece, series, baseline):
        return True
    rule, windows = series.rule, series.windows
    inside = slice(*np.searchsorted(windows.start_ns, [piece.begin_ns, piece.end_ns]))
    if (windows.typ[inside] >= rule.hot_typ).any():
        return False
    part = rows.between(piece.begin_ns, piece.end_ns)
    return not (windows.lost[inside] >= rule.hot_lost).any() and _is_queue(piece, part, baseline)


def _is_ordinary(piece: SlowPiece, series: JudgedSeries, baseline: Baseline | None) -> bool:
    """Whether it is hardly above what a busy hour of this operation usually is."""
    windows, rule = series.windows, series.rule
    inside = slice(*np.searchsorted(windows.start_ns, [piece.begin_ns, piece.end_ns]))
    version = version_at(baseline, piece.begin_ns)
    usual, error = min(version[NULL_TYP], ORDINARY), np.nan_to_num(version[NULL_TYP_ERROR])
    loud = (windows.tail[inside] >= rule.hot_tail) | (windows.lost[inside] >= rule.hot_lost)
    typ = windows.typ[inside]
    typ = typ[~np.isnan(typ)]
    if len(typ) == 0 or loud.any():
        return False
    minutes = len(typ) * windows.window_ns / MINUTE_NS
    above = max(ABOVE_ORDINARY, float(np.exp(ERRORS * error / np.sqrt(minutes))))
    return bool(float(np.median(typ)) < above * usual)


def _is_queue(piece: SlowPiece, part: Operations, baseline: Baseline | None) -> bool:
    """Whether most of the slow operations are so only for the time their thread waited for a CPU."""
    limit = limit_ns(version_at(baseline, piece.begin_ns))
    still = waits_ns(part) > limit
    slow = still | (part.response_ns() > limit)
    return bool(2 * int(still.sum()) < int(slow.sum()))
