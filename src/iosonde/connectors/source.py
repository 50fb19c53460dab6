"""Protocol of connectors: the interface of all readers of foreign files.

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
"""Host of samples that name none."""
SIZE_BYTES = 3901
"""Default size: that of md-workbench's files."""
_LOOK_BYTES = 65_536


@dataclass(frozen=True)
class Settings:
    """Values that a file does not contain. ``None`` or "": not given."""

    system: str = ""
    """File system (or cluster) of a file that names none."""
    node: str = ""
    """Node of a file that names none."""
    zone: tzinfo | None = None
    """Zone of clock times without one; None: this machine's (noted as naive-time)."""
    day: date | None = None
    """Day of a file with times of day only."""
    job_id: str = ""
    progress: Callable[[int, int], None] | None = None
    """Callback with done and total (bytes or files) of long work."""
    target: str | None = None
    """Target of runs and samples; None: the name of each file's run."""
    host: str = UNNAMED
    """Host of runs and samples; ranks append ``.rank0000`` and so on."""
    run: str | None = None
    """Prefix of run ids; None: the name of each file's run."""
    started_ns: int | None = None
    """Start of the first phase; None: the last one ends at the modification time of the youngest file."""
    size_bytes: int = SIZE_BYTES
    """Size of files of metadata operations."""
    period_ns: int | None = None
    """Period of samples whose table has none; None: the regular step of their due times, else 0."""


class RunRows(NamedTuple):
    """Rows of benchmark runs in one file, or in several together; equal run ids are one run."""

    rows: Sequence[RunRow]
    transfers: Sequence[Transfers] = ()
    """Transfers of ranks in these runs."""


class SampleSink(Protocol):
    """Sink for single operations of files: rows come in any order, and are ordered at the end."""

    def open(self, root: Path) -> None:
        """Prepare, before the first row."""

    def add(self, file: int, rows: Frame) -> None:
        """Add rows of file number ``file``."""

    def finish(self) -> Iterator[Any]:
        """Write all rows into the store; yield a report, and further items. Raises StoreError, InputFileError."""

    def close(self) -> None:
        """Release resources, also after an error."""


class SampleRows(NamedTuple):
    """Rows of single operations."""

    sink: SampleSink
    rows: Frame
    file: int = 0


class FileRead(NamedTuple):
    """A file of runs or samples, with its kind and number of rows."""

    path: Path
    kind: str
    rows: int


class MetricSaid(NamedTuple):
    """Metadata of a mapping about its own metric."""

    source: str
    metric: str
    place: int
    """Index among the metrics of the mapping."""
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
"""Item of a stream, in any order; blocks of one metric may come in pieces that do not overlap.

A note is about the file as a whole, where no block can have it; a text is a remark for people. A ``SampleSink`` by
itself says that all its rows were given.
"""


class Connector(Protocol):
    """Module or object that reads files of one kind."""

    @property
    def KIND(self) -> str:  # noqa: N802 - a constant of modules
        """Printable name of this kind of files."""
        ...

    def recognises(self, head: Head) -> bool:
        """True for a file of this kind, judged by its contents."""
        ...

    def read(self, path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        """Yield items of a file; malformed rows are reported; raises InputFileError for an unreadable file."""
        ...


@dataclass(frozen=True)
class Head:
    """Start of a file: at most 64 KiB, unpacked if packed."""

    path: Path
    raw: bytes
    """First bytes as stored."""
    data: bytes
    """First bytes, unpacked."""

    @cached_property
    def text(self) -> str:
        """Decoded text; invalid UTF-8 is replaced."""
        return self.data.decode("utf-8-sig", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text; the last may be cut."""
        return self.text.splitlines()


def head_of(path: Path) -> Head:
    """Read the start of a file. Raises InputFileError: unreadable, or a pipe, which would have to be read twice."""
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
    """Unpack the first bytes; for damaged data as many as possible."""
    try:
        with opened(path) as file:
            return file.read(_LOOK_BYTES)
    except BROKEN:
        return begin_of(raw, _LOOK_BYTES)
    except OSError as error:
        if error.errno is not None:
            raise
        return begin_of(raw, _LOOK_BYTES)  # bzip2's word for data that break
