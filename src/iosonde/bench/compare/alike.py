"""Runs with equal parameters, and differences of parameters between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.bench.runs.store import StoredRun
from iosonde.model.runs import RunRow

_NEVER_ALIKE = ("seed", "reported", "digests", "rows")
"""Parameters that differ between any two runs, or have no effect on the result."""


def different_parameters(a: RunRow, b: RunRow) -> list[tuple[str, Any, Any]]:
    """Name and both values of differing parameters; None for a missing value."""
    sides: tuple[Mapping[str, Any], Mapping[str, Any]] = (_asked(a), _asked(b))
    names = [name for name in {**sides[0], **sides[1]} if name not in _NEVER_ALIKE]
    pairs = [(name, sides[0].get(name), sides[1].get(name)) for name in names]
    return [(name, one, other) for name, one, other in pairs if one != other]


def _asked(row: RunRow) -> dict[str, Any]:
    asked = {"target": row.target, "ranks": row.ranks, "pattern": row.pattern, **row.parameters}
    return asked | {"source": row.source}


def others_alike(
    a: StoredRun, b: StoredRun, every: Sequence[StoredRun]
) -> tuple[list[StoredRun], list[StoredRun]]:
    """Runs with the parameters of A or of B, including both, in time order: those nearer to A, those nearer to B.

    What changed between A and B lies between the groups, never within one.
    """
    near_a, near_b = [], []
    for run in sorted(every, key=lambda run: run.first_ns):
        mine = run.rows[0]
        like_a = _alike(mine, a.rows[0]) and run.finished
        like_b = _alike(mine, b.rows[0]) and run.finished
        nearer_a = abs(run.first_ns - a.first_ns) <= abs(run.first_ns - b.first_ns)
        if run.run_id == a.run_id or (like_a and nearer_a and run.run_id != b.run_id):
            near_a.append(run)
        elif run.run_id == b.run_id or (like_b and not nearer_a):
            near_b.append(run)
    return near_a, near_b


def _alike(one: RunRow, other: RunRow) -> bool:
    same = (one.instrument, one.host) == (other.instrument, other.host)
    return same and not different_parameters(one, other)
