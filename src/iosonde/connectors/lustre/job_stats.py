"""Lustre's job_stats: counters of each OST and MDT per job, as ``lctl get_param *.job_stats`` prints them.

Several snapshots in one file: each begins with ``BEGIN <epoch>``, or with a target that was there before.
Two snapshots give what each job did between them (level "job"): a target that lists a job in the second
only counts from zero, as its entry is younger than the first. An entry that fell back or is gone (Lustre
drops idle ones) or a target that is missing in one of the two makes the job's step missing. A ``Job`` is
made of the last snapshot that lists it: all it did since its entries began. The time of a snapshot without
BEGIN is the youngest time in it, as entries tell when they last changed and not when they were read.
Lists that name no target are told apart by what they say (``unnamed_targets``).

A job's name is of the site's making: ``job_names`` finds the id in it. Text only, read line by line; no YAML library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from iosonde.connectors.lines import Line, bad, read_lines
from iosonde.connectors.lustre.job_counts import JobCounts
from iosonde.connectors.lustre.stats import job_stats
from iosonde.connectors.lustre.unnamed_targets import UnnamedList, named_by, snapshots
from iosonde.connectors.many_files import named, of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note

KIND = "Lustre job_stats"
_TARGET = re.compile(r"(?:obdfilter|mdt)\.([^=\s]{1,200})\.job_stats=.*")


def recognises(head: Head) -> bool:
    """True with a line ``job_stats:`` (alone, or after a target) among the first, preceded only by BEGIN."""
    clock = WallTimes(None)
    for line in head.lines[:20]:
        text = line.strip()
        if text == "job_stats:" or _TARGET.fullmatch(text):
            return True
        if text and stamp_of(text, clock) is None:
            return False
    return False


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of level "job" and one Job each. Raises InputFileError: unreadable or broken packed data."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks and Jobs of several files: snapshots of one server, or servers of one file system."""
    counts = JobCounts(settings.system)
    unnamed: list[UnnamedList] = []
    within = of_one(paths, settings.progress)

    def one(path: Path) -> Iterator[Item]:
        yield from ()
        _File(path, counts, settings, warn).read(unnamed, within)

    def rest() -> Iterator[Item]:
        targets = set[str]()
        for target, found in snapshots(unnamed):
            targets.add(target)
            counts.add(found.entries, found.when, {target})
        if len(targets) > 1:
            what = f"lists that name no target are of {len(targets)}, by their times and counters"
            counts.stated += (Note("estimated", what),)
        yield from counts.items()
        if counts.alone and counts.instants:
            what = f"{named(paths)} is one snapshot: no rate follows"
            warn(InputFileError(what, expected="two snapshots, for what each job did between them"))

    yield from read_each(paths, one, rest, warn, settings.progress)


class _File:
    """The snapshots of one file."""

    def __init__(self, path: Path, counts: JobCounts, settings: Settings, warn: Warn) -> None:
        self._path, self._counts, self._warn = path, counts, warn
        self._clock = WallTimes(settings.zone, ascending=True)
        self._unnamed: list[UnnamedList] = []
        self._lines: list[str] = []
        self._first = 1
        self._seen: set[str] = set()
        self._when: int | None = None
        self._named = False

    def read(self, unnamed: list[UnnamedList], progress: Callable[[int, int], None] | None) -> None:
        """Read the file; lists that name no target go into ``unnamed``. Raises InputFileError after the good part."""
        try:
            for line in read_lines(self._path, self._warn, progress):
                self._take(line)
        finally:
            self._give()
            self._counts.stated += self._clock.notes()
            name = named_by(self._path)
            for found in self._unnamed if name else ():
                entries = [entry._replace(target=name) for entry in found.entries]
                self._counts.add(entries, found.when, {name})
            if not name:
                unnamed += self._unnamed

    def _take(self, line: Line) -> None:
        """Parse one line: a time, a target, the title of a list, or a line of one."""
        stamp, begun = stamp_of(line.text, self._clock), _TARGET.fullmatch(line.text)
        titled = line.text.strip() == "job_stats:"
        if stamp is not None:
            self._give()
            self._seen, self._when, self._first = set(), stamp, line.number + 1
            return
        if begun:
            if not self._named or begun[1] in self._seen:
                self._give()
                self._first = line.number
                if begun[1] in self._seen:
                    self._seen, self._when = set(), None
            self._named = True
            self._seen.add(begun[1])
        elif titled and not (self._named and self._lines and _TARGET.fullmatch(self._lines[-1])):
            self._give()
            self._first = line.number
        self._lines.append(line.text)

    def _give(self) -> None:
        """Emit a finished list, or all lists of a snapshot."""
        lines, self._lines, named, self._named = self._lines, [], self._named, False
        if not any(lines):
            return
        entries = list(job_stats(lines, "", self._complain))
        if named:
            self._counts.add(entries, self._when, self._seen)
        else:
            self._unnamed.append(UnnamedList(entries, self._when))

    def _complain(self, number: int, what: str) -> None:
        self._warn(bad(self._path, self._first + number - 1, what, "job_stats"))
