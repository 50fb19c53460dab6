"""Job ids as Slurm's users write them.

::

    4711_7        task 7 of the array 4711              raw id: any, of the last task 4711
    4711_[8-20%5] its tasks that wait                   raw id: 4711
    600+1         component 1 of a heterogeneous job    raw id: 601
    4711.batch    a step of the job 4711
    4711@west     of the jobs 4711 of several clusters, that of west: iosonde's own form

Source: Slurm, sacct(1) JobID and JobIDRaw, job_array and heterogeneous_jobs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

WITH_BOTH_IDS = "JobID,JobIDRaw,User,Account,JobName,State,Start,End,NNodes,NodeList,ExitCode"
"""Fields to ask sacct for."""
_PART = re.compile(
    r"(\d{1,15})(?:(_)(\d{1,10}|\[[\d,:%.-]{1,4000}\]?)|(\+)(\d{1,6}))(?:@.+)?", re.ASCII
)
_STEP = re.compile(r"(.+)\.(\d{1,10}|batch|extern|interactive)(?:\+\d{1,6})?", re.ASCII)
_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10})(?::(\d{1,10}))?)?", re.ASCII)


class JobPart(NamedTuple):
    """A task of an array (``sign`` "_") or a component of a heterogeneous job ("+"), by the id of the whole."""

    whole: str
    sign: str
    number: str
    """Of several tasks that wait: ``[8-20%5]``."""


def part_of(written: str) -> JobPart | None:
    """Parse ``4711_7``, ``4711_[8-20]`` or ``600+1``; None for other ids."""
    match = _PART.fullmatch(written)
    if match is None:
        return None
    return JobPart(match[1], match[2] or match[4], match[3] or match[5])


def step_of(written: str) -> tuple[str, str] | None:
    """``4711.batch`` -> ("4711", "batch"), ``4711_7.0`` -> ("4711_7", "0"); None for ids that name no step."""
    match = _STEP.fullmatch(written)
    if match is None or not (match[1].isdecimal() or part_of(match[1])):
        return None
    return match[1], written[len(match[1]) + 1 :]


def told_apart(written: Sequence[str], clusters: Sequence[str]) -> list[str]:
    """Ids, with ``@cluster`` where an id is of several; an empty cluster is not known, and not named."""
    if len({*clusters, ""}) <= 2:
        return list(written)
    of: dict[str, set[str]] = defaultdict(set)
    for name, cluster in set(zip(written, clusters, strict=True)):
        if cluster:
            of[name].add(cluster)
    return [
        f"{name}@{cluster}" if cluster and len(of[name]) > 1 else name
        for name, cluster in zip(written, clusters, strict=True)
    ]


def cluster_of(asked: str) -> tuple[str, str]:
    """``4711@west`` -> ("4711", "west"); ("4711", "") without a cluster."""
    name, sign, cluster = asked.rpartition("@")
    return (name, cluster) if sign and name and cluster else (asked, "")


def shown_id(written: str, raw: str) -> str:
    """Id as users write it, without its step, if it tells more than the raw id; else ""."""
    job = written.strip().partition(".")[0]
    return job if job != raw and part_of(job) is not None else ""


def waits(tasks: str, number: int) -> bool:
    """True if ``[8-20:2%5,30]`` has a task. What is cut (``[1-3,...]``) has no more than it shows."""
    return any(number in some for some in _ranges(tasks))


def waiting(tasks: str) -> int:
    """Number of tasks in ``[8-20:2%5,30]``."""
    return sum(len(some) for some in _ranges(tasks))


def _ranges(tasks: str) -> list[range]:
    found = []
    for word in tasks.strip("[]").partition("%")[0].split(","):
        if match := _RANGE.fullmatch(word):
            last = int(match[2] or match[1])
            found.append(range(int(match[1]), last + 1, max(1, int(match[3] or 1))))
    return found
