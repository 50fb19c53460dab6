"""A scheduler's job as plain data for reports such as Jobstats' (docs/jobs.md lists every key)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from iosonde.model.json_types import Instant, JsonObject, Op, as_json
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.words import say_event

if TYPE_CHECKING:
    from iosonde.jobs.scheduled.storage_time import StorageTime
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.jobs.scheduled.words import StoryWords

SCHEMA_VERSION = 1


def story_data(story: ScheduledStory, words: StoryWords) -> dict[str, Any]:
    """All data; missing is None. Durations are seconds, instants ns since the epoch (UTC), amounts bytes."""
    run, job, took = story.run, story.run.job, story.run_time
    span = run.span_ns
    return {
        "schema_version": SCHEMA_VERSION,
        "known_from": "scheduler",
        "job_id": job.written_id,
        "raw_id": job.job_id,
        "run": run.number,
        "runs": run.of,
        "system": job.system or None,
        "user": job.user or None,
        "account": job.account or None,
        "name": job.name or None,
        "state": job.state or None,
        "nodes": job.nodes,
        "node_names": list(job.node_names),
        "ranks": job.ranks,
        "sources": list(run.sources),
        "begin_ns": run.begin_ns,
        "end_ns": run.end_ns,
        "going_on": run.going_on,
        "stale": run.stale,
        "run_s": None if span is None else (span[1] - span[0]) / 1e9,
        "sentence": words.sentence,
        "details": list(words.lines()),
        "storage": [storage_data(one) for one in story.storage],
        "events": _events(story),
        "run_time": None if took is None else {**asdict(took), "ratio": took.ratio},
        "own_io": None if story.own_io is None else asdict(story.own_io),
    }


@dataclass(frozen=True)
class LevelTime(JsonObject):
    """Slow time at a level or above, with its bounds; lengths in s."""

    level: float
    slow_s: float
    least_s: float
    most_s: float


@dataclass(frozen=True)
class OpSlowTime(JsonObject):
    """Slow time of an operation."""

    op: Op
    slow_s: float
    typ: float | None
    """Typical slowdown; null: the operation did not answer."""
    answered: bool


@dataclass(frozen=True)
class SlowTime(JsonObject):
    """A slow stretch."""

    begin_ns: Instant
    end_ns: Instant


@dataclass(frozen=True)
class JobStorage(JsonObject):
    """A target while a job ran; lengths in s."""

    target: str
    hosts: tuple[str, ...]
    window_s: float
    slow_s: float
    clear_s: float
    unknown_s: float
    unprobed_s: float
    host_busy_s: float
    told_level: float | None
    """At least so many times slower than usual; null: it was never slow."""
    at: tuple[LevelTime, ...]
    ops: tuple[OpSlowTime, ...]
    stretches: tuple[SlowTime, ...]


def storage_data(one: StorageTime) -> dict[str, Any]:
    """One target while the job ran, as plain data."""
    return dict(as_json(job_storage(one)))


def job_storage(one: StorageTime) -> JobStorage:
    """One target while the job ran."""
    times = [(at.level, at.slow_ns, at.least_ns, at.most_ns) for at in one.at]
    return JobStorage(
        target=one.target,
        hosts=tuple(one.hosts),
        window_s=one.window_ns / 1e9,
        slow_s=one.slow_ns / 1e9,
        clear_s=one.clear_ns / 1e9,
        unknown_s=one.unknown_ns / 1e9,
        unprobed_s=one.unprobed_ns / 1e9,
        host_busy_s=one.busy_ns / 1e9,
        told_level=one.told.level if one.slow_ns else None,
        at=tuple(LevelTime(level, *(ns / 1e9 for ns in lengths)) for level, *lengths in times),
        ops=tuple(
            OpSlowTime(op.op, op.slow_ns / 1e9, op.typ, isfinite(op.typ))  # type: ignore[arg-type]
            for op in one.ops
        ),
        stretches=tuple(SlowTime(begin, end) for begin, end in one.stretches),
    )


def _events(story: ScheduledStory) -> list[dict[str, Any]]:
    found = story.happened
    if found is None:
        return []
    now = story.asked_ns
    slow = [{**asdict(one), "sentence": say_slow_event(one, now)} for one in found.slow]
    noted = [
        {**asdict(one), "sentence": say_event(one, now, running=False)} for one in found.logged
    ]
    return [*slow, *noted]
