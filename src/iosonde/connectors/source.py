"""What every connector of monitors' and jobs' records shares: settings, warnings, frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, tzinfo
from pathlib import Path

from iosonde.connectors.compressed import BROKEN, begin_of, opened, regular
from iosonde.connectors.lines import Warn
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note

__all__ = ["Head", "Item", "Settings", "Warn", "head_of"]

Item = MetricBlock | Edge | Job | Note
"""What a connector yields, in any order; blocks of one metric may come in pieces that do not overlap.

A note is about the file as a whole, where no block can have it.
"""
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


@dataclass(frozen=True)
class Head:
    """How a file begins: at most 64 KiB, unpacked where it is packed."""

    path: Path
    raw: bytes
    """The first bytes as they are."""
    data: bytes
    """The same, unpacked."""

    @property
    def text(self) -> str:
        """As text; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8-sig", "replace")

    @property
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
