"""The slowdown figure as data: what is drawn, in numbers, before anything is drawn.

A figure has one panel an operation. Each panel shows every sample of the range: as points while
there are few of them, else as exact counts on a grid of time and log latency. Nothing is thinned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.analysis.scatter import PER_DECADE
from iosonde.model.frames import Frame, SeriesKey, SlowdownResult, SlowSpan
from iosonde.model.ops import op_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Single samples: due (s since the epoch), latency (s), kind (ok, failed, skipped, pending)."""

    time_s: Floats
    latency_s: Floats
    kind: NDArray[Any]

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass(frozen=True)
class Cells:
    """Counts of ok samples: ``counts[level, column]`` between the edges (s since the epoch, s)."""

    time_edges_s: Floats
    latency_edges_s: Floats
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """Per window: start and end (s since the epoch), latencies (s), slowdown; NaN = missing."""

    start_s: Floats
    end_s: Floats
    median_s: Floats
    lower_s: Floats
    upper_s: Floats
    baseline_s: Floats
    slowdown: Floats


@dataclass(frozen=True)
class Panel:
    """One operation.

    ``points`` holds all samples, or only those that did not end ok when ``cells`` counts the
    others. ``n_without_latency`` samples (pending) have no height to be drawn at.
    """

    key: SeriesKey
    title: str
    points: Points
    cells: Cells | None
    windows: Windows
    spans: list[SlowSpan]
    n: int
    n_without_latency: int


@dataclass(frozen=True)
class FigureData:
    """All panels of one (host, target, period), over one range (s since the epoch)."""

    title: str
    since_s: float
    until_s: float
    panels: list[Panel] = field(default_factory=list)


def slowdown_figure(result: SlowdownResult, samples: Mapping[SeriesKey, Frame]) -> list[FigureData]:
    """One figure a (host, target, period) of ``result``.

    ``samples``: what ``analysis.scatter.scatter`` gives for ``result``.
    """
    figures: dict[tuple[str, str, int], FigureData] = {}
    windows = result.windows
    if len(windows) == 0:
        return []
    since = float(windows["start_ns"].min()) / 1e9
    until = float((windows["start_ns"] + windows["window_ns"]).max()) / 1e9
    if result.query.since_ns is not None:
        since = max(since, result.query.since_ns / 1e9)
    if result.query.until_ns is not None:
        until = min(until, result.query.until_ns / 1e9)
    for key, rows in windows.series():
        place = (key.host, key.target, key.period_ns)
        title = f"{key.target} as seen from {key.host}"
        figure = figures.setdefault(place, FigureData(title, since, until))
        spans = [span for span in result.spans if span.key == key]
        figure.panels.append(_panel(key, windows.take(rows), samples.get(key), spans))
    return list(figures.values())


def _panel(key: SeriesKey, windows: Frame, samples: Frame | None, spans: list[SlowSpan]) -> Panel:
    cells = None
    if samples is None:
        points, n, silent = _no_points(), 0, 0
    elif "level" in samples:
        cells, points, n, silent = _from_cells(samples)
    else:
        points = _from_samples(samples)
        n, silent = len(samples), len(samples) - len(points)
    return Panel(key, op_word(key.op), points, cells, _windows(windows), spans, n, silent)


def _windows(windows: Frame) -> Windows:
    def seconds(name: str) -> Floats:
        return np.asarray(windows[name] / 1e9, dtype=np.float64)

    return Windows(
        start_s=seconds("start_ns"),
        end_s=(windows["start_ns"] + windows["window_ns"]) / 1e9,
        median_s=seconds("q50_ns"),
        lower_s=seconds("q50_lower_ns"),
        upper_s=seconds("q50_upper_ns"),
        baseline_s=seconds("baseline_ns"),
        slowdown=windows["slowdown"],
    )


def _no_points() -> Points:
    return Points(np.empty(0), np.empty(0), np.empty(0, dtype=object))


def _from_samples(samples: Frame) -> Points:
    """Service latency of what ended ok, felt latency of the rest; what has none is left out."""
    outcome = samples["outcome"]
    ok = outcome == "ok"
    latency = np.where(ok, samples["service_ns"], samples["felt_ns"])
    known = ~np.isnan(latency)
    named = np.isin(outcome, ("ok", "skipped", "pending"))
    kind = np.where(named, outcome, "failed")
    return Points(
        samples["due_ns"][known] / 1e9, np.maximum(latency[known], 1.0) / 1e9, kind[known]
    )


def _from_cells(samples: Frame) -> tuple[Cells | None, Points, int, int]:
    """Ok samples as a grid; the others, which must not drown in it, as points at their cells."""
    level, n, kind = samples["level"], samples["n"], samples["kind"]
    silent = int(n[np.isnan(level)].sum())
    ok = (kind == "ok") & ~np.isnan(level)
    odd = (kind != "ok") & ~np.isnan(level)
    heights = 10 ** ((level[odd] + 0.5) / PER_DECADE) / 1e9
    points = Points(samples["start_ns"][odd] / 1e9, heights, kind[odd])
    return _grid(samples.take(ok)), points, int(n.sum()), silent


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
