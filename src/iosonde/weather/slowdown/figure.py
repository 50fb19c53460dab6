"""The slowdown figure as data: what is drawn, in numbers, before anything is drawn.

A figure has one panel an operation. Each panel shows every sample of the range: as points while
there are few of them, else as exact counts on a grid of time and log latency. Nothing is thinned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.marks import Cells, Points
from iosonde.model.frames import Frame, SeriesKey, SlowdownResult, SlowSpan
from iosonde.model.ops import op_word
from iosonde.weather.sample_marks import drawn

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


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
    cells, points, n, silent = drawn(samples)
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
