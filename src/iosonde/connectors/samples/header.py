"""Columns of a table with one row per operation: time, operation, latency; and the missing ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lines import shown
from iosonde.connectors.tables.records import delimiter_of
from iosonde.model.errors import InputFileError

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Unit suffix of names -> ns."""
_TIMES = {
    "began": ("began", "begin", "start", "started", "start_time", "time", "timestamp", "ts"),
    "due": ("due", "scheduled", "intended"),
    "ended": ("ended", "end", "finished", "end_time"),
}
"""Columns of instants: with a unit, or clock times, or numbers that are an instant in one unit only."""
_SPANS = {
    "latency": ("latency", "lat", "duration", "runtime", "elapsed", "took"),
    "period": ("period",),
    "control_runq": ("control_runq",),
}
"""Columns of durations: the name must have the unit."""
_WORDS = {
    "op": ("op", "operation"),
    "outcome": ("outcome", "result", "status", "errno"),
    "host": ("host", "hostname", "node", "client"),
    "target": ("target", "mount", "file_system", "filesystem"),
    "run_id": ("run_id", "run"),
    "cache": ("cache",),
    "size_bytes": ("size_bytes", "bytes", "size"),
    "offset_bytes": ("offset_bytes", "offset"),
    "seed": ("seed",),
    "schema_version": ("schema_version",),
}


class RoleColumn(NamedTuple):
    """Position of a column, and its unit in ns; None if the name has none."""

    place: int
    unit: int | None = None


class SampleColumns(NamedTuple):
    """Meaning of the columns of a table."""

    roles: dict[str, RoleColumn]
    """By role: ``began``, ``op``, ``latency`` ..."""
    others: tuple[str, ...]
    """Names of ignored columns."""
    missing: tuple[str, ...]
    """Clauses on missing columns; empty if the table is one of samples."""
    says_latency: bool = False
    """True if a column has such a name, with a unit or without."""

    @property
    def near(self) -> bool:
        """True if it looks like a table of samples with a column missing."""
        timed = bool({"began", "due"} & self.roles.keys())
        lasting = self.says_latency or bool({"latency", "ended"} & self.roles.keys())
        likely = timed or lasting if "op" in self.roles else timed and self.says_latency
        return bool(self.missing) and likely


def columns_of(names: Sequence[str]) -> SampleColumns:
    """Columns by their names. Case, blanks and brackets do not matter: ``Latency [ms]``."""
    plain = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in names]
    roles: dict[str, RoleColumn] = {}
    unitless = ""
    for role, words in (*_TIMES.items(), *_SPANS.items(), *_WORDS.items()):
        bare = role not in _SPANS
        for word in words:
            if role in roles:
                break
            if bare and word in plain:
                roles[role] = RoleColumn(plain.index(word))
            elif role not in _WORDS:
                found = next((unit for unit in UNITS if f"{word}_{unit}" in plain), None)
                if found is not None:
                    roles[role] = RoleColumn(plain.index(f"{word}_{found}"), UNITS[found])
                elif role == "latency" and word in plain and not unitless:
                    unitless = names[plain.index(word)]
    used = {column.place for column in roles.values()}
    others = tuple(name for place, name in enumerate(names) if place not in used)
    says = any(name.split("_")[0] == "latency" for name in plain)
    return SampleColumns(roles, others, tuple(_missing(roles, unitless)), says)


def columns_in(header: str) -> SampleColumns:
    """Columns by the first line of a table; none of JSON."""
    if header.lstrip()[:1] in ("{", "["):
        return columns_of(())
    names = header.split(delimiter_of(header))
    return columns_of([name.strip().strip('"') for name in names])


def _missing(roles: dict[str, RoleColumn], unitless: str) -> list[str]:
    missing = []
    if "began" not in roles:
        missing.append("there is no column of the begin (time, began_ns)")
    if "op" not in roles:
        missing.append("there is no column op")
    if unitless and "ended" not in roles and "latency" not in roles:
        missing.append(f"the column {shown(unitless)} has no unit (latency_us, latency_ms)")
    elif not {"latency", "ended"} & roles.keys():
        missing.append("there is no column of the latency (latency_us) or the end (ended_ns)")
    return missing


def lacking(path: Path, found: SampleColumns) -> InputFileError:
    """Error that names the missing columns."""
    return InputFileError(
        f"{path} looks like a table of samples, but {'; '.join(found.missing)}",
        expected="the columns time, op and latency_us (docs/importing.md)",
    )
