"""Lustre's /proc and /sys trees, 1.8 to 2.15: a live one, a copy below a folder, or a tar (gzip or not) of it.

Files moved between versions (``mds/*/stats`` became ``mdt/*/md_stats``, capacity went from obdfilter to
osd-* and to /sys): whichever are there are read. One snapshot is all that lies below one place that holds
``proc`` or ``sys``; several snapshots lie in folders beside each other. A snapshot's time is the earliest
``snapshot_time`` in it (files further than 5 s from it keep their own), else when its files were written.

Counters become what passed between two snapshots [earlier, later). One snapshot has none of that: gauges
(capacity, clients) only, and that is told. Jobs: ``lustre_jobstats``. Nothing is unpacked, no link followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.gather import Gather, Series
from iosonde.connectors.lustre.job_stats import JobCounts
from iosonde.connectors.lustre.names import level_of, number, system_of, target
from iosonde.connectors.lustre.stats import JobStats, Stats, job_stats, stats
from iosonde.connectors.source import Head, Item, Settings, Tell
from iosonde.connectors.tar_members import is_tar, members
from iosonde.model.errors import InputFileError

KIND = "Lustre /proc"
SOURCE = "lustre"
_ROOTS = ("proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre")
_KINDS = ("obdfilter", "osd-*", "mds", "mdt", "llite")
_SIZES = ("kbytestotal", "kbytesfree", "kbytesavail", "filestotal", "filesfree", "num_exports")
_FILES = ("stats", "md_stats", "job_stats", *_SIZES)
_PLACE = re.compile(
    rf"^(?P<snapshot>(?:[^\0]{{0,2000}}/)?)(?:{'|'.join(_ROOTS)})/"
    rf"(?P<kind>obdfilter|osd-\w{{1,20}}|mds|mdt|llite)/(?P<name>[^/]{{1,200}})/(?P<file>{'|'.join(_FILES)})$"
)
_TREE = re.compile(rb"(?:^|[/\x00])(?:proc|sys)/(?:fs|kernel/debug)/lustre/")
_NEAR_NS = 5 * 10**9
_MOST_VALUES = 5_000_000
_MOST_FOLDERS = 20_000
_MOST_BYTES = 64 << 20
"""Of one file of the tree."""


def recognises(head: Head) -> bool:
    """A tar archive that begins with a tree of Lustre."""
    return is_tar(head.data) and _TREE.search(head.data) is not None


def recognises_folder(path: Path) -> bool:
    """A folder that holds such a tree, or folders of which one does."""
    return path.is_dir() and next(_snapshots_below(path), None) is not None


def read(path: Path, settings: Settings, tell: Tell) -> Iterator[Item]:
    """Blocks of targets and clients, and Jobs. Raises InputFileError: unreadable, no tree, a broken archive."""
    tree, broken = _Tree(path, settings, tell), None
    files = _folder(path, tell) if path.is_dir() else _archived(path, tell)
    try:
        for member in files:
            tree.take(member)
    except InputFileError as error:
        broken = error
    if not tree.snapshots and broken is None:
        what = f"{path} holds no statistics of Lustre"
        raise InputFileError(what, expected="proc/fs/lustre/obdfilter/*/stats and the like")
    yield from tree.items()
    if broken is not None:
        raise broken


def _snapshots_below(path: Path) -> Iterator[Path]:
    """Places below which ``proc`` or ``sys`` have Lustre in them: the folder, or folders up to two levels down."""
    level, looked = [path], 0
    for _ in range(3):
        below: list[Path] = []
        for place in level:
            if any((place / root).is_dir() for root in _ROOTS):
                yield place
            elif looked < _MOST_FOLDERS:
                try:
                    inner = [
                        p for p in sorted(place.iterdir()) if p.is_dir() and not p.is_symlink()
                    ]
                except OSError:
                    continue
                looked += len(inner)
                below.extend(inner)
        level = below


class _File(NamedTuple):
    """A file of a tree."""

    name: str
    modified_ns: int
    data: bytes


def _archived(path: Path, tell: Tell) -> Iterator[_File]:
    for member in members(path, tell, _PLACE):
        if member.size > _MOST_BYTES:
            what = f"{path}, {member.name!r}: {member.size} bytes are too many"
            tell(InputFileError(what, expected=f"at most {_MOST_BYTES} bytes"))
        else:
            yield _File(member.name, int(member.modified_s) * 10**9, member.data)


def _folder(path: Path, tell: Tell) -> Iterator[_File]:
    """The files of a folder, of which only those that are wanted are looked for."""
    for place in _snapshots_below(path):
        for root in _ROOTS:
            for kind in _KINDS:
                for name in _FILES:
                    for file in sorted((place / root).glob(f"{kind}/*/{name}")):
                        if file.is_symlink() or not file.is_file():
                            continue
                        try:
                            with file.open("rb") as opened:
                                data = opened.read(_MOST_BYTES)
                            written = file.stat().st_mtime_ns
                        except OSError as error:
                            reason = error.strerror or str(error)
                            what = f"cannot read {file}: {reason}"
                            tell(InputFileError(what, expected="a readable file"))
                            continue
                        yield _File(file.relative_to(path).as_posix(), written, data)


class _Counted(NamedTuple):
    """Counters in one snapshot; the metric of ``series`` is not used."""

    series: Series
    stats: Stats


class _Snapshot:
    """One tree."""

    def __init__(self) -> None:
        self.written_ns = 0
        self.counted: dict[tuple[str, str, str], _Counted] = {}
        self.sizes: dict[str, dict[str, float]] = {}
        self.jobs: list[JobStats] = []
        self.listed: set[str] = set()
        """Targets whose job_stats were read."""

    def time_ns(self) -> tuple[int, bool]:
        """When it was taken, and whether it says so itself."""
        known = [c.stats.time_ns for c in self.counted.values() if c.stats.time_ns is not None]
        known += [job.time_ns for job in self.jobs if job.time_ns is not None and not known]
        return (min(known), True) if known else (self.written_ns, False)


class _Tree:
    """Snapshots while they are read."""

    def __init__(self, path: Path, settings: Settings, tell: Tell) -> None:
        self.path, self.settings, self.tell = path, settings, tell
        self.snapshots: dict[str, _Snapshot] = {}
        self._size = 0

    def take(self, member: _File) -> None:
        """One file of a tree."""
        place = _PLACE.search(member.name)
        if place is None:
            return
        snapshot = self.snapshots.setdefault(place["snapshot"], _Snapshot())
        snapshot.written_ns = max(snapshot.written_ns, member.modified_ns)
        self._size += 1
        if self._size > _MOST_VALUES:
            raise InputFileError(f"{self.path} has too many files", expected="fewer snapshots")
        kind, file, name = place["kind"], place["file"], target(place["name"])
        text = member.data.decode("utf-8", "replace")
        if kind == "llite" and file == "stats":
            system = place["name"].rpartition("-")[0] or self.settings.system
            series = Series(system, "client", "", place["name"][:128])
            counted = _Counted(series, self._stats(member, text))
            snapshot.counted.setdefault((kind, place["name"], file), counted)
        elif kind == "llite" or name is None:
            return
        elif file in _SIZES:
            value = number(text.strip())
            if value is None:
                self._complain(member.name, 1, "no number")
            else:
                snapshot.sizes.setdefault(name, {}).setdefault(file, value)
        elif file == "job_stats":
            found = job_stats(
                text.splitlines(), name, lambda n, w: self._complain(member.name, n, w)
            )
            snapshot.jobs.extend(found)
            snapshot.listed.add(name)
        elif kind in ("obdfilter", "mds", "mdt"):
            counted = _Counted(self._of(name), self._stats(member, text))
            snapshot.counted.setdefault((kind, name, file), counted)

    def _stats(self, member: _File, text: str) -> Stats:
        """One stats file."""
        return stats(text.splitlines(), lambda n, what: self._complain(member.name, n, what))

    def _complain(self, name: str, place: int, what: str) -> None:
        shown = "".join(c if c.isprintable() else "?" for c in name[-200:])
        self.tell(
            InputFileError(f"{self.path}, {shown}, line {place}: {what}", expected="a counter")
        )

    def items(self) -> Iterator[Item]:
        """What is known of targets, clients and jobs."""
        dated = [(snapshot.time_ns(), snapshot) for snapshot in self.snapshots.values()]
        dated.sort(key=lambda pair: pair[0][0])
        gather, jobs = Gather(SOURCE), JobCounts(self.settings.system)
        if not all(stated for (_, stated), _ in dated):
            gather.note("estimated", "times are when the files were written")
        for (time_ns, _), snapshot in dated:
            for counted in snapshot.counted.values():
                if again := len(counted.stats.twice):
                    gather.note("duplicate", "counters that a file has twice", again)
                own = counted.stats.time_ns
                when = own if own is not None and abs(own - time_ns) > _NEAR_NS else time_ns
                for metric, value in counted.stats.counters.items():
                    gather.reading(counted.series._replace(metric=metric), when, value)
            for name, sizes in snapshot.sizes.items():
                for metric, value in _capacity(sizes):
                    gather.reading(self._of(name)._replace(metric=metric), time_ns, value)
            if snapshot.listed:
                jobs.add(snapshot.jobs, time_ns, snapshot.listed)
            if gather.full:
                yield from gather.blocks()
        yield from gather.rest()
        yield from jobs.items()
        if len({time_ns for (time_ns, _), _ in dated}) == 1:
            what = f"{self.path} is one snapshot: its counters say nothing, gauges were read"
            self.tell(InputFileError(what, expected="two snapshots, for what passed between them"))

    def _of(self, name: str) -> Series:
        """A target, without a metric."""
        return Series(system_of(name) or self.settings.system, level_of(name), "", name)


def _capacity(sizes: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Room and clients of a target."""
    if "num_exports" in sizes:
        yield "clients", sizes["num_exports"]
    for total, free, what, factor in (
        ("kbytestotal", "kbytesfree", "bytes", 1024.0),
        ("filestotal", "filesfree", "inodes", 1.0),
    ):
        if total in sizes and free in sizes and sizes[free] <= sizes[total]:
            yield f"total_{what}", sizes[total] * factor
            yield f"used_{what}", (sizes[total] - sizes[free]) * factor
    if "kbytesavail" in sizes:
        yield "available_bytes", sizes["kbytesavail"] * 1024.0
