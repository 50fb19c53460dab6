"""Jobs as the store has their records: which there are, and what is said of a scheduler's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.scheduled.beside import JobBeside, SaidCourse, UnknownJob, job_beside
from iosonde.model.answer import Block, Prose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.jobs.scheduled.words import StoryWords
    from iosonde.jobs.store.meant import Meant
    from iosonde.model.errors import IosondeError
    from iosonde.model.jobs import Job, JobTable

__all__ = [
    "JobBeside",
    "Meant",
    "SaidCourse",
    "ScheduledAnswer",
    "UnknownJob",
    "has_performance",
    "has_records",
    "job_ids",
    "meant",
    "meant_job",
    "meanwhile",
    "records_of",
    "scheduled_job",
    "story_answer",
    "unknown_job",
]


class ScheduledAnswer(NamedTuple):
    """A run that the scheduler knows, and what is said of it."""

    story: ScheduledStory
    words: StoryWords
    zone: tzinfo | None = None

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self.words.sentence

    def shown(self) -> list[Block]:
        """The sentence, and a line a detail."""
        return [
            Prose(self.sentence),
            *(Prose(line, "  - ", "    ") for line in self.words.lines()),
        ]

    def mail(self) -> str:
        """Plain text of 72 columns, by topic."""
        from iosonde.jobs.scheduled.text import story_text

        return story_text(self.words)

    def data(self) -> dict[str, Any]:
        """Everything; missing is None."""
        from iosonde.jobs.scheduled.data import story_data

        return story_data(self.story, self.words)

    def beside(self, course: SaidCourse | None, *, scheduled: bool) -> JobBeside:
        """The run for a page, beside its load. ``scheduled``: only a scheduler recorded it."""
        return job_beside(self.story, self.words, self.zone, course, scheduled=scheduled)

    def storage(self) -> list[dict[str, Any]]:
        """A record a probed target: seconds slow, clear and unknown."""
        from iosonde.jobs.scheduled.data import storage_data

        return [storage_data(one) for one in self.story.storage]


def meant(root: Path, job_id: str) -> Meant | None:
    """Jobs that an id means, as users write it: one, or the tasks of an array; None: the store has none.

    Raises StoreError.
    """
    from iosonde.jobs.store.meant import meant as found

    return found(root, job_id)


def has_records(root: Path, job_id: str) -> bool:
    """Whether the store has anything of a job of this id. Raises StoreError."""
    return meant(root, job_id) is not None


def job_ids(root: Path) -> list[str]:
    """Ids of all jobs of the store, as users write them. Raises StoreError."""
    from iosonde.jobs.store.jobs import job_ids as ids

    return ids(root)


def records_of(root: Path, job_id: str) -> list[Job]:
    """Everything that the store has of a job, by begin; [] if the id means none or several. Raises StoreError."""
    from iosonde.jobs.store.meant import records

    found = meant(root, job_id)
    return [] if found is None or found.whole else records(root, found.jobs[0])


def has_performance(records: Sequence[Job]) -> bool:
    """Whether the records of a job say how fast its I/O was."""
    from iosonde.jobs.store.jobs import PERFORMANCES

    return any(
        scalar is not None and scalar.value is not None
        for job in records
        for scalar in map(job.scalars.get, PERFORMANCES)
    )


def scheduled_job(
    root: Path,
    records: Sequence[Job],
    now_ns: int,
    step: str | None = None,
    *,
    zone: tzinfo | None = None,
) -> ScheduledAnswer | None:
    """A job of which a scheduler's records are in the store: storage while it ran, run time, own I/O; None: none is.

    ``records``: as ``records_of``; ``step``: ``#1``, the first of its runs; None: the last one.
    Raises UsageError (no such run), StoreError.
    """
    from iosonde.jobs.scheduled.runs import chosen_run
    from iosonde.jobs.scheduled.stale import runs_of
    from iosonde.jobs.scheduled.story import story_of
    from iosonde.jobs.scheduled.words import say_story

    runs = runs_of(root, records, now_ns)
    if not runs:
        return None
    story = story_of(root, chosen_run(runs, step), now_ns, records)
    return ScheduledAnswer(story, say_story(story, zone), zone)


def meanwhile(
    root: Path, table: JobTable, row: int, now_ns: int, records: Sequence[Job]
) -> ScheduledAnswer | None:
    """The same for the run in a row of the table, in its own time; None: nobody probed, no scheduler knows it.

    Raises StoreError.
    """
    from iosonde.jobs.scheduled.runs import recorded_run
    from iosonde.jobs.scheduled.stale import runs_of
    from iosonde.jobs.scheduled.story import story_of
    from iosonde.jobs.scheduled.words import say_story

    runs = runs_of(root, records, now_ns)
    story = story_of(root, recorded_run(table, row, runs), now_ns, records, brief=True)
    if not (runs or story.storage or story.own_io):
        return None
    return ScheduledAnswer(story, say_story(story))


def meant_job(root: Path, job_id: str, warn: Callable[[str], None]) -> str:
    """The id of the store that is meant: itself, or the only one that begins or ends with it; else itself."""
    from iosonde.jobs.store.earlier_runs import known_jobs
    from iosonde.jobs.table.which_job import SHORTEST_PART

    if len(job_id) < SHORTEST_PART or has_records(root, job_id):
        return job_id
    parts = known_jobs(root, job_id).parts
    if len(parts) != 1:
        return job_id
    warn(f"there is no job {job_id}: {parts[0]} is the only one that begins or ends so")
    return parts[0]


def unknown_job(root: Path, job_id: str) -> IosondeError:
    """The error about an id that the store does not have: ids like it, what there is, how to import."""
    from iosonde.jobs.scheduled.unknown import unknown_job as error_about
    from iosonde.jobs.store.earlier_runs import known_jobs

    return error_about(root, job_id, known_jobs(root, job_id))


def story_answer(story: ScheduledStory, zone: tzinfo | None) -> ScheduledAnswer:
    """What is said of a story, with times in ``zone`` (None: this machine's)."""
    from iosonde.jobs.scheduled.words import say_story

    return ScheduledAnswer(story, say_story(story, zone), zone)
