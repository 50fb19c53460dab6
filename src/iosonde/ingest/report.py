"""Report of an import: recognised, written, refused and skipped items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.source import FileRead, Warn
from iosonde.jobs.environment.join import JoinCounts
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import JobKey
from iosonde.weather.samples.foreign import Schedules
from iosonde.weather.samples.parts import PartsWritten

_TOLD = 5
"""Unreadable lines of one file that are reported one by one."""
_NO_SCHEDULE = Schedules({}, 0)


class Told:
    """Collector of read errors: of each file the first few, and the number of others."""

    def __init__(self) -> None:
        self.errors: list[InputFileError] = []
        self._counts: Counter[str] = Counter()

    def of(self, name: object) -> Warn:
        """Callback for errors of one file, or of several that are read together."""
        return partial(self._tell, str(name))

    def _tell(self, name: str, error: InputFileError) -> None:
        self._counts[name] += 1
        if self._counts[name] <= _TOLD:
            self.errors.append(error)

    def rest(self) -> None:
        """Report the numbers of errors not reported so far."""
        for name, n in self._counts.items():
            if n > _TOLD:
                self.errors.append(InputFileError(f"{name}: {n - _TOLD} more lines cannot be read"))
        self._counts.clear()


class Unknown(NamedTuple):
    """A file of a folder that nothing can read."""

    place: Path
    """Path below the folder."""
    why: str


@dataclass
class FileImport:
    """Records of a file, of several of a kind, or of a server. ``new_*``: those new to the store."""

    name: str
    """Name of the file, or of the first of several and the number of others."""
    kind: str
    files: int = 1
    """Number of files; 0: a server."""
    samples: int = 0
    new_samples: int = 0
    changed_samples: int = 0
    """Values that differed from the store's."""
    missing: int = 0
    jobs: int = 0
    new_jobs: int = 0
    edges: int = 0
    new_edges: int = 0
    unnamed: bool = False
    """True if components of an unnamed file system are in it."""
    series: set[tuple[str, str]] = field(default_factory=set)
    """(system, metric)."""
    flags: Counter[str] = field(default_factory=Counter)
    """Number of occurrences of each flag of ``model.quality.QUALITY``."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """The first few places of each flag."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of ignored items by name and reason; at most 500 of them."""
    remarks: list[str] = field(default_factory=list)
    """Further remarks, for people."""
    span_ns: tuple[int, int] | None = None
    """From the first to the last instant."""
    keys: list[JobKey] = field(default_factory=list)
    """Keys of jobs with their own numbers."""
    endless: list[str] = field(default_factory=list)
    """Jobs and steps without an end: their run time is flagged as missing."""

    @property
    def rows(self) -> int:
        """Number of all records."""
        return self.samples + self.jobs + self.edges


@dataclass(frozen=True)
class SamplesWritten:
    """Single operations of related files."""

    written: PartsWritten
    rows: int
    targets: Sequence[str]
    span_ns: tuple[int, int]
    """Due times of the first and the last operation."""
    remarks: Sequence[str] = ()
    """Further remarks, for people."""
    run_ids: tuple[str, ...] = ()
    schedules: Schedules = _NO_SCHEDULE
    unread: Sequence[str] = ()
    """Names of ignored columns."""


class RunImport(NamedTuple):
    """Result of importing a run. ``new`` False: it was in the store already."""

    run_id: str
    target: str
    rows: int
    new: bool


@dataclass
class Imported:
    """Result of an import."""

    found: int = 0
    """Number of readable files, and of folders read as one."""
    told: Told = field(default_factory=Told)
    unopened: list[InputFileError] = field(default_factory=list)
    """Files and folders below folders that cannot be opened."""
    unknown: list[Unknown] = field(default_factory=list)
    """Files in folders that nothing can read."""
    files: list[FileImport] = field(default_factory=list)
    """Records, a file or several of a kind."""
    read: list[FileRead] = field(default_factory=list)
    """Files of runs and samples."""
    samples: list[SamplesWritten] = field(default_factory=list)
    runs: list[RunImport] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Rates, tails and scores of runs, and their defects; for people."""
    located: list[tuple[str, int]] = field(default_factory=list)
    """Runs of Darshan logs known to ``iosonde locate``, each with its number of OSTs."""
    logs_beyond: int = 0
    """Number of Darshan logs beyond the limit of those."""
    joined: JoinCounts | None = None

    @property
    def errors(self) -> list[InputFileError]:
        """All read errors."""
        return self.told.errors

    @property
    def nothing(self) -> bool:
        """True if nothing was readable."""
        return not (self.files or self.samples or self.runs)

    @property
    def stored(self) -> int:
        """Number of files that are stored whole."""
        return sum(one.files for one in self.files) + len(self.read)
