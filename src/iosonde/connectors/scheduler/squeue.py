"""Slurm's ``squeue -o`` with bars between fields: running jobs with their nodes.

::

    JOBID|USER|NAME|STATE|NODELIST|START_TIME|END_TIME|NODES|CPUS

``END_TIME`` is that of the time limit, so no job has ended; ``START_TIME`` of a job that waits is a plan: such jobs are
left out. A bar in a job's name goes to the name. A later ``sacct`` of the job takes its place. Source: Slurm,
squeue(1).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.scheduler.job_fields import Fields, state
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.quality import Note

KIND = "squeue"
_NAMES = {
    "JOBID": "JobIDRaw",
    "USER": "User",
    "ACCOUNT": "Account",
    "NAME": "JobName",
    "STATE": "State",
    "NODELIST": "NodeList",
    "NODELIST(REASON)": "NodeList",
    "START_TIME": "Start",
    "NODES": "NNodes",
}
_NEEDED = {"JOBID", "STATE", "START_TIME"}
_WAITING = {"PENDING", "PD", "CONFIGURING", "CF"}


def recognises(head: Head) -> bool:
    """True if the first line names squeue's fields, with a job's start."""
    first = next((line for line in islice(head.lines, 3) if line.strip()), "")
    return _header(first) is not None


def _header(text: str) -> list[str] | None:
    names = text.strip().split("|")
    return names if set(names) >= _NEEDED else None


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield a Job per running job. Raises InputFileError (unreadable)."""
    names: list[str] | None = None
    clock = WallTimes(settings.zone)
    seen: set[tuple[str, int | None]] = set()
    waiting = 0
    for line in read_lines(path, warn, settings.progress):
        if not line.text.strip():
            continue
        if (header := _header(line.text)) is not None:
            names = header  # of the first list, or of one that was appended
            continue
        try:
            row = _row(line.text, names or [], line.ended)
            if row["State"] in _WAITING:
                waiting += 1
                continue
            job = Fields("sacct", row, clock).job(settings.system)
        except ValueError as error:
            warn(bad(path, line.number, str(error), "a row of squeue -o with bars"))
            continue
        key = (job.job_id, job.start_ns)
        if key not in seen:
            seen.add(key)
            yield job
    if waiting:
        yield Note("left-out", "jobs that wait", waiting)


def _row(text: str, names: list[str], whole: bool) -> dict[str, str]:
    """Fields by the names of sacct. Raises ValueError: too few or too many fields."""
    words = text.rstrip("\r\n").split("|")
    extra = len(words) - len(names)
    if extra > 0 and "NAME" in names:
        at = names.index("NAME")
        words[at : at + extra + 1] = ["|".join(words[at : at + extra + 1])]
    if len(words) != len(names) or not whole:
        raise ValueError(f"the row {shown(text)} has {len(words)} fields of {len(names)}")
    row = {
        _NAMES[name]: word.strip()
        for name, word in zip(names, words, strict=True)
        if name in _NAMES
    }
    # -o '%i|%A': the id as users write it, and the raw one.
    ids = [word.strip() for name, word in zip(names, words, strict=True) if name == "JOBID"]
    if len(ids) > 1:
        row["JobIDRaw"] = next((one for one in ids if one.isdecimal()), ids[0])
        row["JobID"] = next((one for one in ids if not one.isdecimal()), ids[0])
    if row.get("NodeList", "").startswith("("):  # why it waits
        row["NodeList"] = ""
    row["State"] = {"R": "RUNNING", "CG": "COMPLETING", "S": "SUSPENDED"}.get(
        state(row["State"]), state(row["State"])
    )
    return row
