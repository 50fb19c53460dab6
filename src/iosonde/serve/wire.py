"""Arrays as JSON lists: integers for nanoseconds, null for missing (never NaN, never zero)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def integers(column: NDArray[Any]) -> list[int | None]:
    """Nanoseconds or counts, rounded to integers.

    Missing: NaN of a float column, ``NULL_NS`` of an int column.
    """
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        values = np.where(missing, 0.0, column).round().astype(np.int64)
    else:
        missing = column == NULL_NS
        values = column
    return _with_nulls(values.tolist(), missing)


def ratios(column: NDArray[np.float64]) -> list[float | None]:
    """Slowdowns with five significant digits; more would only be noise on the wire."""
    missing = ~np.isfinite(column)
    values = [float(f"{value:.5g}") for value in np.where(missing, 0.0, column).tolist()]
    return _with_nulls(values, missing)


def flags(column: NDArray[np.bool_]) -> list[bool]:
    """Truth values."""
    values: list[bool] = column.tolist()
    return values


def words(column: NDArray[Any]) -> list[str]:
    """Words such as outcomes."""
    values: list[str] = column.tolist()
    return values


def dumps(value: Any) -> bytes:
    """Encode compact JSON. Raises ValueError for a NaN, which is not JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _with_nulls(values: list[Any], missing: NDArray[np.bool_]) -> list[Any]:
    if not missing.any():
        return values
    for index in np.flatnonzero(missing).tolist():
        values[index] = None
    return values
