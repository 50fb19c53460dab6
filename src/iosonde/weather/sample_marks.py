"""Samples of one series, single or counted, as marks: numbers to draw from ``weather.samples_to_draw``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.drawing.marks import Cells, Points, no_points
from iosonde.model.frames import Frame
from iosonde.weather.samples_to_draw import COLUMNS, PER_DECADE

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


class Drawn(NamedTuple):
    """All samples of a series.

    ``points`` holds all of them, or only those that did not end ok when ``cells`` counts the others.
    ``silent`` of the ``n`` samples (pending) have no latency, so no height to be drawn at.
    """

    cells: Cells | None
    points: Points
    n: int
    silent: int


def drawn(samples: Frame | None) -> Drawn:
    """Marks of a series; empty for None. Values are seconds."""
    if samples is None:
        return Drawn(None, no_points(), 0, 0)
    if "level" in samples:
        return _from_cells(samples)
    points = _from_samples(samples)
    return Drawn(None, points, len(samples), len(samples) - len(points))


def _from_samples(samples: Frame) -> Points:
    """Service time of successful operations, response time of others; missing ones are left out.

    What ended ok but was held up has its service time like the others: one quantity a plot.
    """
    outcome = samples["outcome"]
    ok = outcome == "ok"
    latency = np.where(ok, samples["service_ns"], samples["response_ns"])
    known = ~np.isnan(latency)
    named = np.isin(outcome, ("ok", "skipped", "pending"))
    kind = np.where(named, outcome, "failed")
    return Points(
        samples["due_ns"][known] / 1e9, np.maximum(latency[known], 1.0) / 1e9, kind[known]
    )


def _from_cells(samples: Frame) -> Drawn:
    """Ok samples as a grid; the others, to stay visible, as points at their cells."""
    level, n, kind = samples["level"], samples["n"], samples["kind"]
    silent = int(n[np.isnan(level)].sum())
    ok = (kind == "ok") & ~np.isnan(level)
    odd = (kind != "ok") & ~np.isnan(level)
    heights = 10 ** ((level[odd] + 0.5) / PER_DECADE) / 1e9
    points = Points(samples["start_ns"][odd] / 1e9, heights, kind[odd])
    return Drawn(_grid(samples.take(ok)), points, int(n.sum()), silent)


def counted(time_s: Floats, value: Floats) -> Cells:
    """Single values as a grid of at most ``COLUMNS`` columns and ``PER_DECADE`` levels a decade.

    Shapes: (samples,) each, at least one; ``value`` above 0.
    """
    level = np.floor(np.log10(value) * PER_DECADE + 1e-9).astype(np.int64)
    low, begin = int(level.min()), float(time_s.min())
    width = max((float(time_s.max()) - begin) / COLUMNS, 1e-9)
    column = np.minimum(((time_s - begin) / width).astype(np.int64), COLUMNS - 1)
    counts = np.zeros((int(level.max()) - low + 1, int(column.max()) + 1), dtype=np.int64)
    np.add.at(counts, (level - low, column), 1)
    times: Floats = begin + width * np.arange(counts.shape[1] + 1, dtype=np.float64)
    edges: Floats = 10.0 ** ((low + np.arange(counts.shape[0] + 1)) / PER_DECADE)
    return Cells(times, edges, counts)


def _grid(ok: Frame) -> Cells | None:
    if len(ok) == 0:
        return None
    starts, level = ok["start_ns"], ok["level"].astype(np.int64)
    width = int(ok["bin_ns"][0])
    column = (starts - starts.min()) // width
    low = int(level.min())
    counts = np.zeros((int(level.max()) - low + 1, int(column.max()) + 1), dtype=np.int64)
    np.add.at(counts, (level - low, column), ok["n"])
    times = (starts.min() + width * np.arange(counts.shape[1] + 1)) / 1e9
    edges = 10 ** ((low + np.arange(counts.shape[0] + 1)) / PER_DECADE) / 1e9
    return Cells(times, edges, counts)
