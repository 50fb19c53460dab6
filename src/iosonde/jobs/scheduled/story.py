"""Facts of a scheduler's job: storage during it, rank of its run time, its own I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.jobs.scheduled.own_io import OwnIo, own_io
from iosonde.jobs.scheduled.run_time import RunTime, run_time
from iosonde.jobs.scheduled.storage import storage_during
from iosonde.jobs.scheduled.storage_time import StorageTime
from iosonde.jobs.store.earlier_runs import earlier_runs
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.model.jobs import Job
    from iosonde.weather.events.told import Happened


@dataclass(frozen=True)
class ScheduledStory:
    """Facts of a run. ``storage``: the slowest target first; [] without probes.

    ``run_time``, ``own_io``, ``happened``: None where nothing can be said. ``asked_ns``: the instant of asking.
    """

    run: ScheduledRun
    asked_ns: int
    storage: tuple[StorageTime, ...] = ()
    run_time: RunTime | None = None
    own_io: OwnIo | None = None
    happened: Happened | None = None


def story_of(
    root: Path, run: ScheduledRun, now_ns: int, records: Sequence[Job], *, brief: bool = False
) -> ScheduledStory:
    """All facts of a run. ``records``: all of its job's id; ``brief``: without events. Raises StoreError."""
    span = run.span_ns
    if span is None:
        return ScheduledStory(run, now_ns)
    found = _happened(root, span, now_ns)
    storage = storage_during(Store(root), *span, happened=found)
    storage = [one for one in storage if _concerns(one, run)] or storage
    took = _run_time(root, run.whole or run)
    own = own_io(root, run.job, *span, records)
    if brief:
        return ScheduledStory(run, now_ns, tuple(storage), took, own)
    happened = None if found is None else _of(found, {one.target for one in storage})
    return ScheduledStory(run, now_ns, tuple(storage), took, own, happened)


def _run_time(root: Path, run: ScheduledRun) -> RunTime | None:
    span = run.span_ns
    if span is None or not run.sources:
        return None
    took_s = (span[1] - span[0]) / 1e9
    going_on = run.going_on or run.stale
    return run_time(took_s, run.job.nodes, earlier_runs(root, run.job), going_on=going_on)


def _concerns(one: StorageTime, run: ScheduledRun) -> bool:
    """True if a target is the job's file system; any target if the scheduler does not name it."""
    return one.target.rstrip("/") == run.job.file_system.rstrip("/") != ""


def _happened(root: Path, span_ns: tuple[int, int], now_ns: int) -> Happened | None:
    """Events of that time; None: no probe ran."""
    from iosonde.weather.events.answers import event_log
    from iosonde.weather.events.told import told_events

    if not Store(root).probed():
        return None
    return told_events(root, event_log(root, span_ns, now_ns), span_ns, now_ns)


def _of(found: Happened, targets: set[str]) -> Happened:
    """The events of some targets."""
    return found._replace(
        slow=[one for one in found.slow if one.target in targets],
        seen=[one for one in found.seen if one.target in targets],
        logged=[one for one in found.logged if one.target in targets],
        not_judged=[one for one in found.not_judged if one.target in {None, *targets}],
    )
