"""The protocol of connectors: whatever reads a file that somebody else made obeys it.

::

    recognises(head)             by content, never by name
    read(path, settings, warn)   -> a stream of items, each of a type below
    read_many(paths, ...)        optional: several files of a kind together say more than one by one
    recognises_folder(folder)    optional: a folder as a whole is one

``connectors.sources`` lists them and asks them in turn. Some connectors need a room (a benchmark's tails, the engine's
Parquet): these are in ``ingest``, and obey the same protocol. What a stream holds is written by ``ingest.writer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from iosonde.connectors.compressed import BROKEN, begin_of, opened, regular
from iosonde.connectors.lines import Warn
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.model.job_metrics import About
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note
from iosonde.model.runs import RunRow
from iosonde.model.transfers import Transfers

__all__ = ["Connector", "Head", "Item", "Settings", "Warn", "head_of"]

UNNAMED = "import"
"""Host of samples for which nobody says one."""
SIZE_BYTES = 3901
"""Size of md-workbench's files unless told otherwise."""
_LOOK_BYTES = 65_536


@dataclass(frozen=True)
class Settings:
    """What a file does not say itself. ``None`` or "": nothing was said."""

    system: str = ""
    """The file system (or cluster) of a file that names none."""
    node: str = ""
    """The node of a file that names none."""
    zone: tzinfo | None = None
    """Of clock times without one; None: this machine's (noted as naive-time)."""
    day: date | None = None
    """Of a file that has times of day only."""
    job_id: str = ""
    progress: Callable[[int, int], None] | None = None
    """Gets done and total (bytes or files) of long work."""
    target: str | None = None
    """Of runs and samples; None: the name of each file's run."""
    host: str = UNNAMED
    """Of runs and samples; ranks get ``.rank0000`` and so on behind it."""
    run: str | None = None
    """Run ids begin with it; None: the name of each file's run."""
    started_ns: int | None = None
    """Begin of the first phase; None: so that the last ends when the youngest file was written."""
    size_bytes: int = SIZE_BYTES
    """Of files of metadata operations."""
    period_ns: int | None = None
    """Of samples whose table says none; None: the regular step of their due times, else 0."""


class RunRows(NamedTuple):
    """Rows of benchmark runs that one file, or several together, have; those of one run id are one run."""

    rows: Sequence[RunRow]
    transfers: Sequence[Transfers] = ()
    """When ranks of these runs moved what."""


class SampleSink(Protocol):
    """Single operations of files: rows come in any order, and are placed once all are there."""

    def open(self, root: Path) -> None:
        """Begin, before the first row."""

    def add(self, file: int, rows: Frame) -> None:
        """Rows of file number ``file``."""

    def finish(self) -> Iterator[Any]:
        """Write all rows into the store: what was written, and further items. Raises StoreError, InputFileError."""

    def close(self) -> None:
        """End, whatever happened."""


class SampleRows(NamedTuple):
    """Rows of single operations."""

    sink: SampleSink
    rows: Frame
    file: int = 0


class FileRead(NamedTuple):
    """A file of runs or samples, with its kind and how many rows it had."""

    path: Path
    kind: str
    rows: int


class MetricSaid(NamedTuple):
    """What a mapping says of a metric of its own."""

    source: str
    metric: str
    place: int
    """Its place among the metrics of the mapping."""
    about: About | None


Item = (
    MetricSaid
    | MetricBlock
    | Edge
    | Job
    | Note
    | str
    | RunRows
    | SampleRows
    | SampleSink
    | FileRead
)
"""One item of a stream, in any order; blocks of one metric may come in pieces that do not overlap.

A note is about the file as a whole, where no block can have it; a text is a remark for people. A ``SampleSink`` by
itself says that all its rows were given.
"""


class Connector(Protocol):
    """A module, or an object, that reads files of one kind."""

    @property
    def KIND(self) -> str:  # noqa: N802 - a constant of modules
        """Name of this kind of files, for people."""
        ...

    def recognises(self, head: Head) -> bool:
        """Whether a file is one of its own, by what it holds."""
        ...

    def read(self, path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        """Items of a file; bad rows are told of, what cannot be read at all raises InputFileError."""
        ...


@dataclass(frozen=True)
class Head:
    """How a file begins: at most 64 KiB, unpacked where it is packed."""

    path: Path
    raw: bytes
    """The first bytes as they are."""
    data: bytes
    """The same, unpacked."""

    @cached_property
    def text(self) -> str:
        """As text; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8-sig", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """Its lines; the last may be cut."""
        return self.text.splitlines()


def head_of(path: Path) -> Head:
    """The beginning of a file. Raises InputFileError: unreadable, or a pipe, which would have to be read twice."""
    try:
        regular(path)
        with path.open("rb") as plain:
            raw = plain.read(_LOOK_BYTES)
        data = _unpacked(path, raw)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    return Head(path, raw, data)


def _unpacked(path: Path, raw: bytes) -> bytes:
    """The first bytes unpacked; of broken data as much as can be."""
    try:
        with opened(path) as file:
            return file.read(_LOOK_BYTES)
    except BROKEN:
        return begin_of(raw, _LOOK_BYTES)
    except OSError as error:
        if error.errno is not None:
            raise
        return begin_of(raw, _LOOK_BYTES)  # bzip2's word for data that break
