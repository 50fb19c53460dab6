"""Duplicate rows of a store: detection, and repair.

An earlier version could count a file beside the one it had been merged into. What is found of one host and day::

    samples   rows that stand twice in the files that no other file names: within one, or in two
    rollups   operations that two of them count, or that one counts more often than its samples have them

A repair merges the files of that day that count into one, each row once, which names every file there: from the moment
it appears, readers of all versions leave these out. Of roll-ups whose samples are gone each interval is taken from the
one that knows most. Dying anywhere is harmless: nothing is removed here;
``iosonde store compact`` removes what is replaced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine import reader
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_KEY, SAMPLE_TYPES
from iosonde.engine.layout.contents import Contents, groups, holders, replaced_by
from iosonde.engine.layout.merged import is_merged, merged_stem
from iosonde.engine.layout.segments import Segment
from iosonde.engine.parquet import parquet
from iosonde.weather.rollups.files import write
from iosonde.weather.rollups.readable import sound_rollups
from iosonde.weather.rollups.rollups import combined
from iosonde.weather.upkeep.compact import Compacted, Step, alone, readable_parts, replace
from iosonde.weather.upkeep.day import ROLLUPS, SAMPLES, FolderOfDay, count, days


class Doubled(NamedTuple):
    """Duplicate rows of one host and day in a table."""

    table: str
    """``samples`` or ``rollups``."""
    date: str
    host: str
    files: int
    """Number of files with such rows."""
    rows: int
    """Rows of the day, each once; for roll-ups: due operations."""
    twice: int
    """Number of duplicates in its files."""


@dataclass
class Checked:
    """``files`` of samples and of roll-ups read, ``rows`` of samples, each once; ``doubled``: duplicates."""

    files: int = 0
    rows: int = 0
    doubled: list[Doubled] = field(default_factory=list)


@dataclass
class Repaired:
    """``made``: files, roll-ups before samples; ``rows``: rows that now count once; ``told``: unrepaired ones."""

    made: list[Path] = field(default_factory=list)
    rows: int = 0
    told: list[str] = field(default_factory=list)


def check(root: Path, progress: Callable[[int, int], None] = lambda _, __: None) -> Checked:
    """Search for duplicate rows. ``progress``: days done and total. Raises StoreError, duckdb.Error."""
    done = Checked()
    every = list(days(root))
    with contextlib.closing(connect()) as con:
        for number, day in enumerate(every):
            progress(number, len(every))
            for found in (_samples(con, day, done), _rollups(con, day, done)):
                if found is not None and found.twice:
                    done.doubled.append(found)
    return done


def repair(root: Path, doubled: Sequence[Doubled], step: Step = lambda _: None) -> Repaired:
    """Remove duplicates of these days; ``step``: called between any two changes. Raises StoreError."""
    done = Repaired()
    with alone(root):
        for date, host in dict.fromkeys((one.date, one.host) for one in doubled):
            day = FolderOfDay(root, date, host)
            try:
                _repair_day(day, done, step)
            except (OSError, duckdb.Error) as error:
                reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
                done.told.append(f"cannot repair {day.name}: {reason}; its files stay as they are")
            else:
                done.rows += sum(
                    one.twice for one in doubled if (one.date, one.host) == (date, host)
                )
    return done


def _open(listed: Sequence[Contents]) -> list[Contents]:
    """Files not named by others: readers of earlier versions count each."""
    named = {name for one in listed if is_merged(one.stem) for name in one.names}
    return [one for one in listed if one.stem not in named]


def _samples(con: duckdb.DuckDBPyConnection, day: FolderOfDay, done: Checked) -> Doubled | None:
    """Duplicates in samples; None without any."""
    files = [
        day.path(SAMPLES, stem)
        for stem in day.readable([one.stem for one in _open(day.listed(SAMPLES))])
    ]
    if not files:
        return None
    columns, source = ", ".join(SAMPLE_TYPES), parquet(files)
    total = count(con, f"SELECT count(*) FROM {source}")
    rows = count(con, f"SELECT count(*) FROM (SELECT DISTINCT {columns} FROM {source})")
    done.files += len(files)
    done.rows += rows
    key = ", ".join(SAMPLE_KEY)
    several = f"SELECT {key} FROM {source} GROUP BY {columns} HAVING count(*) > 1"
    holding = (
        count(
            con,
            f"SELECT count(DISTINCT filename) FROM {parquet(files, filename=True)} "
            f"SEMI JOIN ({several}) USING ({key})",
        )
        if total > rows
        else 0
    )
    return Doubled(SAMPLES, day.date, day.host, holding, rows, total - rows)


def _rollups(con: duckdb.DuckDBPyConnection, day: FolderOfDay, done: Checked) -> Doubled | None:
    """Duplicates in roll-ups; None without any."""
    listed = {one.stem: one for one in day.listed(ROLLUPS)}
    those = [
        Segment(day.host, one.stem, day.path(ROLLUPS, one.stem))
        for one in _open([*listed.values()])
    ]
    found = {one: listed[one.stem].segments for one in sound_rollups(con, day.root, those)}
    if not found:
        return None
    done.files += len(found)
    sampled = {one.segments: one for one in _counted(day.listed(SAMPLES))}
    rows = twice = files = 0
    for group in groups(found):
        total = _due(con, [one.path for one in group])
        if len(group) > 1:
            right = int(combined(con, day.root, group).columns["n_due"].sum())
        elif (sealed := sampled.get(found[group[0]])) is not None and day.readable([sealed.stem]):
            reader.look_at_distinct(con, [day.path(SAMPLES, sealed.stem)])
            right = count(con, "SELECT count(*) FROM samples WHERE outcome <> 'shed'")
        else:
            right = total
        rows += right
        twice += max(0, total - right)
        files += len(group) if total > right else 0
    return Doubled(ROLLUPS, day.date, day.host, files, rows, twice)


def _due(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> int:
    return count(con, f"SELECT coalesce(sum(n_due), 0)::BIGINT FROM {parquet(paths)}")


def _counted(listed: Sequence[Contents]) -> list[Contents]:
    held = holders(listed)
    return [one for one in listed if one.stem not in held]


def _repair_day(day: FolderOfDay, done: Repaired, step: Step) -> None:
    """Rewrite samples as one file with its roll-up; then roll-ups without samples."""
    parts, others = readable_parts(day, day.listed(SAMPLES))
    if parts:
        stem = replace(day, parts, others, Compacted(), step)
        done.made += [
            path for table in (ROLLUPS, SAMPLES) if (path := day.path(table, stem)).exists()
        ]
    listed = day.listed(ROLLUPS)
    for group in groups({one: one.segments for one in _open(listed)}):
        if len(group) > 1:
            names = replaced_by(group, listed)
            path = day.path(ROLLUPS, merged_stem(names))
            step("roll up")
            with contextlib.closing(connect()) as con:
                those = [Segment(day.host, one.stem, day.path(ROLLUPS, one.stem)) for one in group]
                write(
                    con, combined(con, day.root, sound_rollups(con, day.root, those)), path, names
                )
            step("rolled up")
            done.made.append(path)
