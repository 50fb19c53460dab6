"""``/api/job``: storage during a job, its own I/O, and the sentence for a scheduler's job.

The diagram of a job with a performance is ``/api/umami``; what stands here holds for every job of the store.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.jobs.load.answers import course as course_of
from iosonde.jobs.scheduled import answers
from iosonde.jobs.scheduled.answers import SaidCourse, UnknownJob, story_answer
from iosonde.jobs.table.answers import find_run
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError
from iosonde.model.json_types import as_json
from iosonde.serve import params, wire
from iosonde.serve.answers import JsonBody, json_answer, json_body
from iosonde.serve.job_table import JobTables, refused
from iosonde.serve.params import Parameters, RefusalError, Text
from iosonde.serve.privacy.jobs import aliased_story, stored_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from iosonde.jobs.scheduled.answers import Meant, ScheduledAnswer
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.model.jobs import Job
    from iosonde.serve.load.histories import Histories
    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.serve.shared import Shared

_CELLS = 240
_MOST_NAMED = 12


class JobQuery(Parameters):
    """Parameters of ``/api/job``."""

    job: Text = Field(min_length=1, description=parameters.JOB)
    run: Text = Field("", description=parameters.RUN_OF_JOB)
    zone: params.Zone = None


class JobRoute:
    """Handler of ``/api/job``. ``shared`` has a thread for slow questions."""

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
        """Storage during a job, its own operations over time, facts of schedulers and counters."""
        return json_answer(request, await self._shared.answer(query, lambda: self._json(query)))

    def _json(self, query: JobQuery) -> JsonBody:
        now_ns = self._clock()
        job = stored_id(query.job, lambda: answers.job_ids(self._root), self._names)
        with refused():
            meant = None if job is None else answers.meant(self._root, job)
            if meant is not None and meant.whole:
                return json_body(wire.dumps(as_json(_several(meant, self._names))))
            records = [] if job is None else answers.records_of(self._root, job)
            shown = self._names.of("job", meant.jobs[0].written) if meant else query.job
            asked = query.model_copy(update={"job": shown})
            performed = answers.has_performance(records) or not records
            found = self._beside(asked, records, now_ns) if performed else None
            if found is None:
                found = self._scheduled(asked, records, now_ns)
        if found is None:
            return json_body(wire.dumps(as_json(_unknown(shown, performed))))
        story = aliased_story(found.story, shown, self._names)
        course = self._load(shown, story)
        answer = story_answer(story, query.zone).beside(course, scheduled=not performed)
        return json_body(wire.dumps(as_json(answer)))

    def _scheduled(
        self, query: JobQuery, records: list[Job], now_ns: int
    ) -> ScheduledAnswer | None:
        """A scheduler's run. Raises UsageError, with the id as requested: no such run."""
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
            raw = np.array([records[0].job_id], dtype=object)
            one = replace(one, labels={**one.labels, "raw_id": raw})
        return answers.meanwhile(self._root, one, 0, now_ns, records)

    def _load(self, job: str, story: ScheduledStory) -> SaidCourse | None:
        span = story.run.span_ns
        if span is None:
            return None
        try:
            history = self._histories.newest().history
        except (NothingMeasuredError, MissingPartError):
            return None
        found = course_of(history, job, span, _CELLS)
        if found is None:
            return None
        course = found.course
        return SaidCourse(
            found.sentence,
            course.begin_ns,
            course.step_ns,
            wire.ratios(course.own_per_s),
            wire.ratios(course.all_per_s),
            course.share,
        )


def _several(meant: Meant, names: Pseudonyms) -> UnknownJob:
    """An array: the page shows one job."""
    some = [names.of("job", job.written) for job in meant.jobs]
    more = ", ..." if some[_MOST_NAMED:] else ""
    listed = ", ".join(some[:_MOST_NAMED])
    return UnknownJob(sentence=f"{meant.whole} has {len(some)} {meant.part}s: {listed}{more}")


def _unknown(job: str, performed: bool) -> UnknownJob:
    why = "no probe ran and no scheduler recorded it" if performed else "no scheduler recorded it"
    return UnknownJob(sentence=f"what job {job} met is not known: {why}")
