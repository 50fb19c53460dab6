"""Distributions as boxes: of all operations per series, or of a statistic over many intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.ops import OF_WINDOW, op_order
from iosonde.stats.boxes import LEAST, REACH, Box, box
from iosonde.weather.store import Store


@dataclass(frozen=True)
class SeriesBox:
    """Service times (ns) of the ok operations of a series, and the number due in all."""

    box: Box
    n_due: int


def series_boxes(store: Store, query: SlowdownQuery) -> dict[SeriesKey, SeriesBox]:
    """Exact box of every series of the range, in the order of ops (paper: figure 2)."""
    boxes, outside = store.boxes(REACH, LEAST, **query.which_samples())
    beyond = {key: outside.take(rows) for key, rows in outside.series()}
    found = {
        key: _series_box(boxes.take(rows), beyond.get(key, outside.take(slice(0))))
        for key, rows in boxes.series()
    }
    return dict(sorted(found.items(), key=lambda item: (op_order(item[0].op), item[0])))


def _series_box(row: Frame, outside: Frame) -> SeriesBox:
    n = int(row["n"][0])
    q25, q50, q75, low, high = (
        float(row[f"{name}_ns"][0]) for name in ("q25", "q50", "q75", "low", "high")
    )
    whole = Box(n, q25, q50, q75, low, high, outside["latency_ns"], outside["n"])
    return SeriesBox(whole, int(row["n_due"][0]))


def interval_boxes(intervals: Mapping[SeriesKey, Frame]) -> dict[SeriesKey, dict[str, Box]]:
    """Box of the values over all intervals, for every series and statistic (paper: figure 4).

    ``intervals`` comes from ``weather.figures.intervals``; intervals without the statistic are left out.
    """
    return {
        key: {name: box(np.maximum(frame[f"{column(name)}_ns"], 1.0)) for name in OF_WINDOW}
        for key, frame in intervals.items()
    }


def column(statistic: str) -> str:
    """Stem of a statistic's column."""
    return "q50" if statistic == "median" else statistic
