"""Slurm's ``sacct`` as text: ``--parsable``, ``--parsable2`` (any delimiter), or columns of fixed width, with a header.

A row is a job or, with ``.batch``, ``.extern`` or ``.0`` behind its id, a step of one: each a ``Job``. The raw id
counts where it is there (it is what programs see); ``JobID`` of array and heterogeneous jobs is kept beside it. A bar
in a job's name makes a field too many: it goes to the name. With ``-D`` one job has several runs, told apart by their
begin. Times are the cluster's clock without a zone, or epoch seconds; ``Unknown`` and ``None`` are missing. A step
outside its job has flag ``clock-skew``. What is cut to a column's width ends in ``+``. Source: Slurm, sacct(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.scheduler.job_fields import Fields
from iosonde.connectors.scheduler.job_ids import WITH_BOTH_IDS
from iosonde.connectors.scheduler.node_list import NodeListError
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job

KIND = "sacct"
_IDS = {"jobid", "jobidraw"}
_NAMES = {
    name.lower(): name
    for name in (
        *("JobID", "JobIDRaw", "User", "Account", "Cluster", "Partition", "JobName", "State"),
        *("ExitCode", "Submit", "Eligible", "Start", "End", "Elapsed", "ElapsedRaw", "NNodes"),
        *(
            "AllocNodes",
            "NCPUS",
            "AllocCPUS",
            "NTasks",
            "NodeList",
            "MaxRSS",
            "ReqMem",
            "AveDiskRead",
        ),
        *("AveDiskWrite", "MaxDiskRead", "MaxDiskWrite", "TRESUsageInTot", "TRESUsageOutTot"),
    )
}
_ASK = f"sacct -P --format={WITH_BOTH_IDS}"
_FREE_TEXT = ("JobName", "SubmitLine", "Comment", "WorkDir")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:%-?\d+)?")
_DASHES = re.compile(r"-+(?: +-+)*\s*")
_MOST_KEPT = 500_000
_SKEW_NS = 1_000_000_000


def recognises(head: Head) -> bool:
    """True if the first line names sacct fields, with an id and a time or state."""
    first = next((line for line in islice(head.lines, 3) if line.strip()), "")
    return _header(first) is not None


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield a Job per job and step. Raises InputFileError (unreadable; no header)."""
    table: _Table | None = None
    runs = _Runs()
    clock = WallTimes(settings.zone)
    for line in read_lines(path, warn, settings.progress):
        if not line.text.strip():
            continue
        if table is None:
            header = _header(line.text)
            if header is None:
                what = f"the header is {shown(line.text)}"
                raise bad(path, line.number, what, "names of sacct's fields, JobID among them")
            table = header
            if lacks := [name for name in ("Start", "End") if name not in table.names]:
                yield f"there is no column {' and none '.join(lacks)}; try '{_ASK}'"
            continue
        if table.take_dashes(line.text) or line.text.strip() == table.text:
            continue
        try:
            fields = Fields("sacct", table.row(line), clock, truncated=table.fixed)
            yield from runs.seen(_job(fields, settings, path, line, warn))
        except ValueError as error:
            warn(bad(path, line.number, str(error), "a row of sacct"))
    if table is None:
        raise InputFileError(f"{path} is empty", expected="the text of sacct with its header")


def _job(fields: Fields, settings: Settings, path: Path, line: Line, warn: Warn) -> Job:
    """The row's job, even if its node list is malformed."""
    try:
        return fields.job(settings.system)
    except NodeListError as error:
        warn(bad(path, line.number, f"NodeList: {error}", "names such as n[001-004]"))
        return fields.job(settings.system, ())


class _Runs:
    """Known jobs, for their steps, and ids of earlier records."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        """Without their nodes: there may be very many."""
        self._keys: set[int] = set()

    def seen(self, job: Job) -> Iterator[Job]:
        """Complete a job by values that its steps lack. Raises ValueError if it was seen before."""
        if len(self._keys) >= _MOST_KEPT:
            self._keys.clear()
            self._jobs.clear()
        key = hash((job.system, job.job_id, job.step, job.start_ns, job.end_ns, job.state))
        if key in self._keys:
            raise ValueError(f"job {shown(job.job_id)} is there twice: the first one counts")
        self._keys.add(key)
        if not job.step:
            self._jobs[job.job_id] = replace(job, node_names=(), scalars={})
            yield job
            return
        whole = self._jobs.get(job.job_id)
        yield job if whole is None else _within(job, whole)


def _within(step: Job, job: Job) -> Job:
    """A step with its job's user and account, and a flag if it exceeds the job's times."""
    step = replace(step, user=step.user or job.user, account=step.account or job.account)
    early = None not in (step.start_ns, job.start_ns) and (
        (step.start_ns or 0) < (job.start_ns or 0) - _SKEW_NS
    )
    late = None not in (step.end_ns, job.end_ns) and (
        (step.end_ns or 0) > (job.end_ns or 0) + _SKEW_NS
    )
    if not (early or late):
        return step
    span = step.scalars["duration_s"]
    return step.with_scalars({"duration_s": span._replace(flags=(*span.flags, "clock-skew"))})


class _Table:
    """Splitter of rows into fields."""

    def __init__(self, text: str, names: list[str], delimiter: str | None) -> None:
        self.text = text.strip()
        self.names, self._delimiter = names, delimiter
        self._tail = delimiter is not None and text.rstrip("\r\n ").endswith(delimiter)
        self._spans: list[tuple[int, int | None]] = []

    @property
    def fixed(self) -> bool:
        """True if columns have a fixed width, and longer values are cut."""
        return self._delimiter is None

    def take_dashes(self, text: str) -> bool:
        """Parse the line below the header, which gives column widths; False for other lines."""
        if not self.fixed or not _DASHES.fullmatch(text):
            return False
        begins = [match.start() for match in re.finditer("-+", text)]
        self._spans = [*pairwise(begins), (begins[-1], None)]
        return True

    def row(self, line: Line) -> dict[str, str]:
        """Fields by name. Raises ValueError: too few or too many; a cut line."""
        if not line.ended and not self._complete(line.text):
            raise ValueError("the row is cut")
        if self.fixed:
            if len(self._spans) != len(self.names):
                raise ValueError("the line of dashes below the header is missing")
            words = [line.text[begin:end].strip() for begin, end in self._spans]
        else:
            words = line.text.split(self._delimiter)
            if self._tail and not words[-1]:
                words.pop()
        return dict(zip(self.names, self._joined(words), strict=True))

    def _complete(self, text: str) -> bool:
        return not self.fixed and text.count(self._delimiter or "") >= len(self.names)

    def _joined(self, words: list[str]) -> list[str]:
        """Fields with excess ones joined into the one that may contain the delimiter."""
        many = len(words) - len(self.names)
        if many == 0:
            return words
        place = next((self.names.index(n) for n in _FREE_TEXT if n in self.names), None)
        if many < 0 or place is None:
            raise ValueError(f"the row has {len(words)} fields of {len(self.names)}")
        name = (self._delimiter or "").join(words[place : place + many + 1])
        return [*words[:place], name, *words[place + many + 1 :]]


def _header(text: str) -> _Table | None:
    """Table by its header; None if it is not sacct's."""
    words = [word for word in re.split(r"[ \t]+", text) if word]
    if len(words) > 1 and all(_WORD.fullmatch(word) for word in words):
        return _table(text, words, None)
    first = _WORD.match(text.lstrip())
    if first is None or len(text) > 20_000:
        return None
    delimiter = re.match(r"[^A-Za-z0-9]{1,4}", text.lstrip()[first.end() :])
    if delimiter is None:
        return None
    names = text.strip("\r\n ").split(delimiter[0])
    if not names[-1]:
        names.pop()
    return _table(text, names, delimiter[0])


def _table(text: str, names: list[str], delimiter: str | None) -> _Table | None:
    plain = [name.split("%")[0] for name in names]
    lower = [name.lower() for name in plain]
    if not all(_WORD.fullmatch(name) for name in plain) or len(set(lower)) != len(lower):
        return None
    if not _IDS & set(lower) or not {"start", "end", "state", "nodelist"} & set(lower):
        return None
    return _Table(text, [_NAMES.get(name.lower(), name) for name in plain], delimiter)
