"""Operations of jobs on a node, from their control groups or processes: a log of ``grep -H . FILES`` with times.

::

    1790000000.25
    /sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/io.stat:8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0
    /sys/fs/cgroup/blkio/slurm/uid_1000/job_4711/blkio.throttle.io_serviced:8:0 Read 12
    /sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0/cgroup.procs:812
    /proc/812/io:syscr: 5120
    /proc/812/files:41

``deploy/record-jobs`` writes it, with the lines of ``client.mounts``. The system of block operations is the mount point
of their device, else its number; they miss what a cache or a network file system did. Calls of processes (``syscr``,
``syscw``) do not, but count pipes, too, and miss what a process did after its last record. Their system is the one on
which the process had files open (``files``; where it had none, ``stdio``), else the only one of its job, else unknown.
A group or process that is new began since the last record: it counts from zero. The job is the number of
``job_4711``, else the name of the group. Sources: Linux, Documentation/admin-guide/cgroup-v2.rst,
cgroup-v1/blkio-controller.rst, proc_pid_io(5).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.client.mounts import LINE, Mounts
from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.client.open_files import OpenFiles
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "control groups"
_GROUP = re.compile(r"(/\S*)/(io\.stat|blkio\.throttle\.io_serviced(?:_recursive)?):(.*)")
_MEMBER = re.compile(r"(/\S*)/cgroup\.procs:(\d{1,10})\s*")
_PROCESS = re.compile(r"/proc/(\d{1,10})/(io|cgroup|files|stdio):(.*)")
_DEVICE = re.compile(r"(\d{1,6}:\d{1,9})\s+(.*)")
_JOB = re.compile(r"(/.*?/job_(\d{1,15}))(/.*)?$")
_STAT = {"rios": "read_ops", "wios": "write_ops", "rbytes": "read_bytes", "wbytes": "written_bytes"}
_THROTTLE = {"Read": "read_ops", "Write": "write_ops"}
_CALLS = {
    "syscr": "read_ops",
    "syscw": "write_ops",
    "rchar": "read_bytes",
    "wchar": "written_bytes",
}
_MOST = 2_000_000
_ENDINGS = (".scope", ".service", ".slice")

Counter = tuple[str, str, str]
"""Source, owner (a group with a device, or a process) and metric."""


def recognises(head: Head) -> bool:
    """True if the first lines are counters of groups or processes, and times."""
    clock = WallTimes(None)
    lines = [line for line in islice(head.lines, 20) if line.strip()]
    shapes = (_GROUP, _MEMBER, _PROCESS, LINE)
    found = [line for line in lines if any(shape.fullmatch(line) for shape in shapes)]
    return bool(found) and all(
        line in found or stamp_of(line, clock) is not None or line.startswith("#")
        for line in lines[:-1]
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments of each job between records. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments from several files, each of a node. Component: ``JOB@NODE``."""
    gathers = {source: Gather(source) for source in ("cgroup", "processes")}

    def one(path: Path) -> Iterator[Item]:
        log = _Log(path, settings, gathers)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            try:
                log.take(line.text.strip(), line.ended)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "counters of a group or process"))
            for gather in gathers.values():
                if gather.full:
                    yield from gather.blocks()
        log.ended()
        if log.records < 2:
            what = f"{path}: one record only: no rate follows"
            warn(InputFileError(what, expected="two records or more, each behind its time"))

    def rest() -> Iterator[Item]:
        for gather in gathers.values():
            yield from gather.rest()

    yield from read_each(paths, one, rest, warn, settings.progress)


class _Log:
    """Records of one node, in the order of time."""

    def __init__(self, path: Path, settings: Settings, gathers: dict[str, Gather]) -> None:
        self._node = node_of(path, settings)
        self._system, self._gathers = settings.system, gathers
        self._clock = WallTimes(settings.zone, ascending=True)
        self._at: int | None = None
        self._before: int | None = None
        self._now: dict[Counter, int] = {}
        self._was: dict[Counter, int] = {}
        self._job_of: dict[str, str] = {}
        self._mounts = Mounts()
        self._device_of: dict[str, str] = {}
        self._files = OpenFiles(self._mounts)
        self._bad: set[str] = set()
        self._doubt: set[str] = set()
        """Owners with a bad line in the record before: what is not in it is not new."""
        self.records = 0

    def take(self, text: str, whole: bool) -> None:
        """Parse one line. Raises ValueError for a malformed counter, which is then missing in this record."""
        stamp = stamp_of(text, self._clock)
        if stamp is not None:
            self.ended()
            self._at = stamp
        elif text and not text.startswith("#"):
            if not whole:
                raise ValueError("the line is cut")
            if self._at is None:
                raise ValueError("counters before the first time")
            self._counters(text)

    def _counters(self, text: str) -> None:
        if self._mounts.take(text):
            return
        if match := _MEMBER.fullmatch(text):
            self._job_of[match[2]] = _job_of_group(match[1])
        elif match := _PROCESS.fullmatch(text):
            self._process(match[1], match[2], match[3].strip())
        elif match := _GROUP.fullmatch(text):
            self._group(match[1], match[2], match[3].strip())
        else:
            raise ValueError(f"the line is {shown(text)}")

    def _process(self, process: str, kind: str, text: str) -> None:
        if kind == "cgroup":
            name = _job_of_group(text.split(":", 2)[-1])
            known = self._job_of.get(process, "")
            if not known or not known.isdigit():  # of several hierarchies the one that names a job
                self._job_of[process] = name
            return
        if kind != "io":
            self._files.take(process, kind, text)
            return
        name, _, number = text.partition(":")
        if name in _CALLS:
            self._put(("processes", process, _CALLS[name]), number.strip())

    def _group(self, group: str, kind: str, text: str) -> None:
        match = _DEVICE.fullmatch(text)
        if match is None:
            if text and not text.startswith("Total"):
                raise ValueError(f"{kind} has {shown(text)}")
            return
        job = _JOB.fullmatch(group)
        whole = kind != "blkio.throttle.io_serviced"
        if job and job[3] and whole:
            return  # part of the job's own group
        owner = f"{group} {match[1]}"
        self._job_of[owner], self._device_of[owner] = _job_of_group(group), match[1]
        if kind == "io.stat":
            for word in match[2].split():
                name, _, number = word.partition("=")
                if name in _STAT:
                    self._put(("cgroup", owner, _STAT[name]), number)
        else:
            name, _, number = match[2].partition(" ")
            if name in _THROTTLE:
                self._put(("cgroup", owner, _THROTTLE[name]), number)

    def _put(self, counter: Counter, text: str) -> None:
        value = count(text)
        if value is None:
            self._bad.add(counter[1])
            raise ValueError(f"{shown(text)} is no count")
        if len(self._now) < _MOST:
            self._now[counter] = value

    def ended(self) -> None:
        """Finish a record: add the increments since the one before to the jobs."""
        if self._at is None:
            return
        before, at, now, was = self._before, self._at, self._now, self._was
        self._before, self._at, self._was, self._now = at, None, now, {}
        jobs, self._job_of = self._job_of, {}
        of_process = {who: job for who, job in jobs.items() if who not in self._device_of}
        placed = self._files.placed(of_process)
        bad, self._bad = self._bad, set()
        doubt, self._doubt = self._doubt, bad
        self.records += 1
        if before is None or at <= before:
            return
        sums: dict[tuple[str, str, str, str], float] = defaultdict(float)
        for counter, value in now.items():
            source, owner, metric = counter
            job = jobs.get(owner)
            if job and owner not in bad and (owner not in doubt or counter in was):
                last = was.get(counter, 0)
                since = value - last if value >= last else value
                sums[source, metric, job, self._place(owner, placed)] += since
        for source, metric, job, _ in [*sums] if not self._system else ():
            for other in self._files.of_job[job] if source == "processes" else ():
                sums[source, metric, job, other] += 0.0  # a job that did nothing there is no gap
        for (source, metric, job, place), amount in sums.items():
            name = f"{job}@{self._node}" if self._node else job
            series = ComponentSeries(place, "job", metric, name)
            self._gathers[source].amount(series, before, at - before, amount)

    def _place(self, owner: str, placed: Mapping[str, str]) -> str:
        """The file system of an owner's operations; "": nothing says it."""
        if self._system:
            return self._system
        device = self._device_of.get(owner)
        return self._mounts.of_device(device) if device else placed.get(owner, "")


def _job_of_group(group: str) -> str:
    """Extract ``4711`` from ``/slurm/uid_1000/job_4711/step_0``; else the last name, without systemd's suffix."""
    if match := _JOB.fullmatch(group):
        return match[2]
    name = group.rstrip("/").rpartition("/")[2]
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name[:255]
