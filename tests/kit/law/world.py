"""Stores in memory: files with a name, a footer, rows and a time; any two changes have a moment between them.

A file's rows are a count of segments, and its roll-up a count of intervals. Merging and removing are the real functions
(``iosonde.weather.upkeep.compact``) on ``MemoryDay``; what readers take is decided by the real rules.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from iosonde.engine.layout.contents import Contents, contents_of
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.upkeep.day import ROLLUPS, SAMPLES, RowsMerged
from tests.kit.law.model import Law

TICK_NS = 4_000_000
"""What file systems count times in."""
START_NS = 20_000 * DAY_NS + 12 * HOUR_NS


class MemoryFile(NamedTuple):
    """A file that was renamed into place."""

    contents: Contents
    held: Counter[str]
    """Of samples: how many times it holds the rows of a segment. Of roll-ups: how many rows an interval has."""
    written_ns: int


Folder = dict[str, MemoryFile]


@dataclass
class MemoryStore:
    """One store of one host."""

    law: Law
    folders: dict[tuple[str, str], Folder] = field(default_factory=dict)
    """By table and date."""
    changed_ns: dict[tuple[str, str], int] = field(default_factory=dict)
    spool: dict[str, str] = field(default_factory=dict)
    """Date of each segment that is not sealed, or was and is still there."""
    changes: int = 0
    """Of files."""
    busy: bool = False
    """Whether a run holds the store's lock."""

    def folder(self, table: str, date: str) -> Folder:
        """The files of a table and date."""
        return self.folders.setdefault((table, date), {})

    def seen(self) -> tuple[int, ...]:
        """Differs where a reader might count something else, or has to."""
        law = self.law
        return (self.changes, *map(len, (self.spool, law.must, law.may, law.rolled)))

    def dates(self) -> list[str]:
        """All dates, oldest first."""
        return sorted({date for (_, date), files in self.folders.items() if files})


class KilledError(Exception):
    """A process was killed between two changes."""


@dataclass
class World:
    """A clock, dice, and what happens between any two changes."""

    dice: random.Random
    stores: dict[str, MemoryStore]
    rows: dict[str, dict[int, int]] = field(default_factory=dict)
    """How many rows of each segment lie in which ten minutes."""
    dates: dict[str, str] = field(default_factory=dict)
    now_ns: int = START_NS
    steps: int = 0
    log: list[str] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)
    """How often readers met files that share rows, in samples and in roll-ups."""
    meanwhile: Callable[[], None] = lambda: None
    """Readers look, others work, and the process may die."""

    def between(self, what: str) -> None:
        """A moment before a change, or after the last one."""
        self.steps += 1
        self.now_ns += self.dice.randrange(1, 50_000_000)
        self.log.append(what)
        self.meanwhile()

    def put(self, store: MemoryStore, table: str, date: str, file: MemoryFile) -> None:
        """Let a file appear."""
        store.folder(table, date)[file.contents.stem] = file
        store.changes += 1
        store.changed_ns[table, date] = self.file_time_ns()

    def drop(self, store: MemoryStore, table: str, date: str, stem: str) -> None:
        """Remove a file."""
        if store.folder(table, date).pop(stem, None) is not None:
            store.changed_ns[table, date] = self.file_time_ns()
            store.changes += 1

    def file_time_ns(self) -> int:
        """As a file system stamps it."""
        return self.now_ns // TICK_NS * TICK_NS

    def summed(self, segments: Iterable[str]) -> Counter[str]:
        """The roll-up of some segments' rows; one that stands there twice counts twice."""
        found: Counter[str] = Counter()
        for segment in segments:
            found.update({str(interval): n for interval, n in self.rows[segment].items()})
        return found

    def file(self, stem: str, names: Sequence[str], held: Counter[str]) -> MemoryFile:
        """A file that is written now."""
        return MemoryFile(contents_of(stem, names), held, self.file_time_ns())


@dataclass
class MemoryDay:
    """The files of one date, as merging sees them (``iosonde.weather.upkeep.day.DayFiles``)."""

    world: World
    store: MemoryStore
    date: str
    names_grandparents: bool = True
    """False: footers as an earlier version wrote them, without the files between."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.store.law.name}/{self.date}"

    def listed(self, table: str) -> list[Contents]:
        """In any order."""
        found = [one.contents for one in self.store.folder(table, self.date).values()]
        self.world.dice.shuffle(found)
        return found

    def modified_ns(self, table: str, stem: str) -> int | None:
        """By the world's clock."""
        file = self.store.folder(table, self.date).get(stem)
        return None if file is None else file.written_ns

    def wrong(self, table: str, stem: str) -> str:
        """Nothing is damaged."""
        return "" if stem in self.store.folder(table, self.date) else "is gone"

    def readable(self, stems: Sequence[str]) -> list[str]:
        """Those that are still there."""
        return [one for one in stems if one in self.store.folder(SAMPLES, self.date)]

    def roll_up(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> None:
        """One in ten cannot be written."""
        held = self.world.summed(self._rows(parts))
        if self.world.dice.random() < 0.9:
            self._put(ROLLUPS, stem, names, held)

    def merge(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> RowsMerged:
        """Distinct rows."""
        rows = self._rows(parts)
        self._put(SAMPLES, stem, names, Counter(dict.fromkeys(rows, 1)))
        return RowsMerged(len(rows), 0)

    def remove(self, table: str, stem: str) -> None:
        """Gone."""
        self.world.drop(self.store, table, self.date, stem)

    def _rows(self, parts: Sequence[str]) -> set[str]:
        files = self.store.folder(SAMPLES, self.date)
        if not all(part in files for part in parts):
            raise FileNotFoundError(2, "No such file or directory", self.name)
        return {segment for part in parts for segment in files[part].held}

    def _put(self, table: str, stem: str, names: Sequence[str], held: Counter[str]) -> None:
        if not self.names_grandparents:
            names = [one for one in names if one in self.world.rows]
        self.world.put(self.store, table, self.date, self.world.file(stem, names, held))
