"""Job counters of OSTs and MDTs, snapshot by snapshot, to increments and totals of each job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lustre.job_names import job_ids
from iosonde.connectors.lustre.names import system_of
from iosonde.connectors.lustre.stats import JobStats
from iosonde.connectors.source import Item
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import SERIES, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


SOURCE = "jobstats"
_OWN = {
    "own_read_bytes": "read_bytes",
    "own_written_bytes": "written_bytes",
    "own_reads": "read_ops",
    "own_writes": "write_ops",
    "own_opens": "opens",
    "own_stats": "getattrs",
}
_MOST_ENTRIES = 3_000_000
_CELLS = 2_000_000
_NEAR_NS = 300 * 10**9
_NO_PART = -1.0
"""Value of a step before a job started or after it was gone."""


class JobCounts:
    """Snapshots of the job_stats of several targets."""

    def __init__(self, system: str) -> None:
        self.system = system
        self.instants: dict[int, set[str]] = {}
        """Snapshot -> targets that were read."""
        self._entries: dict[tuple[str, str], dict[int, JobStats]] = {}
        self._size = 0
        self.twice = self.dropped = 0
        self.stated: tuple[Note, ...] = ()
        """What there is to say of the snapshots' times."""
        self.alone = True
        """Whether there were no two snapshots of anything (known behind ``items``)."""
        self._fell: dict[str, int] = {}

    def add(self, entries: list[JobStats], when: int | None, read: Iterable[str] = ()) -> None:
        """Add a snapshot of the targets ``read``, some of which may list no job.

        ``when`` None: the youngest time in it.
        """
        known = [entry.time_ns for entry in entries if entry.time_ns is not None]
        if when is None and known:
            when = max(known)
        if when is None:
            return
        targets = self.instants.setdefault(when, set())
        targets.update(read)
        for entry in entries:
            targets.add(entry.target)
            self._size += 1
            if self._size > _MOST_ENTRIES:
                self.dropped += 1
                continue
            of_job = self._entries.setdefault((entry.target, entry.job_id), {})
            self.twice += when in of_job
            of_job.setdefault(when, entry)

    def items(self) -> Iterator[Item]:
        """Yield increments of jobs between snapshots, and each job's totals."""
        jobs: dict[str, list[tuple[str, str]]] = {}
        ids, n_last = job_ids(name for _, name in self._entries)
        if n_last:
            what = "ids of jobs, the last field of names like node:user:id"
            self.stated += (Note("estimated", what, n_last),)
        for target, name in self._entries:
            jobs.setdefault(ids[name], []).append((target, name))
        for system in sorted({self._system(target) for target, _ in self._entries}):
            here = {
                job: [key for key in keys if self._system(key[0]) == system]
                for job, keys in jobs.items()
            }
            names = sorted(job for job, keys in here.items() if keys)
            snapshots = self._aligned(system)
            if len(snapshots) > 1:
                self.alone = False
                yield from self._blocks(system, names, here, snapshots)
            for job in names:
                yield self._job(system, job, here[job])

    def _system(self, target: str) -> str:
        return system_of(target) or self.system

    def _aligned(self, system: str) -> dict[int, set[str]]:
        """Snapshot -> targets of a file system.

        Servers are asked one after the other: what several said within minutes is one snapshot, at the last one's
        time; a target that is there again is a snapshot of its own.
        """
        joined: dict[int, set[str]] = {}
        at: dict[int, int] = {}
        group: list[int] = []
        targets: set[str] = set()
        for when in sorted(self.instants):
            more = {name for name in self.instants[when] if self._system(name) == system}
            if not more:
                continue
            if not group or when - group[0] > _NEAR_NS or targets & more:
                group, targets = [], set()
            if group:
                del joined[group[-1]]
            group.append(when)
            targets = joined[when] = targets | more
            at |= dict.fromkeys(group, when)
        for key, entries in self._entries.items():
            if self._system(key[0]) == system:
                self._entries[key] = {at[when]: entry for when, entry in entries.items()}
        return joined

    def _blocks(
        self,
        system: str,
        names: list[str],
        keys: dict[str, list[tuple[str, str]]],
        snapshots: dict[int, set[str]],
    ) -> Iterator[MetricBlock]:
        """Blocks of one metric after the other, in batches of jobs of bounded size."""
        instants = sorted(snapshots)
        time_ns = np.array(instants, dtype=np.int64)
        width = max(1, _CELLS // len(instants))
        steps: dict[str, dict[str, Floats]] = {}
        for job in names:
            for key in keys[job]:
                for metric, amounts in self._between(key, snapshots).items():
                    of_job = steps.setdefault(metric, {})
                    known = of_job.get(job)
                    of_job[job] = amounts if known is None else _sum(known, amounts)
        for metric in sorted(steps):
            unit, kind = SERIES[metric]
            having = list(steps[metric])
            for begin in range(0, len(having), width):
                part = having[begin : begin + width]
                yield MetricBlock(
                    SOURCE,
                    system,
                    "job",
                    metric,
                    unit,
                    kind,
                    tuple(part),
                    time_ns[:-1],
                    np.diff(time_ns),
                    _known(np.stack([steps[metric][job] for job in part], axis=1)),
                    self._notes(metric),
                )

    def _notes(self, metric: str) -> tuple[Note, ...]:
        """Notes of a block."""
        counted = (
            ("counter-reset", f"{metric} of jobs", self._fell.get(metric, 0)),
            ("duplicate", "entries of jobs", self.twice),
            ("incomplete", f"skipping entries beyond {_MOST_ENTRIES}", self.dropped),
        )
        return (*self.stated, *(Note(flag, what, n) for flag, what, n in counted if n))

    def _between(self, key: tuple[str, str], snapshots: dict[int, set[str]]) -> dict[str, Floats]:
        """Increments of one entry per step (T - 1,): ``_NO_PART`` outside the job, NaN if unknown."""
        entries = self._entries[key]
        found: dict[str, Floats] = {}
        instants = sorted(snapshots)
        for row, (one, other) in enumerate(pairwise(instants)):
            before, after = entries.get(one), entries.get(other)
            seen = after or before
            if seen is None:
                continue
            unknown = after is None or key[0] not in snapshots[one]
            was = before.counters if before is not None else {}
            for metric, now in seen.counters.items():
                amounts = found.get(metric)
                if amounts is None:
                    amounts = found[metric] = np.full(len(instants) - 1, _NO_PART)
                step = now - was.get(metric, 0.0)
                if step < 0:
                    self._fell[metric] = self._fell.get(metric, 0) + 1
                amounts[row] = np.nan if unknown or step < 0 else step
        return found

    def _job(self, system: str, job: str, keys: list[tuple[str, str]]) -> Job:
        """Totals of a job since its entries started, by the last entry of each target."""
        last = [self._entries[key][max(self._entries[key])] for key in keys]
        scalars: dict[str, Scalar] = {}
        for name, metric in _OWN.items():
            counted = [entry.counters[metric] for entry in last if metric in entry.counters]
            if counted:
                unit = SERIES[metric][0]
                scalars[name] = Scalar(float(sum(counted)), unit, SOURCE, n=len(counted))
        moved = [scalars[n].value for n in ("own_read_bytes", "own_written_bytes") if n in scalars]
        if len(moved) == 2:
            total = float(sum(value for value in moved if value is not None))
            scalars["own_bytes"] = Scalar(total, "bytes", SOURCE, n=scalars["own_read_bytes"].n)
        starts = [entry.start_ns for entry in last if entry.start_ns is not None]
        names = sorted({name for _, name in keys})
        return Job(
            source=SOURCE,
            job_id=job,
            name=names[0] if len(names) == 1 else "",
            file_system=system,
            start_ns=min(starts, default=None),
            scalars=scalars,
        )


def _sum(one: Floats, other: Floats) -> Floats:
    """Sum of steps in which a target may have no part."""
    both = np.where(one == _NO_PART, 0.0, one) + np.where(other == _NO_PART, 0.0, other)
    total: Floats = np.where((one == _NO_PART) & (other == _NO_PART), _NO_PART, both)
    return total


def _known(steps: Floats) -> Floats:
    """Steps with NaN for those without any part."""
    return np.where(steps == _NO_PART, np.nan, steps)
