"""Columns as numpy arrays by name, and pandas if installed.

One rule for all of them: an instant ``start_ns`` of the store is ``start`` here, datetime64[ns] in UTC; everything else
keeps its name, whose last word is its unit. Missing is NaT, NaN or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import MissingPartError
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.json_types import as_json

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    Columns = dict[str, NDArray[Any]]

INSTANTS = (
    *("due_ns", "began_ns", "ended_ns", "start_ns", "end_ns"),
    *("at_ns", "earliest_ns", "latest_ns", "first_ns", "last_ns", "peak_ns"),
)
"""int64 columns that are instants, in any table; others ending in ``_ns`` are durations."""


def instants(ns: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Instants (n,) as datetime64: ``NULL_NS`` and NaT are the same bits."""
    return np.ascontiguousarray(ns, dtype=np.int64).view("datetime64[ns]")


def texts(values: NDArray[Any]) -> NDArray[np.object_]:
    """Texts (n,) with None for missing ones."""
    found = np.empty(len(values), dtype=object)
    found[:] = [str(value) or None for value in values.tolist()]
    return found


def of_frame(frame: Frame) -> Columns:
    """Columns of a frame; blocks of several numbers per row are left out."""
    found: Columns = {}
    for name, column in frame.columns.items():
        if column.ndim > 1:
            continue
        if name in INSTANTS:
            found[name.removesuffix("_ns")] = instants(column)
        elif column.dtype == np.int64 and (column == NULL_NS).any():
            found[name] = np.where(column == NULL_NS, np.nan, column)
        else:
            found[name] = column
    return found


def of_records(records: Iterable[Mapping[str, Any]], names: Sequence[str]) -> Columns:
    """A column for each of ``names`` from rows that have them; None = missing."""
    rows = list(records)
    found: Columns = {}
    for name in names:
        values = [row[name] for row in rows]
        if name in INSTANTS:
            whole = [NULL_NS if value is None else value for value in values]
            found[name.removesuffix("_ns")] = instants(np.array(whole, dtype=np.int64))
        else:
            found[name] = _column(values)
    return found


def plain_rows(columns: Columns) -> list[dict[str, Any]]:
    """A record a row, of plain data: instants as ISO 8601 in UTC, None where a value is missing."""
    plain = {
        name: [None if text == "NaT" else f"{text}Z" for text in np.datetime_as_string(column)]
        if column.dtype.kind == "M"
        else as_json(column)
        for name, column in columns.items()
    }
    return [dict(zip(plain, cells, strict=True)) for cells in zip(*plain.values(), strict=True)]


def _column(values: list[Any]) -> NDArray[Any]:
    """Numbers as numbers, with NaN; others as objects, lists as text."""
    known = [value for value in values if value is not None]
    if values and not known:
        return np.full(len(values), np.nan)
    if known and all(isinstance(value, bool) for value in known) and len(known) == len(values):
        return np.array(values, dtype=np.bool_)
    if known and all(isinstance(value, int | float) and value is not True for value in known):
        if len(known) == len(values) and all(isinstance(value, int) for value in known):
            return np.array(values, dtype=np.int64)
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    found = np.empty(len(values), dtype=object)
    found[:] = [", ".join(map(str, v)) if isinstance(v, list | tuple) else v for v in values]
    return found


def pandas() -> Any:
    """Import pandas. Raises MissingPartError: not installed."""
    try:
        import pandas as found  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        raise MissingPartError(
            "data frames need pandas",
            expected="it beside iosonde",
            hint="'pip install pandas', or .columns: the same as numpy arrays",
        ) from error
    return found


def data_frame(columns: Columns) -> DataFrame:
    """Convert to a data frame: instants with their zone (UTC), texts as pandas prefers. Raises MissingPartError."""
    pd = pandas()
    return pd.DataFrame({name: _series(pd, column) for name, column in columns.items()})


def _series(pd: Any, column: NDArray[Any]) -> Any:
    if column.dtype.kind == "M":
        return pd.to_datetime(column, utc=True)
    return column.tolist() if column.dtype == object else column
