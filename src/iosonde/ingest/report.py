"""The report of an import: what was recognised, written, refused and left out."""

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
from iosonde.weather.samples.foreign import Schedules
from iosonde.weather.samples.parts import PartsWritten

_TOLD = 5
"""Lines of one file that cannot be read and are told of one by one."""
_NO_SCHEDULE = Schedules({}, 0)


class Told:
    """Takes what cannot be read: of each file the first few, and how many more there were."""

    def __init__(self) -> None:
        self.errors: list[InputFileError] = []
        self._counts: Counter[str] = Counter()

    def of(self, name: object) -> Warn:
        """What takes errors of one file, or of several that are read together."""
        return partial(self._tell, str(name))

    def _tell(self, name: str, error: InputFileError) -> None:
        self._counts[name] += 1
        if self._counts[name] <= _TOLD:
            self.errors.append(error)

    def rest(self) -> None:
        """Tell of those that were not told of."""
        for name, n in self._counts.items():
            if n > _TOLD:
                self.errors.append(InputFileError(f"{name}: {n - _TOLD} more lines cannot be read"))
        self._counts.clear()


class Unknown(NamedTuple):
    """A file of a folder that nothing can read."""

    place: Path
    """Below the folder."""
    why: str


@dataclass
class FileImport:
    """Records of a file, of several of a kind, or of a server. ``new_*``: what the store did not have."""

    name: str
    """Of the file, or of the first of several and how many more."""
    kind: str
    files: int = 1
    """How many files it is; 0: a server."""
    samples: int = 0
    new_samples: int = 0
    changed_samples: int = 0
    """Values that the store had otherwise."""
    missing: int = 0
    jobs: int = 0
    new_jobs: int = 0
    edges: int = 0
    new_edges: int = 0
    unnamed: bool = False
    """Whether components of a file system are in it, and not of which."""
    series: set[tuple[str, str]] = field(default_factory=set)
    """(system, metric)."""
    flags: Counter[str] = field(default_factory=Counter)
    """How often each flag of ``model.quality.QUALITY`` was raised."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """The first few places of each."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What was not read, by name and why; at most 500 of them."""
    remarks: list[str] = field(default_factory=list)
    """What else there is to say, for people."""
    span_ns: tuple[int, int] | None = None
    """From the first to the last instant."""
    keys: list[tuple[str, str, str, int | None]] = field(default_factory=list)
    """Of jobs with numbers of their own."""
    endless: list[str] = field(default_factory=list)
    """Jobs and steps without an end: their run time is flagged as missing."""

    @property
    def rows(self) -> int:
        """Of everything."""
        return self.samples + self.jobs + self.edges


@dataclass(frozen=True)
class SamplesWritten:
    """Single operations of files that belong together."""

    written: PartsWritten
    rows: int
    targets: Sequence[str]
    span_ns: tuple[int, int]
    """When the first and the last operation were due."""
    remarks: Sequence[str] = ()
    """What else there is to say, for people."""
    run_ids: tuple[str, ...] = ()
    schedules: Schedules = _NO_SCHEDULE
    unread: Sequence[str] = ()
    """Columns that mean nothing here."""


class RunImport(NamedTuple):
    """What became of a run. ``new`` False: it was in the store already."""

    run_id: str
    target: str
    rows: int
    new: bool


@dataclass
class Imported:
    """Everything that an import did."""

    found: int = 0
    """Files, and folders that are read as one, that something can read."""
    told: Told = field(default_factory=Told)
    unopened: list[InputFileError] = field(default_factory=list)
    """Files and folders below folders that cannot be opened."""
    unknown: list[Unknown] = field(default_factory=list)
    """Files of folders that nothing can read."""
    files: list[FileImport] = field(default_factory=list)
    """Records, a file or several of a kind."""
    read: list[FileRead] = field(default_factory=list)
    """Files of runs and samples."""
    samples: list[SamplesWritten] = field(default_factory=list)
    runs: list[RunImport] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Rates, tails and scores of runs, and what is wrong with them; for people."""
    located: list[tuple[str, int]] = field(default_factory=list)
    """Runs of Darshan logs that ``iosonde locate`` knows, each with its OSTs."""
    logs_beyond: int = 0
    """Darshan logs of which that is not stored, as they are too many."""
    joined: JoinCounts | None = None

    @property
    def errors(self) -> list[InputFileError]:
        """What could not be read."""
        return self.told.errors

    @property
    def nothing(self) -> bool:
        """Whether nothing could be read at all."""
        return not (self.files or self.samples or self.runs)

    @property
    def stored(self) -> int:
        """Files that are in the store whole."""
        return sum(one.files for one in self.files) + len(self.read)
