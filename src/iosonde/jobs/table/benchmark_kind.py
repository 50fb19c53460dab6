"""Kind of a benchmark run, in words: runs with equal words are comparable."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from iosonde.bench.metadata.spec import DEFAULTS, Spec
from iosonde.model.runs import RunRow
from iosonde.model.units import format_option

_LONGEST = 60
"""Most characters of a value; a longer one (injected faults) ends with a checksum of all of it."""
_OF_ONE_RUN = frozenset({"seed", "rows", "max_errors", "give_up"})
"""Parameters without effect on the result."""
_TOLD = frozenset({"ranks", "pattern"})
"""Parameters at the start of the words."""
_LETTERS = {
    "data_sets": "D",
    "objects": "P",
    "iterations": "I",
    "size_bytes": "S",
    "offset": "O",
}
"""Letters of parameters in options and tables (docs/bench-metadata.md)."""
_USUAL: Mapping[str, Any] = asdict(Spec()) | DEFAULTS | {"processes": 1}
"""Defaults, which are omitted. One process is the default: ranks give the parallelism."""


def motif_of(row: RunRow) -> str:
    """``metadata cycle, 4 ranks, P=100, I=50, fsync``: benchmark, ranks, and every parameter with another value.

    Equal for repetitions, different for different parameters, and the same on every machine and day. Parameters of
    other versions are told by their names.
    """
    parts = [f"{row.instrument} {row.pattern}".strip()]
    if row.ranks is not None:
        parts.append("1 rank" if row.ranks == 1 else f"{row.ranks} ranks")
    given = {
        name: value
        for name, value in row.parameters.items()
        if name not in _OF_ONE_RUN | _TOLD and (name not in _USUAL or _USUAL[name] != value)
    }
    if row.pattern == "bulk":
        given.pop("iterations", None)  # nothing iterates
    named = [name for name in _LETTERS if name in given]
    named += sorted(name for name in given if name not in _LETTERS)
    parts += [_said(name, given[name]) for name in named]
    return ", ".join(parts)


def _said(name: str, value: Any) -> str:
    if name in _LETTERS:
        return f"{_LETTERS[name]}={value}"
    words = name.replace("_", " ")
    if value is True:
        return words
    if name.endswith("_ns") and type(value) is int:
        return f"{words.removesuffix(' ns')}={format_option(value)}"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 10]}..{zlib.crc32(text.encode()):08x}"
    return f"{words}={text}"
