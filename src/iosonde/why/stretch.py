"""The stretch that a question is about: an event, what is slow now, or time that the probing host explains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import op_order
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS, HOUR_NS, format_time
from iosonde.model.verdicts import Verdict
from iosonde.weather.events.answers import event_log
from iosonde.weather.events.judgement import judgement
from iosonde.weather.events.named import named_event, pick
from iosonde.weather.events.noted import slow_hangs
from iosonde.weather.events.told import told_events
from iosonde.weather.events.written import as_event
from iosonde.weather.series.stretches import with_stretches
from iosonde.weather.slowdown.findings import from_states
from iosonde.weather.store import Store
from iosonde.why.links import LookedAt, Ratio, StretchFacts
from iosonde.why.question import Weather

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.model.events import OpShare, SlowEvent
    from iosonde.model.frames import SlowSpan, TargetRef
    from iosonde.weather.slowdown.findings import Finding
    from iosonde.why.question import WhyQuestion

nan = float("nan")
LOOK_BACK_NS = DAY_NS
"""Without a time the last stretch that ended so long ago at most counts, if nothing is slow now."""
NEAR_NS = 900_000_000_000
"""So long around an instant the probing host is looked at where there is no event."""
BUSY_NS = 6 * HOUR_NS
"""So far the begin and end of a time that the host explains are looked for."""
_KINDS = ("slow", "partly_slow", "lost", "hang")
_BAD = ("slow", "lost", "failing", "hung")
_SERIOUS = {
    "hang": 3,
    "hung": 3,
    "failing": 3,
    "lost": 2,
    "slow": 1,
    "partly_slow": 0,
    "change": -1,
}


_MOST_LOST = 0.5
_NOW_NS = 120_000_000_000
"""A window that ended so long ago belongs to what goes on."""


class Chosen(NamedTuple):
    """``slow`` None: nothing is slow. ``others``: targets that were slow in the same time, worst first."""

    slow: StretchFacts | None
    weather: Weather
    looked: LookedAt
    others: tuple[str, ...]


def choose(root: Path, question: WhyQuestion, now_ns: int) -> Chosen:
    """The stretch. Raises UsageError, NothingMeasuredError (no samples; no such event), StoreError."""
    store = Store(root)
    refs = store.targets()
    if not refs:
        raise NothingMeasuredError(
            f"there are no samples in {root}",
            expected="a store in which a probe writes, or imported latencies",
            hint="'iosonde probe DIR'",
        )
    named = None if question.event is None else named_event(root, question.event)
    at_ns = question.at_ns if named is None else named.began_ns
    if at_ns is not None and at_ns > now_ns:
        raise UsageError("--at is in the future", expected="a time until now")

    def first(weather: Weather) -> StretchFacts | None:
        if named is not None:
            return _of_event(pick(weather.happened.slow, named), weather)
        return _first(weather, question, at_ns, now_ns)

    weather = _weather(store, refs, at_ns, now_ns)
    slow = first(weather)
    if (
        slow is not None
        and at_ns is not None
        and slow.seen_until_ns >= weather.end_ns - DAY_NS // 24
    ):
        # It went on where the look ended.
        weather = _weather(store, refs, at_ns, now_ns, until_ns=now_ns)
        slow = first(weather)
    looked = _looked(weather, question, at_ns, now_ns, judged=slow is None)
    return Chosen(slow, weather, looked, () if slow is None else _others(weather, slow))


def _looked(
    weather: Weather, question: WhyQuestion, at_ns: int | None, now_ns: int, *, judged: bool
) -> LookedAt:
    """Targets and the time that was looked at; ``judged``: only those with samples in it.

    Raises NothingMeasuredError: there are none of these.
    """
    begin = now_ns - LOOK_BACK_NS if at_ns is None else at_ns - NEAR_NS
    end = min(now_ns, now_ns if at_ns is None else at_ns + NEAR_NS)
    mine = [ref for ref in weather.refs if not question.targets or ref.target in question.targets]
    if judged:
        windows = weather.store.rolled_windows(
            INTERVAL_NS, since_ns=begin, until_ns=end, statistics=("mean_ns",)
        )
        there = set(zip(windows["host"].tolist(), windows["target"].tolist(), strict=True))
        mine = [ref for ref in mine if tuple(ref) in there]
        if not mine:
            when = " and ".join(format_time(ns, now_ns, question.zone) for ns in (begin, end))
            raise NothingMeasuredError(
                f"nobody probed {', '.join(question.targets[:4]) or 'anything'} between {when}",
                expected="samples of that time",
                hint="--at TIME, or 'iosonde events' for what happened",
            )
    known = {(one.host, one.target) for one in weather.findings if one.kind == "usual"}
    lit, missing = set(), []
    for ref in mine:
        verdict, some = judgement(weather.happened, ref, (begin, end))
        missing += [one for one in some if one.overlap_ns(begin, end)]
        if verdict is not Verdict.NOT_JUDGED or tuple(ref) in known:
            lit.add(ref.target)
    targets = sorted({ref.target for ref in mine})
    return LookedAt(
        tuple(targets),
        tuple(sorted({ref.host for ref in mine})),
        begin,
        end,
        tuple(target for target in targets if target not in lit),
        tuple(dict.fromkeys(missing)),
    )


def _first(
    weather: Weather, question: WhyQuestion, at_ns: int | None, now_ns: int
) -> StretchFacts | None:
    """An event of the time, what is slow or late now, the last event, or time that the host explains."""
    slow = _event(weather, question, at_ns) or _live(weather, question, now_ns)
    slow = slow or _busy_now(weather, question, now_ns)
    return slow or _last(weather, question, at_ns) or _busy(weather, question, at_ns, now_ns)


def _weather(
    store: Store,
    refs: list[TargetRef],
    at_ns: int | None,
    now_ns: int,
    *,
    until_ns: int | None = None,
) -> Weather:
    around = at_ns if at_ns is not None else now_ns
    span = (around - LOOK_BACK_NS, until_ns or min(now_ns, around + LOOK_BACK_NS))
    log = event_log(store.root, span)
    # All targets: those that are not asked for stand beside it.
    happened = told_events(store.root, log, span, now_ns)
    hangs = slow_hangs(happened.logged, now_ns)
    happened = happened._replace(slow=[*happened.slow, *hangs])
    findings = from_states(log.states, now_ns) if at_ns is None else []
    return Weather(store, refs, log.states, happened, findings, *span)


def _mine(weather: Weather, question: WhyQuestion) -> list[SlowEvent]:
    wanted = question.targets
    return [one for one in weather.happened.slow if not wanted or one.target in wanted]


def _event(weather: Weather, question: WhyQuestion, at_ns: int | None) -> StretchFacts | None:
    """The worst event at the instant; without one the worst that goes on."""
    events = _mine(weather, question)
    if at_ns is not None:
        there = [one for one in events if one.overlaps(at_ns, at_ns + 1)]
    else:
        there = [one for one in events if one.end_ns is None]
    found = _worst(there, weather)
    return None if found is None else _failing(found, weather)


def _failing(slow: StretchFacts, weather: Weather) -> StretchFacts:
    """Losses that go on as their running probe tells them: operations fail."""
    same = (
        one
        for one in weather.findings
        if slow.kind == "lost"
        and one.kind == "failing"
        and (one.host, one.target) == (slow.host, slow.target)
    )
    now = next(same, None)
    if now is None:
        return slow
    op, begin_ns = now.ops[0].op, now.since_ns or slow.begin_ns
    return replace(slow, kind="failing", op=op, begin_ns=begin_ns)


def _worst(events: list[SlowEvent], weather: Weather) -> StretchFacts | None:
    """Hangs and losses of most operations before slow stretches before lasting changes; then the largest factor."""
    if not events:
        return None
    worst = max(events, key=lambda one: (_serious(one), one.median or 0.0, -one.start_ns))
    return _of_event(worst, weather)


def _serious(event: SlowEvent) -> int:
    """Losses of a part of the operations hide no slowdown."""
    few = event.kind == "lost" and (event.lost or 0.0) < _MOST_LOST
    return _SERIOUS["partly_slow"] if few else _SERIOUS.get(event.kind, 0)


def _last(weather: Weather, question: WhyQuestion, at_ns: int | None) -> StretchFacts | None:
    """Without an instant: the stretch that ended last."""
    events = [one for one in _mine(weather, question) if one.kind in _KINDS]
    if at_ns is not None or not events:
        return None
    latest = max(one.seen_until_ns for one in events)
    alongside = [one for one in events if one.seen_until_ns >= latest - NEAR_NS]
    return _worst(alongside, weather)


def _of_event(event: SlowEvent, weather: Weather) -> StretchFacts:
    whole, component = weather.component(event.host, event.target)
    share = event.ops[0] if event.ops else None
    begin, end = _ends(event, share)
    factor = None
    if event.kind in ("slow", "change") and event.median is not None:
        ends = (share.lower, share.upper) if share else (None, None)
        factor = Ratio(event.median, *(nan if end is None else end for end in ends))
    return StretchFacts(
        host=event.host,
        target=event.target,
        whole=whole,
        component=component,
        op=event.op or (share.op if share else "data_read"),
        kind=event.kind,
        begin_ns=begin,
        end_ns=end,
        seen_until_ns=event.seen_until_ns if end is None else end,
        factor=factor,
        peak=event.peak,
        lost=event.lost,
        windows=0,
        event=as_event(event).id,
        hits=share.hits if share and event.kind == "partly_slow" else None,
        hits_usual=share.hits_usual if share else None,
    )


def _ends(event: SlowEvent, share: OpShare | None) -> tuple[int, int | None]:
    """Begin and end of what its worst op went through: others, or losses, may have begun before."""
    if share is None or share.start_ns is None:
        return event.start_ns, event.end_ns
    return share.start_ns, None if event.reached_by(share) else share.end_ns


def _live(weather: Weather, question: WhyQuestion, now_ns: int) -> StretchFacts | None:
    """What a running probe calls slow, of which there is no event yet."""
    bad = [
        one
        for one in weather.findings
        if one.kind in _BAD and (not question.targets or one.target in question.targets)
    ]
    if not bad:
        return None
    worst = max(bad, key=lambda one: (_SERIOUS.get(one.kind, 0), one.slowdown or 0.0))
    return _of_finding(worst, weather, now_ns)


def _of_finding(found: Finding, weather: Weather, now_ns: int) -> StretchFacts:
    whole, component = weather.component(found.host, found.target)
    op = found.ops[0]
    factor = None
    if found.slowdown is not None:
        nan = float("nan")
        lower, upper = (nan if end is None else end for end in (found.lower, found.upper))
        factor = Ratio(found.slowdown, lower, upper)
    return StretchFacts(
        host=found.host,
        target=found.target,
        whole=whole,
        component=component,
        op=op.op,
        kind={"hung": "hang"}.get(found.kind, found.kind),
        begin_ns=found.since_ns or now_ns - 60_000_000_000,
        end_ns=None,
        seen_until_ns=now_ns,
        factor=factor,
        peak=None,
        lost=op.lost,
        windows=0,
        event=None,
        hits=op.hits if op.partly else None,
        hits_usual=op.hits_usual,
        added_ns=_added(found.slowdown, op.usual_ns),
    )


def _added(slowdown: float | None, usual_ns: float | None) -> float | None:
    return None if slowdown is None or usual_ns is None else (slowdown - 1) * usual_ns


def _busy_now(weather: Weather, question: WhyQuestion, now_ns: int) -> StretchFacts | None:
    """The worst of what only the probing host makes slow or late now."""
    busy = [
        one
        for one in weather.findings
        if one.kind == "host_busy" and (not question.targets or one.target in question.targets)
    ]
    if not busy:
        return None
    worst = max(busy, key=lambda one: (one.slowdown or 0.0, one.ops[0].late or 0.0))
    found = _of_finding(worst, weather, now_ns)
    query = SlowdownQuery(host=found.host, target=found.target, since_ns=now_ns - BUSY_NS)
    result = with_stretches(weather.store, query, now_ns)
    ends = [(one.start_ns, one.end_ns) for one in result.late]
    ends += [(one.start_ns, one.end_ns) for one in result.spans if one.host_busy]
    begins = [start for start, end in ends if end >= now_ns - _NOW_NS]
    begin = min([worst.since_ns or found.begin_ns, *begins])
    return replace(found, begin_ns=begin, lost=worst.ops[0].late)


def _busy(
    weather: Weather, question: WhyQuestion, at_ns: int | None, now_ns: int
) -> StretchFacts | None:
    """Slow windows that the probing host explains: weather makes no event of them."""
    around = now_ns if at_ns is None else at_ns
    since, until = around - BUSY_NS, min(now_ns, around + BUSY_NS)
    near = HOUR_NS if at_ns is None else NEAR_NS
    found: list[SlowSpan] = []
    for target in question.targets or (None,):
        query = SlowdownQuery(
            target=target, since_ns=since, until_ns=until, trailing_ns=60_000_000_000
        )
        found += [
            one for one in with_stretches(weather.store, query, now_ns).spans if one.host_busy
        ]
    found = [
        one
        for one in found
        if one.windows >= 2 and one.start_ns <= around + near and one.end_ns >= around - near
    ]
    if not found:
        return None
    worst = max(found, key=lambda one: (one.windows, one.slowdown or 0.0, -op_order(one.key.op)))
    whole, component = weather.component(worst.key.host, worst.key.target)
    nan = float("nan")
    ends = [nan if end is None else end for end in (worst.lower, worst.upper)]
    return StretchFacts(
        host=worst.key.host,
        target=worst.key.target,
        whole=whole,
        component=component,
        op=worst.key.op,
        kind="host_busy",
        begin_ns=worst.start_ns,
        end_ns=None if worst.ongoing and at_ns is None else worst.end_ns,
        seen_until_ns=worst.end_ns,
        factor=None if worst.slowdown is None else Ratio(worst.slowdown, ends[0], ends[1]),
        peak=None,
        lost=None,
        windows=worst.windows,
        event=None,
        added_ns=_added(worst.slowdown, worst.baseline_ns),
    )


def _others(weather: Weather, slow: StretchFacts) -> tuple[str, ...]:
    """Other whole targets with an event in the stretch, the worst first."""
    end = slow.end_ns or slow.seen_until_ns
    ranked = sorted(
        (one for one in weather.happened.slow if one.kind in _KINDS),
        key=lambda one: -(one.peak or 0.0),
    )
    names = [
        weather.component(one.host, one.target)[0]
        for one in ranked
        if one.overlaps(slow.begin_ns, end)
    ]
    return tuple(name for name in dict.fromkeys(names) if name != slow.whole)
