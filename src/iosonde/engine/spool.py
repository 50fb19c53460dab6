"""Spool segments as arrays. The native core owns the format; here codes become words.

A segment may vanish while it is read (a sealer moved it to Parquet): ``read`` then gives None and
the reader looks for the Parquet file instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde import _core
from iosonde.engine.opener import TABLE_BYTES, opened, said
from iosonde.engine.reading import reading
from iosonde.model.errors import DamagedFileError, StoreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INT64 = ("due_ns", "began_ns", "ended_ns", "offset_bytes", "control_runq_ns")
_TYPES: dict[str, Any] = {
    "target": np.uint16,
    "outcome": np.uint16,
    "op": np.uint8,
    "cache": np.uint8,
}
NULL_SQL = "(-9223372036854775807 - 1)"
"""``NULL_NS`` as a BIGINT: DuckDB would take a single literal for a HUGEINT."""
_MAGIC = b"IOSPOOL1"
_BIRTH_S = 5.0
_WORDS = ("host", "target", "op", "outcome", "cache", "run_id")


@dataclass(frozen=True)
class SpoolRows:
    """Rows of segments.

    ``columns`` holds int64 numbers (null = ``NULL_NS``), and for each of the word columns (host
    target op outcome cache run_id) a code into ``words``.
    """

    columns: dict[str, NDArray[Any]]
    words: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.columns["due_ns"])


@dataclass(frozen=True)
class SpoolSegment:
    """A segment as it was when read; ``torn`` gives the reason why reading stopped before its end."""

    rows: SpoolRows
    opened_ns: int
    torn: str | None


def read(path: Path) -> SpoolSegment | None:
    """Every whole frame of a segment, or None if it has vanished or has no header yet.

    Raises DamagedFileError, StoreError.
    """
    reading(path)
    try:
        chunk = _core.read_spool(str(path))
    except FileNotFoundError:
        return None
    except _core.SpoolError as error:
        if _is_being_born(path):
            return None
        raise DamagedFileError(str(error), hint="moving it out of the store") from error
    except OSError as error:
        raise StoreError(f"{path}: {said(error)}") from error
    return _segment(chunk)


def _is_being_born(path: Path) -> bool:
    """True if a probe may be about to write the header: an empty file, or the start of one."""
    try:
        with opened(path, TABLE_BYTES) as file:
            begin = file.read(len(_MAGIC))
            young = time.time() - os.fstat(file.fileno()).st_mtime < _BIRTH_S
    except FileNotFoundError:
        return True
    return not begin or (young and _MAGIC.startswith(begin))


def _segment(chunk: _core.SpoolChunk) -> SpoolSegment:
    header, raw, rows = chunk["header"], chunk["columns"], chunk["rows"]
    columns: dict[str, NDArray[Any]] = {
        name: np.frombuffer(data, dtype=_TYPES.get(name, np.int64)) for name, data in raw.items()
    }
    targets = header["targets"]
    which, op = columns["target"].astype(np.intp), columns["op"].astype(np.intp)
    periods = np.array([t["period_ns"] for t in targets], dtype=np.int64)
    sizes = np.array([t["size_bytes"] for t in targets], dtype=np.int64).reshape(len(targets), -1)
    columns["period_ns"] = periods[which]
    columns["size_bytes"] = sizes[which, op]
    columns["seed"] = np.full(rows, header["seed"], dtype=np.uint64)
    columns["host"] = columns["run_id"] = np.zeros(rows, dtype=np.uint16)
    words = {
        "host": [header["host"]],
        "target": [t["name"] for t in targets],
        "op": list(_core.OPS),
        "outcome": list(chunk["outcome_names"]),
        "cache": list(_core.CACHES),
        "run_id": [header["run_id"]],
    }
    return SpoolSegment(SpoolRows(columns, words), header["opened_ns"], chunk["torn"])


def concatenate(parts: Iterable[SpoolRows]) -> SpoolRows | None:
    """Concatenate rows, with their codes mapped to common word lists; None for nothing."""
    some = [part for part in parts if len(part)]
    if not some:
        return None
    columns: dict[str, NDArray[Any]] = {}
    words: dict[str, list[str]] = {}
    for name in some[0].columns:
        pieces = [part.columns[name] for part in some]
        if name in _WORDS:
            pieces, words[name] = _common_codes(pieces, [part.words[name] for part in some])
        columns[name] = np.concatenate(pieces)
    return SpoolRows(columns, words)


def _common_codes(
    codes: Sequence[NDArray[Any]], lists: Sequence[list[str]]
) -> tuple[list[NDArray[Any]], list[str]]:
    """Codes into each list -> codes into one list without repetitions."""
    place: dict[str, int] = {}
    moved = []
    for code, names in zip(codes, lists, strict=True):
        to = np.array([place.setdefault(name, len(place)) for name in names], dtype=np.uint16)
        moved.append(to[code])
    return moved, list(place)


def select(table: str, rows: SpoolRows) -> str:
    """SQL that selects ``rows``, registered as ``table``, with the columns of the samples table."""
    from iosonde.engine.contract import SAMPLE_TYPES, SCHEMA_VERSION

    def column(name: str, kind: str) -> str:
        if name == "schema_version":
            return f"{SCHEMA_VERSION}::{kind} AS {name}"
        if name in _WORDS:
            names = ", ".join(literal(word) for word in rows.words[name])
            return f"([{names}])[{name} + 1] AS {name}"
        if name in _INT64 and name != "due_ns":
            return f"nullif({name}, {NULL_SQL}) AS {name}"
        return f"{name}::{kind} AS {name}"

    return f"SELECT {', '.join(column(*item) for item in SAMPLE_TYPES.items())} FROM {table}"


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''").replace("\0", "") + "'"
