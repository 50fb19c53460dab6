"""Sorting of rows of many series once all are present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iosonde.engine.contract import SERIES_KEY
from iosonde.model.frames import Frame, SeriesKey

Part = tuple[Sequence[SeriesKey], dict[str, Any]]
"""Series, and columns of rows whose column ``id`` indexes the series."""


def key_columns(series: Sequence[SeriesKey], ids: Any) -> dict[str, Any]:
    """The four columns that name the series of each row."""
    return {
        name: np.array(
            [key[place] for key in series], dtype=np.int64 if name == "period_ns" else object
        )[ids]
        for place, name in enumerate(SERIES_KEY)
    }


def in_order(parts: Sequence[Part], window_ns: int) -> Frame:
    """All rows, sorted by series and ``start_ns``, with the series' names and ``window_ns``.

    Takes the columns out of ``parts``, one after the other: wide ones are there once and a half, not thrice.
    """
    series = sorted({key for keys, _ in parts for key in keys})
    number = {key: place for place, key in enumerate(series)}
    ids = np.concatenate(
        [np.array([number[k] for k in keys], dtype=np.intp)[rows["id"]] for keys, rows in parts]
    )
    start = np.concatenate([rows["start_ns"] for _, rows in parts])
    order = np.lexsort((start, ids))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    places = np.split(place, np.cumsum([len(rows["id"]) for _, rows in parts])[:-1])
    names = [name for name in parts[0][1] if name not in ("id", "start_ns")]
    columns = {name: _placed([rows.pop(name) for _, rows in parts], places) for name in names}
    window = {"window_ns": np.full(len(order), window_ns, dtype=np.int64)}
    return Frame(key_columns(series, ids[order]) | {"start_ns": start[order]} | window | columns)


def _placed(columns: list[Any], places: Sequence[Any]) -> Any:
    """Concatenate pieces of one column, with each row at its place; frees the pieces."""
    kind = np.result_type(*columns)
    whole = np.empty((sum(map(len, columns)), *columns[0].shape[1:]), dtype=kind)
    for rows in reversed(places):
        whole[rows] = columns.pop()
    return whole
