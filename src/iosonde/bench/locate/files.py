"""Transfers, rates and topology from tables: CSV, Parquet or JSON lines (docs/locate.md has the columns)."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.engine.foreign.tables import as_text
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS
from iosonde.model.text import clean_text
from iosonde.model.transfers import DIRECTIONS, LEVELS, BinnedRates, Stripes, Topology, Transfers

if TYPE_CHECKING:
    from iosonde.model.arrays import Instants, Ints

Warn = Callable[[str], None]
Row = dict[str, str]
_MOST_WARNINGS = 5
_INSTANTS = (
    "open_begin_ns",
    "open_end_ns",
    "transfer_begin_ns",
    "transfer_end_ns",
    "close_begin_ns",
    "close_end_ns",
)
NEEDED = ("direction", "rank", "bytes", "transfer_begin_ns", "transfer_end_ns")
"""Required columns of the table transfers."""


class _Names:
    """Numbers for names, in order of appearance."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self.number.setdefault(name, len(self.number))


def read_transfers(path: Path, warn: Warn) -> Transfers:
    """All readable rows; ``warn`` gets the place of others. Raises InputFileError: no row, no column."""
    files, hosts, targets = _Names(), _Names(), _Names()
    number: dict[str, list[int]] = {
        name: []
        for name in (*_INSTANTS, "repetition", "direction", "rank", "host", "file", "bytes")
    }
    position: list[float] = []
    stripes: list[list[tuple[int, float]]] = []
    runs = _Names()

    def take(row: Row) -> None:
        parsed = {name: _instant(row, name) for name in _INSTANTS}
        parsed |= {
            "repetition": _whole(row, "repetition", 0),
            "rank": _whole(row, "rank"),
            "bytes": _whole(row, "bytes"),
        }
        parsed["direction"] = _direction(row)
        place = float(row.get("position") or "nan")
        shares = shares_of(row.get("targets") or "")
        host = (row.get("host") or "").strip()
        runs.of(row.get("run_id") or "")
        if len(runs.number) > 1:
            raise ValueError(f"another run, {row.get('run_id')!r}")
        parsed["host"] = hosts.of(host) if host else -1
        parsed["file"] = files.of(row.get("file") or f"rank {parsed['rank']}")
        for name, value in parsed.items():
            number[name].append(value)
        position.append(place)
        stripes.append([(targets.of(name), share) for name, share in shares])

    _each(path, NEEDED, take, warn)
    column = {name: np.array(values, dtype=np.int64) for name, values in number.items()}

    def instants(name: str) -> Instants | None:
        return column[name] if (column[name] != NULL_NS).any() else None

    return Transfers(
        run=next(iter(runs.number)),
        repetition=column["repetition"],
        direction=column["direction"],
        rank=column["rank"],
        host=column["host"],
        file=column["file"],
        bytes=column["bytes"],
        transfer_begin_ns=column["transfer_begin_ns"],
        transfer_end_ns=column["transfer_end_ns"],
        stripes=packed(stripes),
        hosts=tuple(hosts.number),
        files=tuple(files.number),
        targets=tuple(targets.number),
        position=np.array(position) if np.isfinite(position).any() else None,
        open_begin_ns=instants("open_begin_ns"),
        open_end_ns=instants("open_end_ns"),
        close_begin_ns=instants("close_begin_ns"),
        close_end_ns=instants("close_end_ns"),
    )


def read_rates(path: Path, warn: Warn) -> BinnedRates:
    """Bytes in bins by rank. Raises InputFileError as ``read_transfers`` does."""
    names = ("repetition", "direction", "rank", "begin_ns", "bytes")
    number: dict[str, list[int]] = {name: [] for name in names}

    def take(row: Row) -> None:
        parsed = (
            _whole(row, "repetition", 0),
            _direction(row),
            _whole(row, "rank"),
            _whole(row, "begin_ns"),
            _whole(row, "bytes"),
        )
        for name, value in zip(names, parsed, strict=True):
            number[name].append(value)

    _each(path, ("direction", "rank", "begin_ns", "bytes"), take, warn)
    repetition, direction, rank, begin, size = (
        np.array(number[name], dtype=np.int64) for name in names
    )
    return BinnedRates(repetition, direction, rank, begin, size)


def read_topology(path: Path, warn: Warn) -> Topology:
    """Edges ``child,parent,level``; unused levels are reported to ``warn``. Raises InputFileError."""
    parents: dict[str, dict[str, str]] = {}

    def take(row: Row) -> None:
        child, parent, level = (
            (row.get(name) or "").strip() for name in ("child", "parent", "level")
        )
        if level not in LEVELS:
            raise ValueError(f"the level {level!r} is none of {', '.join(LEVELS)}")
        if not child or not parent:
            raise ValueError("a child or parent without a name")
        if parents.get(level, {}).get(child, parent) != parent:
            raise ValueError(f"{child} has another {level} parent above")
        parents.setdefault(level, {})[child] = parent

    _each(path, ("child", "parent", "level"), take, warn)
    return Topology(parents)


def _each(path: Path, needed: tuple[str, ...], take: Callable[[Row], None], warn: Warn) -> None:
    """Pass each row to ``take``; its ValueError becomes a warning with the row's line."""
    good = bad = 0
    for line, row in _rows(path, needed):
        try:
            take(row)
            good += 1
        except (ValueError, TypeError, OverflowError) as error:
            bad += 1
            if bad <= _MOST_WARNINGS:
                warn(f"{path}, line {line}: {clean_text(str(error))}; skipping the row")
    if bad > _MOST_WARNINGS:
        warn(f"{path}: skipping {bad - _MOST_WARNINGS} more rows")
    if not good:
        raise InputFileError(
            f"{path} has no row that can be read", expected=f"the columns {', '.join(needed)}"
        )


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    with as_text(path) as text:
        try:
            with text.open(newline="", encoding="utf-8", errors="replace") as file:
                reader = csv.DictReader(file)
                missing = [name for name in needed if name not in (reader.fieldnames or ())]
                if missing:
                    raise InputFileError(
                        f"{path} has no column {', '.join(missing)}",
                        expected=f"the columns {', '.join(needed)}",
                    )
                for row in reader:
                    yield reader.line_num, row
        except (OSError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputFileError(
                f"cannot read {path}: {reason}", expected="a table with a header"
            ) from error


def _whole(row: Row, name: str, default: int | None = None) -> int:
    text = (row.get(name) or "").strip()
    if not text and default is not None:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, not a whole number") from None
    if not 0 <= value < 2**62:
        raise ValueError(f"{name} is {text}, out of range")
    return value


def _instant(row: Row, name: str) -> int:
    return (
        NULL_NS if not (row.get(name) or "").strip() and name not in NEEDED else _whole(row, name)
    )


def _direction(row: Row) -> int:
    text = (row.get("direction") or "").strip().lower()
    if text not in DIRECTIONS:
        raise ValueError(f"direction is {text!r}, neither write nor read")
    return DIRECTIONS.index(text)


def shares_of(text: str) -> list[tuple[str, float]]:
    """Parse ``OST1;OST2`` to equal shares, or ``OST1=0.75;OST2=0.25``. Raises ValueError."""
    parts = [part.strip().partition("=") for part in text.split(";") if part.strip()]
    if not parts:
        return []
    shares = [float(share) if equals else 1.0 for _, equals, share in parts]
    total = sum(shares)
    if not all(share > 0 for share in shares) or not math.isfinite(total):
        raise ValueError(f"targets are {text!r}, with a share that is no positive number")
    return [
        (name.strip(), share / total) for (name, _, _), share in zip(parts, shares, strict=True)
    ]


def packed(stripes: list[list[tuple[int, float]]]) -> Stripes:
    """Stripes from (target, share) lists of rows."""
    count = np.array([len(one) for one in stripes], dtype=np.int64)
    first: Ints | Instants = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    flat = [entry for one in stripes for entry in one]
    return Stripes(
        first,
        np.array([t for t, _ in flat], dtype=np.int64),
        np.array([s for _, s in flat], dtype=np.float64),
    )
