"""Retention of a store of many hosts: samples are removed first, their roll-ups later.

An agent drops its own host's samples (``[keep]``, docs/store.md). A store that hosts ship to, or hosts that are gone,
need somebody else: this. A file goes only where all of this holds:

::

    its name is that of a segment, in date=<date>/host=<host>/, through no symbolic link
    it carries the checksum that iosonde signs with: nobody else wrote it
    its day is older than asked for, by the earlier of this machine's clock and two days after the newest day
    for samples: their roll-up is there and whole, or has just been made
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from iosonde.engine import checksum, reader
from iosonde.engine.connections import connect
from iosonde.engine.layout.contents import rank
from iosonde.engine.layout.dates import begin_of, utc_date
from iosonde.engine.layout.merged import is_segment
from iosonde.engine.layout.segments import (
    Segment,
    contents,
    every_rollup,
    every_sealed,
    parquet_segments,
    rollup_path,
    sharing,
)
from iosonde.model.units import DAY_NS
from iosonde.weather.rollups.rollups import roll_up
from iosonde.weather.upkeep.compact import alone

_AHEAD_NS = 2 * DAY_NS


class Removed(NamedTuple):
    """A file removed, or to be removed."""

    path: Path
    table: str
    """``samples`` or ``rollups``."""
    size_bytes: int


def retain(
    root: Path,
    now_ns: int,
    *,
    samples_ns: int | None,
    rollups_ns: int | None,
    dry: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Removed]:
    """Remove samples and roll-ups of days that ended longer ago; None: keep them.

    ``dry``: only list them. ``tell``: what stays though it is old, and why. Raises StoreError.
    """
    with alone(root):
        found = []
        now_ns = min(now_ns, _newest_ns(root, now_ns) + _AHEAD_NS)
        for table, keep_ns, listed in (
            ("samples", samples_ns, every_sealed),
            ("rollups", rollups_ns, every_rollup),
        ):
            if keep_ns is None:
                continue
            before = utc_date(now_ns - keep_ns - DAY_NS)
            old = [one for one in listed(root) if _date(one) < before and _ours(one, tell)]
            counted = {one.path for one in parquet_segments(root)} if table == "samples" else set()
            several = sharing(sorted(counted))
            for segment in sorted(old, key=_held_first):
                if segment.path in several:
                    tell(f"{segment.path} stays: another file holds a part of its rows; merge them")
                    continue
                if segment.path in counted and not dry and not _rolled_up(root, segment, tell):
                    continue
                found.append(Removed(segment.path, table, segment.path.stat().st_size))
                if not dry:
                    _remove(segment.path)
        return found


def _held_first(segment: Segment) -> tuple[str, tuple[int, int, str]]:
    """Sort key by folder; superseded files before their successor, so that they never count again."""
    return str(segment.path.parent), rank(contents(segment.path))


def _date(segment: Segment) -> str:
    return segment.path.parent.parent.name.removeprefix("date=")


def _newest_ns(root: Path, now_ns: int) -> int:
    """End of the newest day with samples: a clock that is years ahead removes nothing."""
    newest = max((_date(one) for one in every_sealed(root)), default=None)
    return now_ns if newest is None else begin_of(newest) + DAY_NS


def _ours(segment: Segment, tell: Callable[[str], None]) -> bool:
    """True for a file that iosonde wrote, without a link on its path."""
    path = segment.path
    if not is_segment(segment.stem):
        return False
    if any(one.is_symlink() for one in (path, *list(path.parents)[:3])):
        tell(f"{path} stays: a symbolic link leads to it")
        return False
    with contextlib.suppress(OSError):
        if checksum.is_signed(path):
            return True
    tell(f"{path} stays: it does not carry iosonde's checksum")
    return False


def _rolled_up(root: Path, segment: Segment, tell: Callable[[str], None]) -> bool:
    """True if the roll-up of a counting file's samples is on disk."""
    rolled = rollup_path(root, segment.path)
    with contextlib.suppress(OSError):
        if rolled.exists() and not checksum.wrong(rolled):
            return True
        with contextlib.closing(connect()) as con:
            if reader.sound_segments(con, [segment]):
                roll_up(con, root, segment.path)
        if rolled.exists() and not checksum.wrong(rolled):
            return True
    tell(f"{segment.path} stays: its roll-up cannot be made")
    return False


def _remove(path: Path) -> None:
    """Remove a file, and then empty folders."""
    path.unlink(missing_ok=True)
    for folder in list(path.parents)[:2]:
        with contextlib.suppress(OSError):
            folder.rmdir()
