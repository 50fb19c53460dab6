"""Slurm's ``key=value`` records: the log of its plugin jobcomp/filetxt, and ``scontrol show job`` (``-o`` or not).

::

    JobId=24 UserId=ann(1000) GroupId=ann(1000) Name=a job JobState=COMPLETED Partition=debug TimeLimit=60
        StartTime=2026-02-26T14:35:32 EndTime=2026-02-26T14:39:01 NodeList=n[1-2] NodeCnt=2 ProcCnt=8 ...

A record is a line, or goes on until an empty one. What ``scontrol`` says of a job that runs has the end of its time
limit as ``EndTime``: such an end is missing. ``0:0`` behind a state that has not come yet says nothing. Times are the
cluster's clock without a zone. Source: Slurm, slurm.conf(5) JobCompType, scontrol(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.scheduler.job_fields import Fields, state
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.jobs import Job

KIND = "Slurm job completion log"
_BEGIN = re.compile(r"\s*JobId=\d{1,15}(?:_\S{1,100})? ")
_NEXT = re.compile(r"\s+(?=[A-Z][A-Za-z:/]{0,40}=)")
_NAMES = {
    "JobId": "JobIDRaw",
    "Name": "JobName",
    "JobName": "JobName",
    "Account": "Account",
    "Cluster": "Cluster",
    "JobState": "State",
    "ExitCode": "ExitCode",
    "StartTime": "Start",
    "EndTime": "End",
    "NodeList": "NodeList",
    "NodeCnt": "NNodes",
    "NumNodes": "NNodes",
}
_NOT_YET = {"PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "REQUEUED", "RESIZING"}
_EXPECTED = "a record of Slurm: JobId=... JobState=... StartTime=... EndTime=..."
_MOST_CHARACTERS = 1 << 20


def recognises(head: Head) -> bool:
    """True if the first line starts with a job's id, and its state and times follow."""
    lines = [line for line in islice(head.lines, 60) if line.strip()]
    text = " ".join(lines)
    parts = all(f" {name}=" in text for name in ("JobState", "StartTime", "EndTime"))
    return bool(lines) and _BEGIN.match(lines[0]) is not None and parts


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """A Job for each record. Raises InputFileError (unreadable)."""
    clock = WallTimes(settings.zone)
    seen: set[int] = set()
    for number, text in _records(path, warn):
        try:
            job = _job(text, settings.system, clock)
        except ValueError as error:
            warn(bad(path, number, str(error), _EXPECTED))
            continue
        key = hash((job.key, job.end_ns, job.state))
        if key in seen:
            warn(bad(path, number, f"job {shown(job.job_id)} is there twice", "each job once"))
            continue
        seen.add(key)
        yield job


def _records(path: Path, warn: Warn) -> Iterator[tuple[int, str]]:
    """Yield each record as one line, with the number of its first."""
    number, parts, size = 0, list[str](), 0
    for line in read_lines(path, warn):
        begins = _BEGIN.match(line.text) is not None
        if (begins or not line.text.strip()) and parts:
            yield number, " ".join(parts)
            parts, size = [], 0
        if begins:
            number = line.number
        elif line.text.strip() and not parts:
            warn(bad(path, line.number, f"the line is {shown(line.text)}", _EXPECTED))
            continue
        if line.text.strip() and size < _MOST_CHARACTERS:
            parts.append(line.text.strip())
            size += len(line.text)
    if parts:
        yield number, " ".join(parts)


def _job(text: str, system: str, clock: WallTimes) -> Job:
    """Parse a record. Raises ValueError: no times, no state, an impossible time or node list."""
    pairs = dict(part.partition("=")[::2] for part in reversed(_NEXT.split(text)))
    if not {"JobState", "StartTime", "EndTime"} <= set(pairs):
        raise ValueError(f"the record {shown(text)} has no state or times: it is cut")
    row = {ours: pairs[theirs] for theirs, ours in _NAMES.items() if theirs in pairs}
    if not pairs.get("Cluster") or pairs.get("Cluster") == "unknown":
        row.pop("Cluster", None)
    row["JobID"] = _written(pairs)
    row["User"] = pairs.get("UserId", "").partition("(")[0]
    row["NNodes"] = re.sub(r"-.*", "", row.get("NNodes", ""))
    row["State"] = state(row["State"])
    if row["State"] in _NOT_YET:
        row["End"] = "Unknown"
        row.pop("ExitCode", None)
    return Fields("sacct", row, clock).job(system)


def _written(pairs: Mapping[str, str]) -> str:
    """Id of a task or component as users write it; "" for other jobs."""
    if "ArrayJobId" in pairs and (task := pairs.get("ArrayTaskId", "")):
        return f"{pairs['ArrayJobId']}_{task if task.isdecimal() else f'[{task}]'}"
    if "HetJobId" in pairs and (offset := pairs.get("HetJobOffset", "")):
        return f"{pairs['HetJobId']}+{offset}"
    return ""
