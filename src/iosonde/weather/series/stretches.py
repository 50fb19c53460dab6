"""The slow stretches that every door shows: those of slow events, operation by operation.

::

    happened    one detector over samples: begin, end, factor and interval of each op
       ├──► events, report, blame                                    as events of a target
       └──► slowdown, figure, page, notebook, report's tables       as stretches of an op

A door may round. None looks for stretches of its own: only who asks for another baseline, or for windows shorter than
the detector's, gets those of these windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.segments import parquet_segments
from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.frames import SeriesKey, SlowdownQuery, SlowdownResult, SlowSpan
from iosonde.weather.events.events import WatchedTarget
from iosonde.weather.events.log import Event, read_events
from iosonde.weather.events.noted import slow_hangs, told_once
from iosonde.weather.events.timeline import Happenings, happened
from iosonde.weather.events.unjudged import without_baseline
from iosonde.weather.rollups.fallback import dropped
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.own_windows import analyse_own
from iosonde.weather.slowdown.slowdown import analyse, learned
from iosonde.weather.slowdown.window_length import MINUTE_NS
from iosonde.weather.store import Store


def with_stretches(
    store: Store,
    query: SlowdownQuery,
    now_ns: int,
    known: LearntBaselines | None = None,
) -> SlowdownResult:
    """``analyse`` with stretches and hangs of events; the stretches that the probing host explains beside them.

    ``known``: what is usual, if that is at hand. Raises UsageError, StoreError.
    """
    known = known or learned(store, query)
    own = query.own_windows and query.choice.kind != "sliding"
    result = analyse_own(store, query, known) if own else analyse(store, query, known=known)
    if query.choice.kind != "guarded":
        return replace(result, not_judged=without_baseline(result.windows))
    noted = read_events(store.root)
    found = happened(store, query, now_ns, noted, known)
    result = replace(result, hung=_hangs(found, noted, query, now_ns))
    mine = {key for key, _ in result.windows.series()}
    if not own and any(
        query.window_ns < min(MINUTE_NS, found.windows.get(key, MINUTE_NS)) for key in mine
    ):
        return replace(result, not_judged=found.not_judged)
    spans = together(result.spans, stretches(found), query.ops)
    spans = sorted([*spans, *_without_samples(store, result.spans)], key=_place)
    return replace(result, spans=spans, not_judged=found.not_judged)


def together(
    of_windows: Iterable[SlowSpan], of_events: Iterable[SlowSpan], ops: Sequence[str] | None = None
) -> list[SlowSpan]:
    """Stretches of events, and those of windows that the probing host explains; by series and begin."""
    mine = [span for span in of_events if ops is None or span.key.op in ops]
    return sorted([*mine, *(span for span in of_windows if span.host_busy)], key=_place)


def _hangs(
    found: Happenings, noted: Sequence[Event], query: SlowdownQuery, now_ns: int
) -> list[SlowEvent]:
    """Hangs of the range, of samples and of agents: an agent sees one before its operation comes back."""
    logged, told = told_once(
        [one for one in noted if one.kind == "hang"], found.slow, found.sampled_ns
    )
    hung = [*slow_hangs(logged, now_ns), *(one for one in told if one.kind == "hang")]
    return sorted(
        (one for one in hung if _asked_for(one, query)), key=lambda one: (one.start_ns, one.target)
    )


def _asked_for(event: SlowEvent, query: SlowdownQuery) -> bool:
    here = query.host in (None, event.host) and query.target in (None, event.target)
    since, until = query.since_ns, query.until_ns
    ends = (event.start_ns if since is None else since, until)
    ops = query.ops is None or any(share.op in query.ops for share in event.ops)
    return here and ops and event.overlaps(*ends)


def _place(span: SlowSpan) -> tuple[SeriesKey, int]:
    return span.key, span.start_ns


def _without_samples(store: Store, of_windows: Iterable[SlowSpan]) -> list[SlowSpan]:
    """Stretches of windows that were kept where retention dropped the samples: nothing sharper is left of them."""
    if not dropped(store.root):
        return []
    first: dict[str, str] = {}
    for segment in parquet_segments(store.root):
        date = segment.path.parent.parent.name.removeprefix("date=")
        first[segment.host] = min(date, first.get(segment.host, date))
    return [
        span
        for span in of_windows
        if not span.host_busy and utc_date(span.end_ns) < first.get(span.key.host, "9999")
    ]


def stretches(found: Happenings) -> list[SlowSpan]:
    """Every op of every slow event, as a stretch."""
    return [
        _stretch(place, event, share, found.windows)
        for place, events in found.places.items()
        for event in events
        if event.kind == "slow"
        for share in event.ops
        if share.affected and share.start_ns is not None
    ]


def _stretch(
    place: WatchedTarget, event: SlowEvent, share: OpShare, windows: Mapping[SeriesKey, int]
) -> SlowSpan:
    start, end = share.start_ns or event.start_ns, share.end_ns or event.seen_until_ns
    usual = float("nan") if share.usual_ns is None else share.usual_ns
    open_ = event.reached_by(share)
    key = SeriesKey(place.host, place.target, share.op, place.period_ns)
    return SlowSpan(
        key=key,
        start_ns=start,
        end_ns=end,
        refined=True,
        windows=max(1, -(-(end - start) // windows.get(key, MINUTE_NS))),
        n=share.n,
        baseline_ns=usual,
        median_ns=None if share.median is None or share.usual_ns is None else share.median * usual,
        slowdown=share.median,
        lower=share.lower,
        upper=share.upper,
        host_busy=False,
        ongoing=open_ and event.unknown_since_ns is None,
        unknown_since_ns=event.unknown_since_ns if open_ else None,
    )
