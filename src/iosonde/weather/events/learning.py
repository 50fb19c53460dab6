"""Since when a target is judged: the hour before, its baselines were learnt."""

from __future__ import annotations

from collections.abc import Iterable

from iosonde.model.events import LearningSpan
from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.slowdown.baseline import LearntBaselines


def learning_spans(
    known: LearntBaselines, since_ns: int | None, until_ns: int | None
) -> list[LearningSpan]:
    """The stretch of every host and target in which nothing was expected yet, as far as it lies in [since, until)."""
    places: dict[tuple[str, str], list[SeriesKey]] = {}
    for key in known.past:
        places.setdefault((key.host, key.target), []).append(key)
    spans = [_span(known, *place, keys) for place, keys in sorted(places.items())]
    return [span for span in spans if span and _reaches(span, since_ns, until_ns)]


def _span(
    known: LearntBaselines, host: str, target: str, keys: Iterable[SeriesKey]
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
    return LearningSpan(host, target, min(begins), max(first, default=None))


def _reaches(span: LearningSpan, since_ns: int | None, until_ns: int | None) -> bool:
    over = span.until_ns is not None and since_ns is not None and span.until_ns <= since_ns
    return not over and (until_ns is None or span.since_ns < until_ns)
