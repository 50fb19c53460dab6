"""What every connector of monitors' and jobs' records shares: what it is given, what it tells, what it yields."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, tzinfo
from pathlib import Path

from iosonde.connectors.lines import Tell
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock

__all__ = ["Head", "Item", "Settings", "Tell", "head_of"]

Item = MetricBlock | Edge | Job
"""What a connector yields, in any order; blocks of one metric may come in pieces that do not overlap."""
_LOOK_BYTES = 65_536


@dataclass(frozen=True)
class Settings:
    """What a file does not say itself. ``None`` or "": nothing was said."""

    system: str = ""
    """The file system (or cluster) of a file that names none."""
    zone: tzinfo | None = None
    """Of clock times without one; None: this machine's (noted as naive-time)."""
    day: date | None = None
    """Of a file that has times of day only."""
    job_id: str = ""
    progress: Callable[[int, int], None] | None = None
    """Gets done and total (bytes or files) of long work."""


@dataclass(frozen=True)
class Head:
    """How a file begins: at most 64 KiB, unpacked where it is gzip."""

    path: Path
    raw: bytes
    """The first bytes as they are."""
    data: bytes
    """The same, unpacked."""

    @property
    def text(self) -> str:
        """As text; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        """Its lines; the last may be cut."""
        return self.text.splitlines()


def head_of(path: Path) -> Head:
    """The beginning of a file. Raises InputFileError: unreadable."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LOOK_BYTES)
        data = raw
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                data = packed.read(_LOOK_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        data = _unpacked(raw)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    return Head(path, raw, data)


def _unpacked(raw: bytes) -> bytes:
    """As much of broken gzip data as can be unpacked."""
    try:
        return zlib.decompressobj(31).decompress(raw, _LOOK_BYTES)
    except zlib.error:
        return raw
