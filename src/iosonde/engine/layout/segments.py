"""Segment files: of the spool, sealed, rolled up, and merged by the day.

A segment has the same stem in all places, which is how a reader takes each row once. A file that many segments of a day
were merged into names them in its footer: ``engine.layout.contents`` says which files of a folder then count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from iosonde.engine.layout.contents import Contents, contents_of, holders, shared
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.folders import files_in, folders_in
from iosonde.engine.layout.merged import covered, is_merged

E = TypeVar("E")

_LISTINGS = 50
_QUIET_NS = 120_000_000_000
"""Time after a folder's last change after which a listing is stable; clocks of servers differ."""


class Segment(NamedTuple):
    """A spool segment or the Parquet file made from it."""

    host: str
    stem: str
    path: Path


def spool_segments(root: Path) -> list[Segment]:
    """Spool segments by name, oldest first. A missing folder is an empty store."""
    found = [
        Segment(folder.name, path.stem, path)
        for folder in folders_in(root / "spool")
        for path in files_in(folder, ".spool")
    ]
    return sorted(found)


def parquet_segments(
    root: Path,
    since_date: str | None = None,
    host: str | None = None,
    without: Collection[Path] = (),
) -> list[Segment]:
    """Files of samples that count, in partitions from ``since_date`` (YYYY-MM-DD, UTC) on; only of ``host``'s folder.

    ``without``: files that cannot be read; what else holds their rows counts instead.
    """
    return _counted(_partitioned(root / "samples", since_date, host), without)


def rollup_segments(
    root: Path,
    since_date: str | None = None,
    host: str | None = None,
    without: Collection[Path] = (),
) -> list[Segment]:
    """Roll-ups of sealed segments that count, with the same filters."""
    return _counted(_partitioned(root / "rollups", since_date, host), without)


def every_sealed(root: Path) -> list[Segment]:
    """All files of samples, with those that a merge supersedes."""
    return sorted(_of_all(_partitioned(root / "samples", None)), key=_by_path)


def every_rollup(root: Path) -> list[Segment]:
    """All files of roll-ups, with those that a merge supersedes."""
    return sorted(_of_all(_partitioned(root / "rollups", None)), key=_by_path)


def rollup_path(root: Path, sealed: Path) -> Path:
    """Path of the roll-up of a sealed segment."""
    return root / "rollups" / sealed.relative_to(root / "samples")


def sealed_path(root: Path, rolled_up: Path) -> Path:
    """Path of the sealed segment of a roll-up."""
    return root / "samples" / rolled_up.relative_to(root / "rollups")


def parquet_path(root: Path, host: str, stem: str, opened_ns: int) -> Path:
    """Path of the sealed file of a segment that was opened at ``opened_ns``."""
    return root / "samples" / f"date={utc_date(opened_ns)}" / f"host={host}" / f"{stem}.parquet"


def contents(path: Path) -> Contents:
    """The segments whose rows a file holds, by its name and footer."""
    return contents_of(path.stem, covered(path) if is_merged(path.stem) else ())


def segment_stems(segment: Segment) -> frozenset[str]:
    """Segments whose rows a file holds: itself, or those merged into it."""
    return contents(segment.path).segments


def host_stems(segment: Segment) -> frozenset[tuple[str, str]]:
    """Segments of a file, each with its host."""
    return frozenset((segment.host, stem) for stem in segment_stems(segment))


def segment_keys(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """Host and stem of every segment whose rows these files hold."""
    return {key for segment in segments for key in host_stems(segment)}


def sharing(paths: Sequence[Path]) -> set[Path]:
    """Files of samples, or of roll-ups, that share a segment with another of them."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    return {
        path
        for of_one in folders.values()
        if len(of_one) > 1 and any(is_merged(path.stem) for path in of_one)
        for path in shared({path: contents(path).segments for path in of_one})
    }


def _counted(folders: Iterable[list[Segment]], without: Collection[Path]) -> list[Segment]:
    """Files without those that another in their folder supersedes."""
    found = []
    for files in folders:
        readable = [one for one in files if one.path not in without]
        hidden: Collection[str] = ()
        if any(is_merged(one.stem) for one in readable):
            hidden = holders(contents(one.path) for one in readable)
        found += [one for one in readable if one.stem not in hidden]
    return sorted(found, key=_by_path)


def _of_all(folders: Iterable[list[Segment]]) -> list[Segment]:
    return [one for files in folders for one in files]


def _by_path(segment: Segment) -> str:
    return str(segment.path)


def settled(
    listing: Callable[[], list[E]], changed_ns: Callable[[], int | None], now_ns: int
) -> list[E]:
    """Consistent listing of a folder, as of one instant.

    A listing that runs while files are merged may miss the new file and the old ones. Files appear and go, and none
    comes back: two listings that agree were true between them. A folder that has long not changed, and did not
    meanwhile, needs one.
    """
    before = changed_ns()
    found = listing()
    if before is not None and now_ns - before >= _QUIET_NS and changed_ns() == before:
        return found
    for _ in range(_LISTINGS):
        again = listing()
        if set(again) == set(found):
            return found
        found = again
    return found


def _changed_ns(folder: Path) -> int | None:
    """Time of a folder's last change; None if unknown."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _files(folder: Path) -> list[Path]:
    return settled(
        lambda: files_in(folder, ".parquet"), lambda: _changed_ns(folder), time.time_ns()
    )


def _partitioned(
    table: Path, since_date: str | None, host: str | None = None
) -> Iterator[list[Segment]]:
    """The files of each folder of a table."""
    for day in folders_in(table):
        name, _, value = day.name.partition("=")
        if name != "date" or (since_date is not None and value < since_date):
            continue
        for folder in folders_in(day) if host is None else [day / f"host={host}"]:
            if folder.name.startswith("host="):
                name = folder.name[len("host=") :]
                yield [Segment(name, path.stem, path) for path in _files(folder)]
