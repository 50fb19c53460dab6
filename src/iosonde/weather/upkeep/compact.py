"""Compaction: merging the sealed segments of a host's day into one file, invisible to readers.

::

    samples/date=D/host=H/{a,b,c}.parquet
      1  roll up the rows of a, b, c, each once, under the name of the merged file
      2  write .draft -> fsync -> rename to <digest of the names>-0000000003.parquet, whose footer names a, b, c,
         and every file that was merged on the way to them
         from here on readers that list it leave a, b and c out (``engine.layout.contents``)
      3  once the merged file is older than ``grace``: check its bytes, remove the files whose segments it holds, those
         that hold fewest first; then roll-ups likewise

Dying anywhere is harmless: before the rename nothing has changed, after it the old files are not counted, and the next
run removes them. The name follows from what is merged, so that two runs make the same file. A lock keeps two of them
apart. A segment that arrives again after it was merged (a late shipment) is left out by readers, and removed. What
counts follows from segments alone, so that no removed file of an earlier generation brings rows back; the earlier names
are for older versions of iosonde, which leave out only what a footer names.

``grace`` is for readers whose listing of a folder is old: NFS keeps one for up to a minute.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine.layout.contents import Contents, holders, rank, replaced_by
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.merged import is_merged, merged_stem
from iosonde.engine.opener import lock_file
from iosonde.model.errors import StoreError
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.upkeep.day import ROLLUPS, SAMPLES, DayFiles, days

GRACE_NS = 600_000_000_000
FEW = 2
"""Least number of files of a past day to merge."""
MANY = 32
"""Least number of files of the current day to merge."""
_OVER_NS = 2 * HOUR_NS
"""Time after midnight by which all segments opened before it are sealed."""

Step = Callable[[str], None]
"""Callback between any two changes of a store, with the name of the next or the last."""


@dataclass
class Compacted:
    """Result of a compaction.

    ``made``: files; ``merged``: of how many; ``twice``: rows that stood twice in them; ``removed``: how many files
    whose rows are in a merged one; ``told``: what was not, and why.
    """

    made: list[Path] = field(default_factory=list)
    merged: int = 0
    twice: int = 0
    removed: int = 0
    told: list[str] = field(default_factory=list)


def compact(
    root: Path,
    now_ns: int,
    *,
    grace_ns: int = GRACE_NS,
    progress: Callable[[int, int], None] = lambda _, __: None,
    step: Step = lambda _: None,
) -> Compacted:
    """Merge small files of past days, and remove files merged earlier; ``now_ns``: UTC.

    ``progress``: folders done and all; ``step`` is called between any two changes of the store.
    Raises StoreError: another run goes on, or the store cannot be written.
    """
    done = Compacted()
    with alone(root):
        every = list(days(root))
        for number, day in enumerate(every):
            progress(number, len(every))
            stem = merge_day(day, done, step, least=FEW if is_over(day.date, now_ns) else MANY)
            if stem is not None:
                done.made.append(day.path(SAMPLES, stem))
        fresh = {path.stem for path in done.made if grace_ns}
        for day in every:
            remove_held(day, Grace(now_ns, grace_ns, fresh), done, step)
    return done


def is_over(date: str, now_ns: int) -> bool:
    """True if all segments of a day are sealed."""
    return utc_date(now_ns - DAY_NS - _OVER_NS) >= date


def merge_day(day: DayFiles, done: Compacted, step: Step, *, least: int) -> str | None:
    """Merge the counting files of one host and day, if ``least`` or more; returns the name of the new one."""
    listed = day.listed(SAMPLES)
    held = holders(listed)
    if len(listed) - len(held) < least and not held:
        return None
    try:
        parts, others = readable_parts(day, listed)
        if len(parts) < least:
            return None
        return replace(day, parts, others, done, step)
    except (duckdb.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        done.told.append(f"cannot merge {day.name}: {reason}; its files stay as they are")
        return None


def replace(
    day: DayFiles,
    parts: list[Contents],
    others: list[Contents],
    done: Compacted,
    step: Step,
) -> str:
    """Replace ``parts`` by one file of their rows, each once; ``others`` are named if they are contained.

    The roll-up comes first: whatever counts afterwards, parts or the new file, goes with it.
    Raises OSError, duckdb.Error, StoreError.
    """
    stems = [one.stem for one in parts]
    names = replaced_by(parts, others)
    stem = merged_stem(names)
    rolled = [one for one in day.listed(ROLLUPS) if one.stem != stem]
    step("roll up")
    day.roll_up(stems, stem, replaced_by(parts, [*others, *rolled]))
    step("rolled up")
    merged = day.merge(stems, stem, names)
    step("merged")
    done.merged += len(parts)
    done.twice += merged.twice
    return stem


def readable_parts(day: DayFiles, listed: list[Contents]) -> tuple[list[Contents], list[Contents]]:
    """Readable files that count, and the other readable ones; a damaged file hides nothing."""
    while True:
        held = holders(listed)
        counted = [one for one in listed if one.stem not in held]
        found = set(day.readable([one.stem for one in counted]))
        parts = [one for one in counted if one.stem in found]
        if all(one in parts or not is_merged(one.stem) for one in counted):
            return parts, [one for one in listed if one.stem in held]
        listed = [one for one in listed if one.stem in held or one.stem in found]


class Grace(NamedTuple):
    """Age limit of merged files, after which no reader has an older listing."""

    now_ns: int
    grace_ns: int
    fresh: Collection[str] = ()
    """Files created by this run."""

    def is_over(self, stem: str, written_ns: int) -> bool:
        """True for an old file, also one from the future, whose clock was wrong: it would keep its parts for years."""
        return stem not in self.fresh and abs(self.now_ns - written_ns) >= self.grace_ns


def remove_held(day: DayFiles, grace: Grace, done: Compacted, step: Step) -> None:
    """Remove files whose rows are in a counting file that is sound and old enough.

    Those that hold fewest segments go first: an older version of iosonde may need the others to leave these out.
    """
    for table in (SAMPLES, ROLLUPS):
        listed = day.listed(table)
        held = holders(listed)
        sound: dict[str, bool] = {}
        for one in sorted(listed, key=rank):
            if one.stem not in held:
                continue
            holder = held[one.stem].stem
            if holder not in sound:
                sound[holder] = _may_replace(day, table, holder, grace, done)
            if sound[holder]:
                step("remove" if table == SAMPLES else "remove roll-up")
                day.remove(table, one.stem)
                done.removed += table == SAMPLES


def _may_replace(day: DayFiles, table: str, holder: str, grace: Grace, done: Compacted) -> bool:
    """True if a file is old and sound enough to remove its parts."""
    written_ns = day.modified_ns(table, holder)
    if written_ns is None or not grace.is_over(holder, written_ns):
        return False
    if wrong := day.wrong(table, holder):
        if table == SAMPLES:
            done.told.append(f"{day.name}/{holder}.parquet {wrong}; what was merged into it stays")
        return False
    return True


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Lock the store against other runs that merge or remove. Raises StoreError."""
    folder = root / "samples"
    if not folder.is_dir():
        raise StoreError(
            f"there are no sealed samples in {root}",
            expected="a store",
            hint="'iosonde store seal'",
        )
    try:
        with lock_file(folder / ".upkeep.lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES) and not error.filename:
            raise StoreError(
                f"another 'iosonde store compact' works on {root}", expected="one at a time"
            ) from error
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
            raise StoreError(
                f"the file system of {root} has no locks", expected="one that has them, or a copy"
            ) from error
        raise StoreError(
            f"cannot write {error.filename or root}: {error.strerror}",
            expected="room and the right to write in the store",
        ) from error
