"""Lossless conversion of rows of runs to JSON lines and to columns, and back.

A line or a value may be foreign: what is no row raises ValueError that says what was wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.engine.contract import RUN_TYPES
from iosonde.engine.lines import signed, verify
from iosonde.engine.versions import other_version
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.runs import RunRow

SCHEMA_VERSION = 3
_SINCE_3 = dict.fromkeys(("sustained_bytes_per_s", "first_bytes_per_s", "last_bytes_per_s"))
OLDER_NAMES: dict[int, dict[str, str | None]] = {
    2: _SINCE_3,
    1: {"repetition": "iteration", "measurement": "repeat", **_SINCE_3},
}
"""Old names of columns in readable older versions; None: the column did not exist."""
_COLUMNS = [name for name in RUN_TYPES if name != "schema_version"]
_OBJECTS = ("outcomes", "parameters", "machine")
_NEEDED = frozenset(
    ("run_id", "source", "instrument", "host", "target", "backend", "pattern", "phase")
) | {"repetition", "waiting_factor", "measurement", "complete", "parameters"}


def to_line(row: RunRow) -> bytes:
    """A row as JSON with a newline; missing values and NaN are left out."""
    values = {name: getattr(row, name) for name in _COLUMNS}
    kept = {name: value for name, value in values.items() if not _missing(value)}
    text = json.dumps({"schema_version": SCHEMA_VERSION, **kept}, default=_plain)
    return signed(text).encode() + b"\n"


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _plain(value: Any) -> Any:
    """Convert numpy's numbers."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a row cannot hold {type(value).__name__}")


def from_line(line: bytes) -> RunRow:
    """Parse the row of a line. Raises ValueError."""
    verify(line)
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON, expected a row of a run") from error
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object, expected a row of a run")
    return from_values(raw)


def from_values(raw: Mapping[str, Any]) -> RunRow:
    """Row from values by column; objects may be JSON text. Raises ValueError."""
    older = _older_names(raw.get("schema_version"))
    stored = {name: older.get(name, name) for name in _COLUMNS}
    values: dict[str, Any] = {
        n: None if old is None else _value(n, raw.get(old)) for n, old in stored.items()
    }
    missing = sorted(name for name in _NEEDED if values[name] is None)
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return RunRow(**values)


def from_columns(values: Sequence[Any]) -> RunRow:
    """Row from values in the order of ``RUN_TYPES``, of its types and finite. Raises ValueError."""
    _older_names(values[0])
    row = dict(zip(_COLUMNS, values[1:], strict=True))
    for name in _OBJECTS:
        row[name] = None if row[name] is None else _object(name, row[name])
    missing = sorted(name for name in _NEEDED if row[name] is None)
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return RunRow(**row)


def _older_names(version: object) -> dict[str, str | None]:
    """Old names of a version's columns that differ from this one's. Raises ValueError for an unknown version."""
    if version == SCHEMA_VERSION:
        return {}
    for older, names in OLDER_NAMES.items():
        if version == older:
            return names
    raise ValueError(other_version(version, SCHEMA_VERSION))


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _OBJECTS:
        return _object(name, value)
    kind = RUN_TYPES[name]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "VARCHAR" and isinstance(value, str):
        return value
    if kind == "BOOLEAN" and isinstance(value, bool):
        return value
    if kind == "DOUBLE" and number and math.isfinite(value):
        return float(value)
    bits = 31 if kind == "INTEGER" else 63
    if kind in ("INTEGER", "BIGINT") and number and isinstance(value, int):
        if -(2**bits) < value < 2**bits:
            return value
        raise ValueError(f"{name} is {value}, which is too large")
    raise ValueError(f"{name} is {str(value)[:40]!r}, expected {kind}")


def _object(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name} is not JSON") from error
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    if name == "outcomes" and not all(type(n) is int for n in value.values()):
        raise ValueError("outcomes are not counts")
    return value


def frame_of(rows: Sequence[RunRow]) -> Frame:
    """Rows as columns of runs.toml, in their order: missing is ``NULL_NS``, NaN or None."""
    columns: dict[str, Any] = {"schema_version": np.full(len(rows), SCHEMA_VERSION, np.uint8)}
    for name in _COLUMNS:
        values = [getattr(row, name) for row in rows]
        kind = RUN_TYPES[name]
        if kind == "DOUBLE":
            columns[name] = np.array([np.nan if v is None else v for v in values], np.float64)
        elif kind in ("BIGINT", "INTEGER"):
            columns[name] = np.array([NULL_NS if v is None else v for v in values], np.int64)
        elif kind == "BOOLEAN":
            columns[name] = np.array(values, dtype=np.bool_)
        else:
            if name in _OBJECTS:
                values = [None if v is None else json.dumps(v, default=_plain) for v in values]
            columns[name] = np.array(values, dtype=object)
    return Frame(columns)
