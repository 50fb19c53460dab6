"""Rows of many series, put in order once they are all there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.model.frames import Frame, SeriesKey
from iosonde.store.columns import SERIES_KEY

Part = tuple[Sequence[SeriesKey], Mapping[str, Any]]
"""Series, and columns of rows whose column ``id`` says which of them each row is of."""


def key_columns(series: Sequence[SeriesKey], ids: Any) -> dict[str, Any]:
    """The four columns that name the series of each row."""
    return {
        name: np.array(
            [key[place] for key in series], dtype=np.int64 if name == "period_ns" else object
        )[ids]
        for place, name in enumerate(SERIES_KEY)
    }


def in_order(parts: Sequence[Part], window_ns: int) -> Frame:
    """All rows, sorted by series and ``start_ns``, with the series in words and ``window_ns``."""
    series = sorted({key for keys, _ in parts for key in keys})
    place = {key: number for number, key in enumerate(series)}
    ids = np.concatenate(
        [np.array([place[k] for k in keys], dtype=np.intp)[rows["id"]] for keys, rows in parts]
    )
    names = [name for name in parts[0][1] if name != "id"]
    columns = {name: np.concatenate([rows[name] for _, rows in parts]) for name in names}
    order = np.lexsort((columns["start_ns"], ids))
    columns = {name: column[order] for name, column in columns.items()}
    start = {"start_ns": columns.pop("start_ns")}
    window = {"window_ns": np.full(len(order), window_ns, dtype=np.int64)}
    return Frame(key_columns(series, ids[order]) | start | window | columns)
