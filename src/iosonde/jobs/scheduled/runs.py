"""Runs of one job id as schedulers recorded them: each once, with its known end or the instant of asking.

A requeued job has several runs; an id that came back, or is of another cluster, too. Records of several sources that
say the same run are one. A run without an end goes on if its state says so; else it ended when its last step did, or
when the same job began again, or nobody knows when.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from iosonde.jobs.attribution.allocations import GOING_ON
from iosonde.jobs.attribution.same_runs import once
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import Job, JobTable

_SLACK_NS = 60_000_000_000
_HELPERS = ("batch", "extern", "interactive")
_NO_TASKS = 0


@dataclass(frozen=True)
class ScheduledRun:
    """A run. ``job``: its record, completed by the nodes and ranks of its steps.

    ``begin_ns`` None: it has not begun. ``end_ns``: of what can be said; None: nobody knows when it ended.
    ``going_on``: ``end_ns`` is the instant of asking. ``number`` of ``of``: its place among the runs of the id.
    """

    job: Job
    begin_ns: int | None
    end_ns: int | None
    going_on: bool
    sources: tuple[str, ...]
    number: int = 1
    of: int = 1
    whole: ScheduledRun | None = None
    """Scheduler's run that this is a part of; None: it is one itself."""
    stale: bool = False
    """Its record says that it runs, and is days old."""

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """[begin, end) to query; None without one."""
        if self.begin_ns is None or self.end_ns is None or self.end_ns <= self.begin_ns:
            return None
        return self.begin_ns, self.end_ns


def is_scheduled(job: Job) -> bool:
    """True for a scheduler's record: with a state, or nodes; or without any program or I/O."""
    if job.state or job.node_names or job.nodes is not None:
        return True
    return not (job.app or job.api or any(name.startswith("own_") for name in job.scalars))


def scheduled_runs(records: Iterable[Job], now_ns: int) -> list[ScheduledRun]:
    """Runs of all records of one job id, by start; [] if no scheduler recorded it."""
    known = [job for job in records if is_scheduled(job)]
    whole = [_pending(job) for job in known if not job.step]
    steps = [job for job in known if job.step]
    if not whole:
        whole = _of_steps(steps)
    jobs = sorted(once(whole), key=lambda job: (job.start_ns is not None, job.start_ns or 0))
    runs = []
    for place, job in enumerate(jobs):
        later = next((one.start_ns for one in jobs[place + 1 :] if one.system == job.system), None)
        runs.append(_run(job, _steps_of(job, steps, later), later, now_ns, whole))
    many = len(runs)
    return [replace(run, number=number, of=many) for number, run in enumerate(runs, 1)]


def chosen_run(runs: Sequence[ScheduledRun], step: str | None) -> ScheduledRun:
    """Run by name: ``#2`` is the second; None: the last that started, else the last. Raises UsageError: no such run."""
    if step is None:
        return next((run for run in reversed(runs) if run.begin_ns is not None), runs[-1])
    number = step.removeprefix("#")
    if number.isdecimal() and 1 <= int(number[:8]) <= len(runs):
        return runs[int(number[:8]) - 1]
    raise UsageError(
        f"job {runs[0].job.written_id} has no run {step!r}",
        expected=", ".join(f"#{run.number}" for run in runs[:12]),
    )


def recorded_run(table: JobTable, row: int, runs: Sequence[ScheduledRun]) -> ScheduledRun:
    """A run of a table, in its own time, completed by the scheduler's run of that time."""
    instants = (int(table.start_ns[row]), int(table.end_ns[row]))
    begin, end = (None if one == NULL_NS else one for one in instants)
    ran = [
        run
        for run in runs
        if begin is not None
        and run.span_ns is not None
        and run.span_ns[0] <= begin + _SLACK_NS
        and begin < run.span_ns[1] + _SLACK_NS
    ]
    written, raw = str(table.job_id[row]), str(table.label("raw_id")[row])
    own = Job(
        source=table.source,
        job_id=raw or written,
        shown_id=written if raw else "",
        file_system=str(table.file_system[row]),
        start_ns=begin,
        end_ns=end,
    )
    if not ran:
        return ScheduledRun(own, begin, end, going_on=False, sources=())
    last = ran[-1]
    job = replace(last.job, file_system=own.file_system or last.job.file_system)
    return replace(last, job=job, begin_ns=begin, end_ns=end, going_on=False, whole=last)


def _pending(job: Job) -> Job:
    """The job without times if it is pending: squeue prints its expected start."""
    return replace(job, start_ns=None, end_ns=None) if job.state == "PENDING" else job


def _of_steps(steps: Sequence[Job]) -> list[Job]:
    """Jobs of which only steps are recorded: one for each cluster, from the first start to the last end."""
    found = []
    for system in sorted({step.system for step in steps}):
        some = [step for step in steps if step.system == system and step.start_ns is not None]
        if not some:
            continue
        first = min(some, key=lambda step: step.start_ns or 0)
        ends = [step.end_ns for step in some]
        end = None if None in ends else max(one for one in ends if one is not None)
        found.append(replace(first, step="", end_ns=end, ranks=None, name="", nodes=None))
    return found


def _steps_of(job: Job, steps: Sequence[Job], later: int | None) -> list[Job]:
    """Steps that started during the run."""
    if job.start_ns is None:
        return []
    last = min((one for one in (job.end_ns, later) if one is not None), default=None)
    return [
        step
        for step in steps
        if step.start_ns is not None
        and step.start_ns >= job.start_ns - _SLACK_NS
        and (last is None or step.start_ns <= last + _SLACK_NS)
        and (not step.system or not job.system or step.system == job.system)
    ]


def _run(
    job: Job, steps: Sequence[Job], later: int | None, now_ns: int, records: Sequence[Job]
) -> ScheduledRun:
    tasks = [step for step in steps if step.step not in _HELPERS]
    ranks = max((step.ranks or _NO_TASKS for step in tasks), default=_NO_TASKS) or None
    names = job.node_names or max((step.node_names for step in tasks), key=len, default=())
    nodes = job.nodes if job.nodes is not None else (len(names) or None)
    full = replace(job, ranks=job.ranks or ranks, node_names=names, nodes=nodes)
    sources = tuple(
        dict.fromkeys(one.source for one in records if _same_begin(one.start_ns, job.start_ns))
    )
    end, going_on = job.end_ns, False
    if job.start_ns is not None and end is None:
        going_on = later is None and job.state in GOING_ON
        end = now_ns if going_on else _last_seen(steps, later)
    elif end is not None and later is not None:
        end = min(end, later)
    return ScheduledRun(full, job.start_ns, end, going_on, sources)


def _same_begin(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _SLACK_NS


def _last_seen(steps: Sequence[Job], later: int | None) -> int | None:
    """End of the last step, or start of the next run."""
    ends = [step.end_ns for step in steps if step.end_ns is not None]
    return max(ends) if ends else later
