"""``/api/job``: what storage was like while a job ran, what it did itself, and, of a scheduler's job, its sentence.

The diagram of a job with a performance is ``/api/umami``; what stands here holds for every job of the store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.jobs import answers
from iosonde.jobs.load.course import course_of
from iosonde.jobs.load.words import say_course
from iosonde.jobs.scheduled.data import JobStorage, job_storage
from iosonde.jobs.scheduled.words import say_story, say_target
from iosonde.jobs.table.runs import find_run
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError
from iosonde.model.json_types import Instant, JsonObject, Ns, as_json
from iosonde.serve import params, wire
from iosonde.serve.answers import JsonBody, json_answer, json_body
from iosonde.serve.job_table import JobTables, refused
from iosonde.serve.params import Parameters, RefusalError, Text
from iosonde.serve.privacy.jobs import aliased_story, stored_id
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.written import as_event

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.jobs.answers import ScheduledAnswer
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.model.jobs import Job
    from iosonde.serve.load.histories import Histories
    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.serve.shared import Shared

_CELLS = 240
_MOST_EVENTS = 20


class JobQuery(Parameters):
    """What ``/api/job`` is asked."""

    job: Text = Field(min_length=1, description=parameters.JOB)
    run: Text = Field("", description=parameters.RUN_OF_JOB)
    zone: params.Zone = None


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


class JobRoute:
    """Answers ``/api/job``. ``shared`` has a thread for slow questions."""

    def __init__(
        self,
        root: Path,
        tables: JobTables,
        histories: Histories,
        names: Pseudonyms,
        *,
        shared: Shared,
        clock: Callable[[], int],
    ) -> None:
        self._root, self._tables, self._histories = root, tables, histories
        self._names, self._shared, self._clock = names, shared, clock

    async def answer(self, request: Request, query: Annotated[JobQuery, Query()]) -> Response:
        """Storage while a job ran, its own operations over time, what schedulers and counters say of it."""
        return json_answer(request, await self._shared.answer(query, lambda: self._json(query)))

    def _json(self, query: JobQuery) -> JsonBody:
        now_ns = self._clock()
        job = stored_id(query.job, lambda: answers.job_ids(self._root), self._names)
        with refused():
            records = [] if job is None else answers.records_of(self._root, job)
            performed = answers.has_performance(records) or not records
            found = self._beside(query, records, now_ns) if performed else None
            if found is None:
                found = self._scheduled(query, records, now_ns)
        if found is None:
            return json_body(wire.dumps(as_json(_unknown(query.job, performed))))
        story = aliased_story(found.story, query.job, self._names)
        course = self._load(query.job, story)
        answer = job_beside(story, query.zone, course, scheduled=not performed)
        return json_body(wire.dumps(as_json(answer)))

    def _scheduled(
        self, query: JobQuery, records: list[Job], now_ns: int
    ) -> ScheduledAnswer | None:
        """A scheduler's run. Raises UsageError, with the id as it was asked for: no such run."""
        try:
            return answers.scheduled_job(self._root, records, now_ns, query.run or None)
        except UsageError as error:
            what = f"job {query.job[:80]} has no run {query.run[:80]!r}"
            raise UsageError(what, expected=error.expected) from error

    def _beside(self, query: JobQuery, records: list[Job], now_ns: int) -> ScheduledAnswer | None:
        """A run of the table of jobs. Raises RefusalError: there is none."""
        try:
            table = self._tables.newest().judged
        except (NothingMeasuredError, MissingPartError):
            table = None
        if table is None or not bool((table.job_id == query.job).any()):
            if records:
                return None
            raise RefusalError(
                f"there is no job {query.job[:80]!r}", expected="a job of /api/jobs", status=404
            )
        row = find_run(table, query.job, query.run or None)
        one = table.take(slice(row, row + 1))
        if records:  # what is looked up in the store has the store's id
            one = replace(one, job_id=np.array([records[0].job_id], dtype=object))
        return answers.meanwhile(self._root, one, 0, now_ns, records)

    def _load(self, job: str, story: ScheduledStory) -> SaidCourse | None:
        span = story.run.span_ns
        if span is None:
            return None
        try:
            history = self._histories.newest().history
        except (NothingMeasuredError, MissingPartError):
            return None
        course = course_of(history, job, span, _CELLS)
        if course is None:
            return None
        return SaidCourse(
            say_course(course),
            course.begin_ns,
            course.step_ns,
            wire.ratios(course.own_per_s),
            wire.ratios(course.all_per_s),
            course.share,
        )


def _unknown(job: str, performed: bool) -> UnknownJob:
    why = "no probe ran and no scheduler recorded it" if performed else "no scheduler recorded it"
    return UnknownJob(sentence=f"what job {job} met is not known: {why}")


def job_beside(
    story: ScheduledStory, zone: tzinfo | None, course: SaidCourse | None, *, scheduled: bool
) -> JobBeside:
    """The story in words and numbers; users and jobs as the policy has them."""
    run, words = story.run, say_story(story, zone)
    slow = () if story.happened is None else story.happened.slow
    return JobBeside(
        scheduled=scheduled,
        job=run.job.job_id,
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
