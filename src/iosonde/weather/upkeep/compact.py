"""Compaction: the sealed segments of a host's day become one file, and no reader notices.

::

    samples/date=D/host=H/{a,b,c}.parquet
      1  write .draft -> fsync -> rename to <digest of a,b,c>-0000000003.parquet, whose footer names a, b, c
         from here on readers that list it leave a, b and c out (``engine.layout``)
      2  the same for roll-ups
      3  once the merged file is older than ``grace``: check its bytes, remove a, b, c, then their roll-ups

Dying anywhere is harmless: before the rename nothing has changed, after it the old files are not counted, and the next
run removes them. The name follows from what is merged, so that two runs make the same file. A lock keeps two of them
apart. A segment that arrives again after it was merged (a late shipment) is left out by readers, and removed.

``grace`` is for readers whose listing of a folder is old: NFS keeps one for up to a minute.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from iosonde.engine import checksum, reader
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_ORDER, SAMPLE_TYPES
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.merged import is_merged, is_segment, merged_stem
from iosonde.engine.layout.segments import Segment, parquet_segments, rollup_path, segment_stems
from iosonde.engine.opener import lock_file
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.model.errors import StoreError
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.rollups.rollups import roll_up

GRACE_NS = 600_000_000_000
FEW = 2
"""Fewer files of a day that is over are not merged."""
MANY = 32
"""From so many files on the day that goes on is merged, too."""
_OVER_NS = 2 * HOUR_NS
"""So long after midnight a segment that was opened before it is sealed."""


@dataclass
class Compacted:
    """What a run did. ``removed``: files whose rows are in a merged one; ``told``: what was not, and why."""

    made: list[Path] = field(default_factory=list)
    merged: int = 0
    removed: list[Path] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def compact(
    root: Path,
    now_ns: int,
    *,
    grace_ns: int = GRACE_NS,
    progress: Callable[[int, int], None] = lambda _, __: None,
    step: Callable[[str], None] = lambda _: None,
) -> Compacted:
    """Merge small files of days that are over, and remove what earlier runs merged.

    ``progress``: folders done and all; ``step`` is called between any two changes of the store.
    Raises StoreError: another run goes on, or the store cannot be written.
    """
    done = Compacted()
    with alone(root):
        groups = [
            list(group)
            for _, group in itertools.groupby(parquet_segments(root), lambda s: s.path.parent)
        ]
        for number, group in enumerate(groups):
            progress(number, len(groups))
            _of_a_day(root, group, now_ns, done, step)
        for folder in dict.fromkeys(group[0].path.parent for group in groups if group):
            _remove_merged(root, folder, grace_ns, done, step)
    return done


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold the store against other runs that merge or remove. Raises StoreError."""
    folder = root / "samples"
    if not folder.is_dir():
        raise StoreError(
            f"there are no sealed samples in {root}", expected="a store", hint="'iosonde seal'"
        )
    try:
        with lock_file(folder / ".upkeep.lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES) and not error.filename:
            raise StoreError(
                f"another 'iosonde compact' works on {root}", expected="one at a time"
            ) from error
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
            raise StoreError(
                f"the file system of {root} has no locks", expected="one that has them, or a copy"
            ) from error
        raise StoreError(
            f"cannot write {error.filename or root}: {error.strerror}",
            expected="room and the right to write in the store",
        ) from error


def _of_a_day(
    root: Path,
    group: list[Segment],
    now_ns: int,
    done: Compacted,
    step: Callable[[str], None],
) -> None:
    """Merge the files of one host and day, if they are worth it."""
    date = group[0].path.parent.parent.name.removeprefix("date=")
    over = utc_date(now_ns - DAY_NS - _OVER_NS) >= date
    small = [one for one in group if is_segment(one.stem) and not one.path.is_symlink()]
    if group[0].path.parent.is_symlink() or len(small) < (FEW if over else MANY):
        return
    with contextlib.closing(connect()) as con:
        small = reader.sound_segments(con, small)
        if len(small) < FEW:
            return
        names = sorted({name for one in small for name in _names(one)})
        path = group[0].path.with_name(f"{merged_stem(names)}.parquet")
        try:
            columns, files = ", ".join(SAMPLE_TYPES), parquet([one.path for one in small])
            sql = f"SELECT {columns} FROM {files}"
            rows = con.execute(f"SELECT count(*) FROM {files}").fetchone()
            step("write")
            made = write_parquet(
                con, f"{sql} ORDER BY {', '.join(SAMPLE_ORDER)}", path, stems=names
            )
            if rows is None or made != rows[0]:
                path.unlink()
                raise StoreError(f"{path} has {made} rows, expected {rows}")
            step("merged")
            roll_up(con, root, path)
            step("rolled up")
        except (duckdb.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            done.told.append(f"cannot merge {path.parent}: {reason}; its files stay as they are")
            return
    done.made.append(path)
    done.merged += len(small)


def _names(segment: Segment) -> set[str]:
    """All stems that a merged file has to name for one of its parts: those of earlier merges, too."""
    return {segment.stem, *segment_stems(segment)}


def _remove_merged(
    root: Path, folder: Path, grace_ns: int, done: Compacted, step: Callable[[str], None]
) -> None:
    """Remove files whose rows are in a merged one that is sound and old enough."""
    here = {path.stem: path for path in folder.glob("*.parquet")}
    for stem, path in here.items():
        if not is_merged(stem) or path.is_symlink() or folder.is_symlink():
            continue
        if not path.exists():
            continue  # itself a part of a merged file
        if time.time_ns() - path.stat().st_mtime_ns < grace_ns:
            continue
        old = [here[name] for name in checksum.stems_of(path) if name in here]
        rolled = rollup_path(root, path)
        if not old and not rolled.exists():
            continue
        if wrong := checksum.wrong(path):
            done.told.append(f"{path} {wrong}; what was merged into it stays")
            continue
        for one in old:
            step("remove")
            with contextlib.suppress(FileNotFoundError):
                one.unlink()
                done.removed.append(one)
        _remove_rollups(rolled, step)


def _remove_rollups(rolled: Path, step: Callable[[str], None]) -> None:
    """Remove roll-ups of parts where that of the merged file is whole."""
    if not rolled.exists() or checksum.wrong(rolled):
        return
    for name in checksum.stems_of(rolled):
        part = rolled.with_name(f"{name}.parquet")
        if part.exists():
            step("remove roll-up")
            part.unlink(missing_ok=True)
