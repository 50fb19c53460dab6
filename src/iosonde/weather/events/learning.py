"""Since when a target has a baseline of its own: the hour before, usual was the median of the windows so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from iosonde.model.events import LearningSpan
from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.slowdown.baseline import LearntBaselines

_FIRST_WINDOWS = 5
"""Nothing is usual before so many."""


def learning_spans(
    known: LearntBaselines,
    series: Mapping[SeriesKey, JudgedSeries],
    since_ns: int | None,
    until_ns: int | None,
) -> list[LearningSpan]:
    """The stretch of every host and target without a guarded baseline, as far as it lies in [since, until).

    ``series``: what was looked at.
    """
    places: dict[tuple[str, str], list[SeriesKey]] = {}
    for key in known.past:
        places.setdefault((key.host, key.target), []).append(key)
    spans = [_span(known, series, *place, keys) for place, keys in sorted(places.items())]
    return [span for span in spans if span and _reaches(span, since_ns, until_ns)]


def _span(
    known: LearntBaselines,
    series: Mapping[SeriesKey, JudgedSeries],
    host: str,
    target: str,
    keys: Iterable[SeriesKey],
) -> LearningSpan | None:
    begins = [
        int(known.past[key].number[0]) * INTERVAL_NS for key in keys if len(known.past[key].number)
    ]
    if not begins:
        return None
    first = [
        int(known.baselines[key].from_ns[0])
        for key in keys
        if key in known.baselines and len(known.baselines[key].from_ns)
    ]
    learned = [_learned_ns(series[key]) for key in keys if key in series]
    return LearningSpan(
        host, target, min(begins), max(first, default=None), min(learned, default=0) or None
    )


def _learned_ns(series: JudgedSeries) -> int:
    """Length of the windows that a series' first baseline was learnt from; 0: there was none."""
    windows = series.windows
    usable = windows.known("learning") & ~np.isnan(windows.typ) & ~windows.known("certain")
    n = int(np.count_nonzero(usable))
    return (n + _FIRST_WINDOWS) * windows.window_ns if n else 0


def _reaches(span: LearningSpan, since_ns: int | None, until_ns: int | None) -> bool:
    over = span.until_ns is not None and since_ns is not None and span.until_ns <= since_ns
    return not over and (until_ns is None or span.since_ns < until_ns)
