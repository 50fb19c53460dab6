"""What happened in one span: slow stretches and hangs of every series.

A span is worked on with an hour before it, in which detectors warm up; what lasts over its begin overlaps and is
joined by whoever has both spans. So one that is over depends on its samples and baselines alone.
"""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Floats
from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import Baseline
from iosonde.weather.events.joining import spell_pieces
from iosonde.weather.events.pieces.alarms import (
    STILL_NS,
    WARM_UP_NS,
    alarm_pieces,
    is_over,
)
from iosonde.weather.events.pieces.hangs import hang_pieces, patience_ns
from iosonde.weather.events.pieces.harmless import is_harmless
from iosonde.weather.events.pieces.outages import outages
from iosonde.weather.events.pieces.piece import NAN, SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries, cut, expected_at, version_at
from iosonde.weather.events.pieces.spans import Span
from iosonde.weather.events.pieces.stretch import TYPICAL, median_ns, q99_ns, stretch
from iosonde.weather.samples.operations import Operations

_BEFORE_NS = 600_000_000_000
"""Time before a spell that is searched for its first slow operation (it may have crept up)."""
_INTO = 2
"""Windows into it."""


def with_pieces(
    key: SeriesKey,
    span: Span,
    series: JudgedSeries,
    rows: Operations | None,
    baseline: Baseline | None,
) -> JudgedSeries:
    """A series with the stretches that end in ``span``, or go on at its end.

    ``series`` and ``rows`` may reach further. Raises what the core raises for columns that do not fit.
    """
    since, until = span.begin_ns - WARM_UP_NS, span.end_ns
    part = None if rows is None else rows.between(since, until)
    slow = _spells(key, cut(series, since, until), part, baseline)
    hung: list[SlowPiece] = []
    if part is not None and len(part):
        usual = _usual(part, baseline)
        hung = hang_pieces(key.op, part, patience_ns(key.period_ns, *usual))
        if baseline is not None and series.dense:
            found = alarm_pieces(key.op, part, baseline)
            seen = [piece for piece in found if not _explained(piece, series)]
            slow += [
                one
                for piece in seen
                for one in (outages(piece, series, part) if piece.lost else [piece])
            ]
    return series._replace(
        slow=[piece for piece in slow if piece.end_ns > span.begin_ns],
        hung=[piece for piece in hung if piece.end_ns > span.begin_ns],
    )


def _spells(
    key: SeriesKey,
    series: JudgedSeries,
    rows: Operations | None,
    baseline: Baseline | None,
    not_before_ns: int = 0,
) -> list[SlowPiece]:
    """Spells of windows, from the first to the last slow operation where samples are left."""
    found = spell_pieces(key.op, series.windows, series.rule)
    if rows is None or len(rows) == 0:
        return found
    left = [piece for piece in found if not is_harmless(piece, series, rows, baseline)]
    refined = []
    for piece in left:
        sharp = _refined(piece, series, rows, baseline, not_before_ns)
        refined += outages(sharp, series, rows)
        after = cut(series, sharp.end_ns, piece.end_ns)
        if piece.end_ns - sharp.end_ns > series.rule.quiet_windows * series.windows.window_ns:
            # The typical operation was as usual again; a part of them, or losses, may have gone on.
            refined += _spells(key, after, rows, baseline, sharp.end_ns + 1)
    return refined


def _refined(
    piece: SlowPiece,
    series: JudgedSeries,
    rows: Operations,
    baseline: Baseline | None,
    not_before_ns: int,
) -> SlowPiece:
    windows, version = series.windows, expected_at(series, baseline, piece.begin_ns)
    inside = slice(*np.searchsorted(windows.start_ns, [piece.begin_ns, piece.end_ns]))
    known = _until_quiet(windows.typ[inside], series.rule.quiet_typ)
    factor = float(np.median(known)) if len(known) else 1.0
    into = piece.begin_ns + _INTO * windows.window_ns
    back = 6 if piece.open else _INTO
    earliest = max(piece.begin_ns, piece.end_ns - back * windows.window_ns)
    if factor >= TYPICAL:
        loud = np.flatnonzero(windows.typ[inside] >= series.rule.quiet_typ)
        earliest = min(earliest, int(windows.start_ns[inside][loud[-1]]))
    latest = piece.end_ns if piece.open else piece.end_ns + windows.window_ns
    begin = max(not_before_ns, piece.begin_ns - max(_BEFORE_NS, _INTO * windows.window_ns))
    slow = stretch(rows, version, (begin, into), (earliest, latest), factor)
    if slow is None:
        return piece
    sharp, last, _ = slow
    goes_on = piece.open and not is_over(rows, last, STILL_NS)
    sharp = sharp._replace(op=piece.op, lost=piece.lost, open=goes_on)
    return sharp if len(known) else sharp._replace(typ=NAN, lower=NAN, upper=NAN)


def _until_quiet(typ: Floats, quiet: float) -> Floats:
    """What is known up to the last window that is not quiet: a spell that is still open ends with quiet ones."""
    known = typ[~np.isnan(typ)]
    loud = np.flatnonzero(known >= quiet)
    return known[: loud[-1] + 1] if len(loud) else known


def _usual(rows: Operations, baseline: Baseline | None) -> tuple[float, float]:
    """Median and 0.99 quantile that were expected last; while learning the median of the span itself."""
    version = version_at(baseline, int(rows.due_ns[-1]))
    if not np.isnan(median_ns(version)):
        return median_ns(version), q99_ns(version)
    service = rows.service_ns()
    known = service[~np.isnan(service)]
    return (float(np.median(known)) if len(known) else NAN), NAN


def _explained(piece: SlowPiece, series: JudgedSeries) -> bool:
    """Whether the probing host explains most of the windows that a piece touches."""
    starts, window_ns = series.windows.start_ns, series.windows.window_ns
    first, last = np.searchsorted(starts, [piece.begin_ns - window_ns + 1, piece.end_ns])
    busy = series.busy[first:last]
    return len(busy) > 0 and 2 * int(busy.sum()) > len(busy)
