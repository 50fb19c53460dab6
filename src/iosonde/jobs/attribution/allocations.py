"""Allocations: nodes of each run of a job, with start and end.

A job that the scheduler requeued has several runs: each counts for itself. A run whose end nobody knows
goes on until the same job begins again, or until now if its state says that it runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.scheduler.job_ids import told_apart
from iosonde.model.quality import LeftOut

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places, Texts
    from iosonde.model.jobs import Job

GOING_ON = {
    "",
    "RUNNING",
    "COMPLETING",
    "SUSPENDED",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
}
"""States in which a run without an end is still running."""


_TEXTS = ("job_id", "user", "account", "name")


@dataclass(frozen=True)
class Allocations:
    """Runs of jobs, shapes (R,), and the nodes of each, shapes (A,).

    ``begin_ns``, ``end_ns``: UTC, end after begin. ``going_on``: the end is the instant of asking.
    ``run``, ``node``: indices into the runs and ``nodes``, each pair once. ``cpus`` (A,): NaN where nothing says it.
    """

    job_id: Texts
    user: Texts
    account: Texts
    name: Texts
    begin_ns: Instants
    end_ns: Instants
    going_on: Flags
    run: Places
    node: Places
    cpus: Floats
    nodes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()

    def __len__(self) -> int:
        return len(self.job_id)

    def within(self, begin_ns: int, end_ns: int) -> Allocations:
        """Runs that had a node in a part of [begin, end), in the same order; nodes keep their indices."""
        keep = (self.begin_ns < end_ns) & (self.end_ns > begin_ns)
        new = np.cumsum(keep) - 1
        pairs = keep[self.run]
        return replace(
            self,
            **{
                name: getattr(self, name)[keep]
                for name in ("job_id", "user", "account", "name", "begin_ns", "end_ns", "going_on")
            },
            run=new[self.run[pairs]],
            node=self.node[pairs],
            cpus=self.cpus[pairs],
        )

    def shifted(self, by_ns: int) -> Allocations:
        """The runs on a clock that is ahead by ``by_ns``."""
        return replace(self, begin_ns=self.begin_ns + by_ns, end_ns=self.end_ns + by_ns)


def allocations_of(
    jobs: Iterable[Job],
    nodes: Sequence[str],
    now_ns: int,
    cpus: Callable[[Job], float] = lambda _: np.nan,
) -> Allocations:
    """Allocations of a scheduler's jobs on ``nodes``, those with recorded operations.

    Steps are part of their jobs and not counted twice. Names match as ``node_places`` says. What cannot be placed in
    time or on a node is left out with a reason. ``cpus``: of a job on each of its nodes, NaN = not known.
    """
    dropped: dict[str, int] = defaultdict(int)
    runs = _runs((job for job in jobs if not job.step), now_ns, dropped)
    places = node_places((name for job, _, _ in runs for name in job.node_names), nodes)
    columns: list[tuple[Job, int, bool]] = []
    run: list[int] = []
    node: list[int] = []
    each: list[float] = []
    for job, end, open_ended in runs:
        found = sorted({places[name] for name in job.node_names if name in places})
        if not found:
            dropped["no node of it has records" if job.node_names else "no list of nodes"] += 1
            continue
        run += [len(columns)] * len(found)
        node += found
        each += [cpus(job)] * len(found)
        columns.append((job, end, open_ended))
    some = [job for job, _, _ in columns]
    text = {name: np.array(texts_of(some, name) or [""], dtype=object) for name in _TEXTS}
    return Allocations(
        **{name: column[: len(columns)] for name, column in text.items()},
        begin_ns=np.array([job.start_ns for job, _, _ in columns], dtype=np.int64),
        end_ns=np.array([end for _, end, _ in columns], dtype=np.int64),
        going_on=np.array([flag for _, _, flag in columns], dtype=np.bool_),
        run=np.array(run, dtype=np.intp),
        node=np.array(node, dtype=np.intp),
        cpus=np.array(each, dtype=np.float64),
        nodes=tuple(nodes),
        left_out=tuple(LeftOut(n, why) for why, n in dropped.items() if n),
    )


def texts_of(jobs: Sequence[Job], name: str) -> list[str]:
    """A text of ``Allocations`` of jobs: ids are as users write them, and tell clusters apart."""
    if name == "job_id":
        return told_apart([job.written_id for job in jobs], [job.system for job in jobs])
    return [getattr(job, name) for job in jobs]


def node_places(names: Iterable[str], nodes: Sequence[str]) -> dict[str, int]:
    """Name of a node as the scheduler writes it -> its place in ``nodes``; those that match none are not there.

    Case and, if that leaves one node only, the domain do not count: Slurm's ``n001`` is collectl's ``n001.site.org``.
    """
    exact = {name.lower(): place for place, name in enumerate(nodes)}
    short: dict[str, set[int]] = defaultdict(set)
    for name, place in exact.items():
        short[name.split(".")[0]].add(place)
    found = {}
    for name in dict.fromkeys(names):
        key = name.lower()
        alike = short.get(key.split(".")[0], set())
        if key in exact:
            found[name] = exact[key]
        elif len(alike) == 1 and not ("." in key and "." in nodes[min(alike)]):
            found[name] = min(alike)
    return found


def _runs(jobs: Iterable[Job], now_ns: int, dropped: dict[str, int]) -> list[tuple[Job, int, bool]]:
    """Runs with a begin and an end, in the order of begin; whether each goes on."""
    by_run: dict[tuple[str, str, int], Job] = {}
    for job in jobs:
        if job.start_ns is None:
            dropped["not begun"] += 1
            continue
        key = (job.system, job.job_id, job.start_ns)
        dropped["the same run twice"] += key in by_run
        by_run[key] = _fuller(by_run.get(key, job), job)
    begins: dict[tuple[str, str], list[int]] = defaultdict(list)
    for system, job_id, begin in sorted(by_run, key=lambda key: key[2]):
        begins[system, job_id].append(begin)
    runs = []
    for (system, job_id, begin), job in sorted(by_run.items(), key=lambda item: item[0][2]):
        later = next((other for other in begins[system, job_id] if other > begin), None)
        end = job.end_ns
        goes_on = end is None and later is None
        if goes_on and job.state not in GOING_ON:
            dropped["unknown end"] += 1
            continue
        if end is None:
            end = now_ns if later is None else later
        elif later is not None:
            end = min(end, later)
        if end <= begin:
            dropped["no time between begin and end"] += 1
            continue
        runs.append((job, end, goes_on))
    return runs


def _fuller(one: Job, other: Job) -> Job:
    """Better of two records of one run: the one with an end and nodes, the later one if both have them."""
    return max((one, other), key=lambda job: (job.end_ns is not None, bool(job.node_names)))
