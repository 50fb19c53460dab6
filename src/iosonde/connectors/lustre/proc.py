"""Lustre's /proc and /sys trees, 1.8 to 2.15: a live tree, a copy in a folder, or a tar (gzip or not) of it.

Files moved between versions (``mds/*/stats`` became ``mdt/*/md_stats``, capacity went from obdfilter to
osd-* and to /sys): whichever are there are read. One snapshot is all that lies below one place that holds
``proc`` or ``sys``; several snapshots lie in folders beside each other. A snapshot's time is the earliest
``snapshot_time`` in it (files further than 5 s from it keep their own), else when its files were written.

Counters become what passed between two snapshots [earlier, later). One snapshot has none of that: gauges
(capacity, clients) only, and that is told. Jobs: ``lustre_jobstats``. Nothing is unpacked, no link followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lustre.snapshots import FILES, KINDS, Passed, Snapshot
from iosonde.connectors.many_files import named, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.tar_members import is_tar, members
from iosonde.connectors.walk import MOST_DEPTH
from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text

KIND = "Lustre /proc"
_ROOTS = ("proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre")
_HOLDERS = {"proc", "sys"}
_KINDS = ("obdfilter", "osd-*", "mds", "mdt", "llite")
_PLACE = re.compile(
    rf"^(?P<snapshot>(?:[^\0]{{0,2000}}/)?)(?:{'|'.join(_ROOTS)})/"
    rf"(?P<kind>{KINDS})/(?P<name>[^/]{{1,200}})/(?P<file>{'|'.join(FILES)})$"
)
_TREE = re.compile(rb"(?:^|[/\x00])(?:proc|sys)/(?:fs|kernel/debug)/lustre/")
_MOST_VALUES = 5_000_000
_MOST_BYTES = 64 << 20
"""Largest size read from one file of the tree."""


def recognises(head: Head) -> bool:
    """True for a tar archive that starts with a tree of Lustre."""
    return is_tar(head.data) and _TREE.search(head.data) is not None


def recognises_folder(path: Path) -> bool:
    """True for a folder with such a tree in it or at any depth below it."""
    return path.is_dir() and next(_snapshots_below(path), None) is not None


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of targets and clients, and Jobs. Raises InputFileError: unreadable, no tree, a damaged archive."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks and Jobs of several trees or archives: snapshots of one server, or servers of one file system."""
    found: list[Snapshot] = []

    def tree(path: Path) -> Iterator[Item]:
        yield from ()
        one = _Tree(path, settings, warn)
        try:
            for member in _folder(path, warn) if path.is_dir() else _archived(path, warn):
                one.take(member)
        finally:
            found.extend(one.snapshots.values())
        if not one.snapshots:
            what = f"{path} holds no statistics of Lustre"
            raise InputFileError(what, expected="proc/fs/lustre/obdfilter/*/stats and the like")

    def rest() -> Iterator[Item]:
        passed = Passed(settings.system)
        for snapshot in sorted(found, key=lambda one: one.time_ns()[0]):
            yield from passed.give(snapshot, *snapshot.time_ns())
        yield from passed.rest()
        if passed.alone:
            what = f"{named(paths)} is one snapshot: its counters give no rate; iosonde read the gauges"
            warn(InputFileError(what, expected="two snapshots, for what passed between them"))

    yield from read_each(paths, tree, rest, warn, settings.progress)


def _snapshots_below(path: Path) -> Iterator[Path]:
    """Folders whose ``proc`` or ``sys`` contain Lustre, sorted: the folder, or folders at any depth below it."""
    waiting = [(path, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as entries:
                inner = sorted(
                    entry.name for entry in entries if entry.is_dir(follow_symlinks=False)
                )
        except OSError:
            continue
        if _HOLDERS & set(inner) and any((place / root).is_dir() for root in _ROOTS):
            yield place
        elif depth < MOST_DEPTH:
            below = [name for name in inner if not name.startswith(".")]
            waiting += [(place / name, depth + 1) for name in reversed(below)]


class _File(NamedTuple):
    """A file of a tree."""

    name: str
    modified_ns: int
    data: bytes


def _archived(path: Path, warn: Warn) -> Iterator[_File]:
    for member in members(path, warn, _PLACE):
        if member.size > _MOST_BYTES:
            what = f"{path}, {member.name!r}: {member.size} bytes are too many"
            warn(InputFileError(what, expected=f"at most {_MOST_BYTES} bytes"))
        else:
            yield _File(member.name, int(member.modified_s) * 10**9, member.data)


def _folder(path: Path, warn: Warn) -> Iterator[_File]:
    """Files of a folder, restricted to known names."""
    for place in _snapshots_below(path):
        for root in _ROOTS:
            for kind in _KINDS:
                for name in FILES:
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
                            warn(InputFileError(what, expected="a readable file"))
                            continue
                        yield _File(file.relative_to(path).as_posix(), written, data)


class _Tree:
    """State of reading the snapshots of a tree."""

    def __init__(self, path: Path, settings: Settings, warn: Warn) -> None:
        self.path, self.settings, self.warn = path, settings, warn
        self.snapshots: dict[str, Snapshot] = {}
        self._size = 0

    def take(self, member: _File) -> None:
        """Parse one file of a tree."""
        place = _PLACE.search(member.name)
        if place is None:
            return
        snapshot = self.snapshots.get(place["snapshot"])
        if snapshot is None:
            snapshot = self.snapshots[place["snapshot"]] = Snapshot(self.settings.system)
        snapshot.written_ns = max(snapshot.written_ns, member.modified_ns)
        self._size += 1
        if self._size > _MOST_VALUES:
            raise InputFileError(f"{self.path} has too many files", expected="fewer snapshots")
        # Copies of /sys may be whole pages: what the kernel wrote, then zero bytes (Lustre 2.15).
        lines = member.data.rstrip(b"\0").decode("utf-8", "replace").splitlines()
        snapshot.take(
            place["kind"],
            place["name"],
            place["file"],
            lines,
            lambda number, what: self._complain(member.name, number, what),
        )

    def _complain(self, name: str, place: int, what: str) -> None:
        shown = clean_text(name[-200:])
        self.warn(
            InputFileError(f"{self.path}, {shown}, line {place}: {what}", expected="a counter")
        )
