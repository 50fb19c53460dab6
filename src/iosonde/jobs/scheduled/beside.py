"""A job beside the storage and the load of its time, as ``/api/job`` has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from iosonde.jobs.scheduled.data import JobStorage, job_storage
from iosonde.jobs.scheduled.target_words import say_target
from iosonde.model.json_types import Instant, JsonObject, Ns
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.written import as_event

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.jobs.scheduled.words import StoryWords

_MOST_EVENTS = 20


@dataclass(frozen=True)
class UnknownJob(JsonObject):
    """Neither a probe nor a scheduler says what the job met."""

    sentence: str
    known: Literal[False] = False


@dataclass(frozen=True)
class SaidStorage(JobStorage):
    """A target while a job ran, as ``iosonde explain --format json`` has it, with its sentence; lengths in s."""

    sentence: str


@dataclass(frozen=True)
class JobEvent(JsonObject):
    """An event while a job ran."""

    id: str
    host: str
    target: str
    begin_ns: Instant
    end_ns: Instant | None
    text: str


@dataclass(frozen=True)
class SaidCourse(JsonObject):
    """Operations per second in cells of a job's time; null: nothing was recorded then."""

    sentence: str
    begin_ns: Instant
    step_ns: Ns
    own_per_s: list[float | None]
    all_per_s: list[float | None]
    """Of all nodes."""
    share: float


@dataclass(frozen=True)
class JobBeside(JsonObject):
    """A job beside the storage and the load of its time."""

    scheduled: bool
    """Only a scheduler recorded it: it has no diagram."""
    job: str
    run: int
    runs: int
    begin_ns: Instant | None
    end_ns: Instant | None
    going_on: bool
    sentence: str
    about: tuple[str, ...]
    run_time: tuple[str, ...]
    own_io: tuple[str, ...]
    storage: tuple[SaidStorage, ...]
    """The slowest target first."""
    events: tuple[JobEvent, ...]
    load: SaidCourse | None
    known: Literal[True] = True


def job_beside(
    story: ScheduledStory,
    words: StoryWords,
    zone: tzinfo | None,
    course: SaidCourse | None,
    *,
    scheduled: bool,
) -> JobBeside:
    """A job's story in words and numbers; ``zone``: of times in the words of events (None: this machine's)."""
    run = story.run
    slow = () if story.happened is None else story.happened.slow
    return JobBeside(
        scheduled=scheduled,
        job=run.job.written_id,
        run=run.number,
        runs=run.of,
        begin_ns=run.begin_ns,
        end_ns=run.end_ns,
        going_on=run.going_on,
        sentence=words.sentence,
        about=tuple(words.job),
        run_time=tuple(words.run_time),
        own_io=tuple(words.own_io),
        storage=tuple(
            SaidStorage(**vars(job_storage(one)), sentence=say_target(one)) for one in story.storage
        ),
        events=tuple(
            JobEvent(
                as_event(one).id,
                one.host,
                one.target,
                one.start_ns,
                one.end_ns,
                say_slow_event(one, story.asked_ns, zone),
            )
            for one in slow[:_MOST_EVENTS]
        ),
        load=course,
    )
