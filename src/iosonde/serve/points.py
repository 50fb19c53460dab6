"""Single operations, or their exact density, as JSON columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.serve import wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.weather.samples.points import DensityCells, OpPoints

_COLUMNS = ("due_ns", "response_ns", "service_ns", "outcome", "held_up")


def points_json(found: OpPoints | None) -> dict[str, Any]:
    """Members ``points``, ``cells`` and ``n_points`` of an op. None: it has no operations."""
    if found is None:
        return {"points": {name: [] for name in _COLUMNS}, "cells": None, "n_points": 0}
    return {
        "points": None if found.points is None else point_columns(found.points),
        "cells": None if found.cells is None else _cells(found.cells),
        "n_points": found.n,
    }


def point_columns(columns: dict[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """``due_ns response_ns service_ns outcome held_up`` as JSON columns, in the order of the rows."""
    return {
        "due_ns": wire.integers(columns["due_ns"]),
        "response_ns": wire.integers(columns["response_ns"]),
        "service_ns": wire.integers(columns["service_ns"]),
        "outcome": wire.words(columns["outcome"]),
        "held_up": wire.flags(columns["held_up"]),
    }


def _cells(cells: DensityCells) -> dict[str, Any]:
    return {
        "origin_ns": cells.origin_ns,
        "step_ns": cells.step_ns,
        "edges_ns": wire.integers(cells.edges_ns),
        "ok": cells.ok,
        "failed": cells.failed,
        "n_without_latency": cells.n_without_latency,
    }
