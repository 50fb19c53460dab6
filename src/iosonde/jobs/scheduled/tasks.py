"""Tasks of an array, or components of a heterogeneous job, side by side."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.scheduled.runs import chosen_run
from iosonde.jobs.scheduled.stale import runs_of
from iosonde.jobs.scheduled.story import story_of
from iosonde.jobs.scheduled.words import say_story
from iosonde.jobs.store.jobs import read_jobs
from iosonde.jobs.store.meant import records
from iosonde.model.answer import Block, Prose
from iosonde.model.units import about_length

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.jobs.store.meant import Meant, MeantJob
    from iosonde.model.jobs import Job

MOST_TOLD = 12
"""Most tasks of which storage is looked up: each takes as long as a job."""
SCHEMA_VERSION = 1


class TaskTold(NamedTuple):
    """A task. ``run``: its last one, None: no scheduler recorded it; ``records``: all that the store has of it."""

    job: MeantJob
    run: ScheduledRun | None
    records: list[Job]
    sentence: str

    def record(self) -> dict[str, Any]:
        """As plain data; missing is None."""
        run = self.run
        span = None if run is None else run.span_ns
        return {
            "job_id": self.job.written,
            "raw_id": self.job.job_id,
            "system": (run and run.job.system) or None,
            "state": (run and run.job.state) or None,
            "begin_ns": run and run.begin_ns,
            "end_ns": run and run.end_ns,
            "run_s": None if span is None else (span[1] - span[0]) / 1e9,
            "nodes": run and run.job.nodes,
            "node_names": [] if run is None else list(run.job.node_names),
            "sentence": self.sentence,
        }


class TasksAnswer(NamedTuple):
    """Parts of ``meant.whole`` in order. ``runs``: of all that a scheduler recorded; ``told``: the longest."""

    meant: Meant
    runs: tuple[ScheduledRun, ...]
    told: tuple[TaskTold, ...]

    @property
    def waiting(self) -> int:
        """Number of tasks that wait."""
        return sum(job.waits for job in self.meant.jobs)

    @property
    def begun(self) -> int:
        """Number of the others."""
        return sum(not job.waits for job in self.meant.jobs)

    @property
    def left_out(self) -> int:
        """Number of tasks that are not told."""
        return self.begun - len(self.told)

    @property
    def sentence(self) -> str:
        """How many tasks there are, in which states, and how long they took."""
        states = Counter(run.job.state for run in self.runs if run.job.state)
        words = [f"{self.begun} {self.meant.part}{'' if self.begun == 1 else 's'}"]
        words += [f"{n} {state}" for state, n in states.most_common(4)]
        words += [f"{self.waiting} more wait"] if self.waiting else []
        took = sorted(run.span_ns[1] - run.span_ns[0] for run in self.runs if run.span_ns)
        if not took:
            return f"{self.meant.whole}: {', '.join(words)}"
        low, middle, high = map(about_length, (took[0], median(took), took[-1]))
        span = low if low == high else f"{low} to {high} (median {middle})"
        return f"{self.meant.whole}: {', '.join(words)}; they took {span}"

    def lines(self) -> list[str]:
        """A line a task."""
        lines = []
        for one in self.told:
            state = "" if one.run is None else one.run.job.state
            ended = f" ({state})" if state not in ("", "COMPLETED") else ""
            lines.append(f"{one.sentence}{ended}")
        if self.left_out:
            lines.append(f"and {self.left_out} more, which ran no longer")
        return lines

    def shown(self) -> list[Block]:
        """The sentence, a line a task, how to ask about one."""
        rows = [Prose(line, "  - ", "    ") for line in self.lines()]
        some = [one.job.written for one in self.told[-1:]]
        more = [f"--job {name} explains that {self.meant.part}" for name in some]
        return [Prose(self.sentence), *rows, *map(Prose, more)]

    def mail(self) -> str:
        """Plain text of 72 columns."""
        from iosonde.jobs.scheduled.text import text_block

        return text_block(self.sentence, [("Jobs", self.lines())])

    def records(self) -> list[dict[str, Any]]:
        """A record a task."""
        return [one.record() for one in self.told]

    def data(self) -> dict[str, Any]:
        """Everything; missing is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "whole": self.meant.whole,
            "sentence": self.sentence,
            "left_out": self.left_out,
            "waiting": self.waiting,
            "tasks": self.records(),
        }


def tasks_of(root: Path, meant: Meant, now_ns: int, zone: tzinfo | None = None) -> TasksAnswer:
    """Tasks of an array with storage while each ran. Raises StoreError."""
    jobs = [job for job in meant.jobs if not job.waits]
    runs = _last_runs(root, jobs, now_ns)
    longest = sorted(jobs, key=lambda job: -_length(runs.get(job)))[:MOST_TOLD]
    told = [_told(root, job, now_ns, zone) for job in jobs if job in longest]
    return TasksAnswer(meant, tuple(runs[job] for job in jobs if job in runs), tuple(told))


def _last_runs(root: Path, jobs: list[MeantJob], now_ns: int) -> dict[MeantJob, ScheduledRun]:
    """Last run of each job of which a scheduler has records."""
    wanted: dict[str, list[Job]] = {job.job_id: [] for job in jobs}
    for one in read_jobs(root, job_ids=wanted, scalars=False):
        wanted[one.job_id].append(one)
    found = {}
    for job in jobs:
        if runs := runs_of(root, job.records(wanted[job.job_id]), now_ns):
            found[job] = chosen_run(runs, None)
    return found


def _length(run: ScheduledRun | None) -> int:
    span = None if run is None else run.span_ns
    return -1 if span is None else span[1] - span[0]


def _told(root: Path, job: MeantJob, now_ns: int, zone: tzinfo | None) -> TaskTold:
    some = records(root, job)
    runs = runs_of(root, some, now_ns)
    if not runs:
        return TaskTold(job, None, some, f"job {job.written}: no scheduler recorded it")
    run = chosen_run(runs, None)
    story = story_of(root, run, now_ns, some, brief=True)
    return TaskTold(job, run, some, say_story(story, zone).sentence)
