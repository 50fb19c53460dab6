"""Reads with the concurrent load from a table: CSV, Parquet or JSON lines."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from iosonde.engine.foreign.tables import as_text
from iosonde.model.errors import InputFileError

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.model.arrays import Floats

NEEDED = ("latency_s", "load_per_s")
"""Required columns; ``latency_ns`` may replace ``latency_s``."""
_MOST_WARNINGS = 5


def read_samples(path: Path, warn: Callable[[str], None]) -> tuple[Floats, Floats]:
    """Latencies (s) and loads (operations/s), in the order of the rows.

    A row that cannot be read is left out, and ``warn`` gets its line. Raises InputFileError: no row, no column.
    """
    rows: list[tuple[float, float]] = []
    bad = 0
    with as_text(path) as text:
        try:
            with text.open(newline="", encoding="utf-8", errors="replace") as file:
                reader = csv.DictReader(file)
                name, scale = _latency(path, reader.fieldnames or ())
                for row in reader:
                    try:
                        rows.append((_number(row, name) * scale, _number(row, "load_per_s")))
                    except ValueError as error:
                        bad += 1
                        if bad <= _MOST_WARNINGS:
                            warn(f"{path}, line {reader.line_num}: {error}; skipping the row")
        except (OSError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputFileError(
                f"cannot read {path}: {reason}", expected="a table with a header"
            ) from error
    if bad > _MOST_WARNINGS:
        warn(f"{path}: skipping {bad - _MOST_WARNINGS} more rows")
    if not rows:
        raise InputFileError(f"{path} has no row that can be read", expected=_columns())
    found = np.array(rows, dtype=np.float64)
    return found[:, 0], found[:, 1]


def _latency(path: Path, names: object) -> tuple[str, float]:
    """The column of latencies, and seconds of its unit."""
    has = set(names) if isinstance(names, list | tuple) else set()
    for name, scale in (("latency_s", 1.0), ("latency_ns", 1e-9)):
        if {name, "load_per_s"} <= has:
            return name, scale
    raise InputFileError(f"{path} lacks columns", expected=_columns())


def _columns() -> str:
    return "the columns latency_s (or latency_ns) and load_per_s"


def _number(row: dict[str, str], name: str) -> float:
    text = (row.get(name) or "").strip()
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} = {text[:40]!r} is no number") from None
    if not np.isfinite(value) or value <= 0:
        raise ValueError(f"{name} = {text[:40]} is not above 0")
    return value
