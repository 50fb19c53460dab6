"""Segments: of the spool, sealed, rolled up, and merged by the day.

A segment has the same stem in all places, which is how a reader takes each row once. A file that many segments of a day
were merged into names their stems in its footer: where it is listed, they are not.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.folders import files_in, folders_in
from iosonde.engine.layout.merged import covered, is_merged

_LISTINGS = 50
_QUIET_S = 120.0
"""So long after a folder's last change it does not change while it is listed; clocks of servers differ."""


class Segment(NamedTuple):
    """One spool segment or the Parquet file made from it."""

    host: str
    stem: str
    path: Path


def spool_segments(root: Path) -> list[Segment]:
    """Spool segments, oldest name first. A missing folder is an empty store."""
    found = [
        Segment(folder.name, path.stem, path)
        for folder in folders_in(root / "spool")
        for path in files_in(folder, ".spool")
    ]
    return sorted(found)


def parquet_segments(
    root: Path, since_date: str | None = None, host: str | None = None
) -> list[Segment]:
    """Sealed segments of partitions from ``since_date`` (YYYY-MM-DD, UTC) on; of the folder ``host`` only."""
    return _partitioned(root / "samples", since_date, host)


def rollup_segments(
    root: Path, since_date: str | None = None, host: str | None = None
) -> list[Segment]:
    """Roll-ups of sealed segments, likewise."""
    return _partitioned(root / "rollups", since_date, host)


def every_sealed(root: Path) -> list[Segment]:
    """Files of samples, also those whose rows are in a merged one too."""
    return _partitioned(root / "samples", None, hidden=True)


def every_rollup(root: Path) -> list[Segment]:
    """Files of roll-ups, also those whose intervals are in a merged one too."""
    return _partitioned(root / "rollups", None, hidden=True)


def rollup_path(root: Path, sealed: Path) -> Path:
    """Where a sealed segment is rolled up to."""
    return root / "rollups" / sealed.relative_to(root / "samples")


def sealed_path(root: Path, rolled_up: Path) -> Path:
    """The sealed segment that a roll-up was made of."""
    return root / "samples" / rolled_up.relative_to(root / "rollups")


def parquet_path(root: Path, host: str, stem: str, opened_ns: int) -> Path:
    """Where the segment that was opened at ``opened_ns`` is sealed to."""
    return root / "samples" / f"date={utc_date(opened_ns)}" / f"host={host}" / f"{stem}.parquet"


def segment_stems(segment: Segment) -> frozenset[str]:
    """The segments whose rows a file holds: itself, or those that were merged into it."""
    if is_merged(segment.stem):
        return frozenset(one for one in covered(segment.path) if not is_merged(one))
    return frozenset((segment.stem,))


def segment_keys(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """Host and stem of every segment whose rows these files hold."""
    return {(segment.host, stem) for segment in segments for stem in segment_stems(segment)}


def _once(found: list[Segment]) -> list[Segment]:
    """The files of one folder without those whose rows are in a merged one."""
    hidden = {stem for one in found if is_merged(one.stem) for stem in covered(one.path)}
    return [one for one in found if one.stem not in hidden]


def _settled(folder: Path) -> list[Path]:
    """The Parquet files of a folder as they were at one instant.

    A listing that runs while files are merged may miss the new file and the old ones. Files appear and go, and none
    comes back: two listings that agree were true between them. A folder that has long not changed needs one.
    """
    files = files_in(folder, ".parquet")
    for _ in range(_LISTINGS):
        try:
            if time.time() - folder.stat().st_mtime - _QUIET_S >= 0:
                return files
        except OSError:
            return files
        again = files_in(folder, ".parquet")
        if sorted(again) == sorted(files):
            return files
        files = again
    return files


def _partitioned(
    table: Path, since_date: str | None, host: str | None = None, *, hidden: bool = False
) -> list[Segment]:
    found = []
    for day in folders_in(table):
        name, _, value = day.name.partition("=")
        if name != "date" or (since_date is not None and value < since_date):
            continue
        for folder in folders_in(day) if host is None else [day / f"host={host}"]:
            if folder.name.startswith("host="):
                name = folder.name[len("host=") :]
                files = [Segment(name, path.stem, path) for path in _settled(folder)]
                found += files if hidden else _once(files)
    return sorted(found, key=lambda segment: str(segment.path))
