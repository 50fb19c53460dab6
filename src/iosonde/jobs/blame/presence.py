"""What begin and end of jobs say of a slow event, where nobody recorded operations: who was active at the time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.jobs.attribution.active import over_events, presence_match
from iosonde.jobs.attribution.allocations import GOING_ON, texts_of
from iosonde.jobs.attribution.blame import AROUND_NS, SLOT_NS, in_slots, slot_of
from iosonde.jobs.attribution.loads import Loads
from iosonde.jobs.attribution.same_runs import once
from iosonde.jobs.blame.interval import BlamedSpan, BlameQuestion, last_events, span_of
from iosonde.jobs.blame.probed import probed_slowdown
from iosonde.jobs.store.jobs import read_jobs

if TYPE_CHECKING:
    from iosonde.jobs.blame.interval import Grouping
    from iosonde.model.jobs import Job

EVENTS = 5
"""Users, accounts and programs are compared over so many events of the target."""
SHOWN = 5


class PresenceAnswer(NamedTuple):
    """``ranked``: who, and the correlation of being there with the slowdown, over ``events`` events; the best first."""

    span: BlamedSpan
    by: Grouping
    events: int
    ranked: tuple[tuple[str, float], ...]
    jobs: int
    """That ran in the event."""


def present(root: Path, question: BlameQuestion, now_ns: int) -> PresenceAnswer | None:
    """None: no probe saw the event, or no job ran, or nodes are asked for. Raises as ``span_of``."""
    span = span_of(root, question, now_ns)
    if question.by == "node" or span.target is None:
        return None
    spans = [span]
    if question.by != "job" and span.event is not None:
        spans += last_events(root, span, now_ns, EVENTS - 1)
    field = "job_id" if question.by == "job" else question.by
    events = [found for one in spans if (found := _event(root, one, field, now_ns)) is not None]
    if not events:
        return None
    ranked = [(who, match) for who, match in over_events(events) if who and match > 0]
    if not ranked:
        return None
    there = int((events[0][1] >= 0).sum())
    return PresenceAnswer(span, question.by, len(events), tuple(ranked), there)


def _event(
    root: Path, span: BlamedSpan, field: str, now_ns: int
) -> tuple[Sequence[str], Any] | None:
    """Whose each job is, and how its presence matches the slowdown."""
    slot_ns = slot_of(span.begin_ns, span.end_ns, 1_000_000_000)
    around = AROUND_NS // SLOT_NS * slot_ns
    first, last = span.begin_ns - around, min(now_ns, span.end_ns + around)
    inside = (span.begin_ns, span.end_ns)
    series = probed_slowdown(root, span.target or "", (first, last), inside, slot_ns)
    jobs = once(read_jobs(root, overlapping=(first, last), scalars=False))
    jobs = [job for job in jobs if job.end_ns is not None or job.state in GOING_ON]
    slots = (last - first) // slot_ns
    if series is None or not jobs or slots < 2:
        return None
    begin_ns = first + slot_ns * np.arange(slots, dtype=np.int64)
    active = np.array([_there(job, begin_ns, slot_ns) for job in jobs])
    event = (begin_ns + slot_ns > span.begin_ns) & (begin_ns < span.end_ns)
    wide = Loads((), begin_ns, slot_ns, active, np.ones(slots))
    factor = in_slots(series[0], wide)
    if not np.isfinite(factor[event]).any():
        return None
    return texts_of(jobs, field), presence_match(active, factor, event)


def _there(job: Job, begin_ns: Any, slot_ns: int) -> Any:
    """(K,) Part of each slot."""
    start, end = job.start_ns or 0, job.end_ns or 1 << 62
    part = np.minimum(end, begin_ns + slot_ns) - np.maximum(start, begin_ns)
    return np.clip(part / slot_ns, 0.0, 1.0) * (job.start_ns is not None)


def sentences(answer: PresenceAnswer) -> list[str]:
    """That nobody can be named, and over how many events the ranking is."""
    names = ", ".join(who for who, _ in answer.ranked[:SHOWN])
    events = f"{answer.events} events" if answer.events > 1 else "one event"
    return [
        f"{answer.by}s {names} were active at the time; nobody can be named without records of operations",
        f"{answer.jobs} jobs ran then: those are first whose begin and end fit the slowdown best, over {events}",
    ]


def presence_data(answer: PresenceAnswer) -> dict[str, Any]:
    """As JSON."""
    span = answer.span
    return {
        "schema_version": 1,
        "verdict": sentences(answer)[0],
        "sentences": sentences(answer),
        "basis": "begin and end of jobs",
        "interval": {
            "begin_ns": span.begin_ns,
            "end_ns": span.end_ns,
            "target": span.target,
            "event": span.event_id,
        },
        "by": answer.by,
        "events": answer.events,
        "jobs": answer.jobs,
        "ranked": [
            {"who": who, "match": match, "confidence": "active at the time"}
            for who, match in answer.ranked[:SHOWN]
        ],
    }
