"""Columns of a table with a row an operation: which is the time, the operation, the latency; what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lines import shown
from iosonde.connectors.tables.records import delimiter_of
from iosonde.model.errors import InputFileError

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Endings of names, in ns."""
_TIMES = {
    "began": ("began", "begin", "start", "started", "start_time", "time", "timestamp", "ts"),
    "due": ("due", "scheduled", "intended"),
    "ended": ("ended", "end", "finished", "end_time"),
}
"""Instants: with a unit, or clock times, or numbers that are an instant in one unit only."""
_SPANS = {
    "latency": ("latency", "lat", "duration", "runtime", "elapsed", "took"),
    "period": ("period",),
    "control_runq": ("control_runq",),
}
"""Lengths of time: the name must have the unit."""
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
    """Where a column is, and its unit in ns; None: the name has none."""

    place: int
    unit: int | None = None


class SampleColumns(NamedTuple):
    """What the columns of a table are."""

    roles: dict[str, RoleColumn]
    """By what they mean: ``began``, ``op``, ``latency`` ..."""
    others: tuple[str, ...]
    """Names of columns that are not read."""
    missing: tuple[str, ...]
    """What a table of samples has and this one does not, a clause each; empty: it is one."""
    says_latency: bool = False
    """Whether a column is called so, with a unit or without."""

    @property
    def near(self) -> bool:
        """Whether it looks like a table of samples that lacks something."""
        timed = bool({"began", "due"} & self.roles.keys())
        lasting = self.says_latency or bool({"latency", "ended"} & self.roles.keys())
        likely = timed or lasting if "op" in self.roles else timed and self.says_latency
        return bool(self.missing) and likely


def columns_of(names: Sequence[str]) -> SampleColumns:
    """What columns of these names are. Case, blanks and brackets do not matter: ``Latency [ms]``."""
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
    """The same of the first line of a table."""
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
    """What a table of samples has and this one does not."""
    return InputFileError(
        f"{path} looks like a table of samples, but {'; '.join(found.missing)}",
        expected="the columns time, op and latency_us (docs/importing.md)",
    )
