"""Lustre's job_stats: what each OST and MDT counted for each job, as ``lctl get_param *.job_stats`` prints it.

Several snapshots in one file: each begins with ``BEGIN <epoch>``, or with a target that was there before.
Two snapshots give what each job did between them (level "job"): a target that lists a job in the second
only counts from zero, as its entry is younger than the first. An entry that fell back or is gone (Lustre
drops idle ones) or a target that is missing in one of the two makes the job's step missing. A ``Job`` is
made of the last snapshot that lists it: all it did since its entries began. The time of a snapshot without
BEGIN is the youngest time in it, as entries tell when they last changed and not when they were read.

A job's name is of the site's making (``4711``, ``4711:user:host``, ``cp.1000``): leading digits up to a
sign that ends them are the job's id, else the whole name is. Text only, read line by line; no YAML library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from iosonde.connectors.lines import bad, read_lines
from iosonde.connectors.lustre.job_counts import JobCounts
from iosonde.connectors.lustre.stats import job_stats
from iosonde.connectors.many_files import named, of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "Lustre job_stats"
_TARGET = re.compile(r"(?:obdfilter|mdt)\.([^=\s]{1,200})\.job_stats=.*")


def recognises(head: Head) -> bool:
    """A line ``job_stats:`` (alone, or behind a target) among the first, and nothing before it but BEGIN."""
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
    """The same of several files: snapshots of one server, or servers of one file system."""
    counts = JobCounts(settings.system)

    def one(path: Path) -> Iterator[Item]:
        yield from ()
        _count(path, counts, settings, warn, of_one(paths, settings.progress))

    def rest() -> Iterator[Item]:
        yield from counts.items()
        if counts.alone and counts.instants:
            what = f"{named(paths)} is one snapshot: what happened between two is not known"
            warn(InputFileError(what, expected="two snapshots, for what each job did between them"))

    yield from read_each(paths, one, rest, warn, settings.progress)


def _count(
    path: Path,
    counts: JobCounts,
    settings: Settings,
    warn: Warn,
    progress: Callable[[int, int], None] | None,
) -> None:
    """The snapshots of one file. Raises InputFileError; what came before counts."""
    chunk: list[str] = []
    first, seen, when = 1, set[str](), None
    clock = WallTimes(settings.zone, ascending=True)

    def take() -> None:
        entries = job_stats(
            chunk, "", lambda n, what: warn(bad(path, first + n - 1, what, "job_stats"))
        )
        counts.add(list(entries), when, seen)

    try:
        for line in read_lines(path, warn, progress):
            stamp, begun = stamp_of(line.text, clock), _TARGET.fullmatch(line.text)
            begins = stamp is not None
            if begins or (begun and begun[1] in seen):
                take()
                chunk, first = [], line.number + bool(begins)
                seen, when = set(), stamp
            if begun:
                seen.add(begun[1])
            if not begins:
                chunk.append(line.text)
    finally:
        take()
        counts.stated += clock.notes()
