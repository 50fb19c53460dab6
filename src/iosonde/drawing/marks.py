"""Marks as data: numbers with a position, before anything has a colour.

Times are s since the epoch (float64); values are seconds of latency or ratios of slowdown, as the
panel that holds the mark says. Missing = NaN: a gap in the drawing, never a zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Floats, Ints


@dataclass(frozen=True)
class Points:
    """Single samples: due (s), value, kind (ok, failed, skipped, pending). Shapes (n,)."""

    time_s: Floats
    value: Floats
    kind: NDArray[Any]

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass(frozen=True)
class Cells:
    """Counts of ok samples: ``counts[level, column]`` lies between the edges (s, value)."""

    time_edges_s: Floats
    value_edges: Floats
    counts: Ints

    def coarser(self, most_columns: int) -> Cells:
        """The same samples in at most ``most_columns`` columns: neighbours are added up."""
        width = -(-self.counts.shape[1] // max(1, most_columns))
        if width <= 1:
            return self
        firsts = np.arange(0, self.counts.shape[1], width)
        edges = np.append(self.time_edges_s[firsts], self.time_edges_s[-1])
        return Cells(edges, self.value_edges, np.add.reduceat(self.counts, firsts, axis=1))


@dataclass(frozen=True)
class StepMarks:
    """Values of intervals, with their 95% intervals if known. Shapes (intervals,).

    ``role`` names what it is (``usual``, ``slowdown``, ``mean``, ``q95`` ...) and so its colour.
    """

    role: str
    start_s: Floats
    end_s: Floats
    value: Floats
    lower: Floats | None = None
    upper: Floats | None = None


@dataclass(frozen=True)
class Bars:
    """Boxes of distributions, one per category, top to bottom. Shapes (categories,), NaN = no box.

    A box reaches from q25 to q75 with a line at q50; whiskers end at the last value within 1.5 box
    heights (on the log axis). What lies further out is in ``outlier_*``, shape (outliers,): value,
    category, and how many samples it stands for.
    """

    categories: tuple[str, ...]
    n: Ints
    q25: Floats
    q50: Floats
    q75: Floats
    low: Floats
    high: Floats
    outlier_value: Floats
    outlier_category: Ints
    outlier_n: Ints


BUSY = "host busy"
"""Kind of a slow span that the probing host explains."""


LOAD = "load"
"""Kind of a span with a known load."""


@dataclass(frozen=True)
class Shade:
    """A span of time: a ``phase`` of a benchmark, ``slow``, ``BUSY``, ``LOAD`` or ``burst``.

    ``name``: may be empty.
    """

    kind: str
    start_s: float
    end_s: float
    name: str = ""


@dataclass(frozen=True)
class Strip:
    """A strip of colour below a pane: one ratio an interval, NaN = not known; and of longer ``stretches``
    (start_s, end_s, ratio) the number. Shapes (intervals,).
    """

    name: str
    start_s: Floats
    end_s: Floats
    value: Floats
    stretches: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Level:
    """A constant value: a limit, with its name in the legend."""

    name: str
    value: float


@dataclass(frozen=True)
class RatioMarks:
    """Ratios with their intervals, one per category, top to bottom. Shapes (categories,), NaN = unknown.

    What lies within [1 / ``margin``, ``margin``] counts as the same; ``changed``: shown not to be 1.
    """

    categories: tuple[str, ...]
    value: Floats
    lower: Floats
    upper: Floats
    changed: Flags
    margin: float


@dataclass(frozen=True)
class Dots:
    """Single values over the sheet's named levels: ``place`` 0 is the first of them. Shapes (n,)."""

    place: Floats
    value: Floats


@dataclass(frozen=True)
class LevelLine:
    """A line over the sheet's levels, with its interval if known. Shapes (places,).

    ``role``: ``median`` (measured, with a marker at each level), ``model`` or ``bound``.
    """

    name: str
    role: str
    place: Floats
    value: Floats
    lower: Floats | None = None
    upper: Floats | None = None


@dataclass(frozen=True)
class Curve:
    """A density over latency: ``value`` (s) and density per decade, shapes (points,).

    ``median`` (s) of the ``n`` operations; ``bandwidth`` of the kernel in decades.
    """

    name: str
    value: Floats
    density: Floats
    median: float
    n: int
    bandwidth: float


@dataclass(frozen=True)
class NumberDots:
    """Single values over a number (rank, disk position ...). Shapes (n,). ``role``: write, read, target or slow."""

    name: str
    role: str
    across: Floats
    value: Floats


@dataclass(frozen=True)
class NumberLine:
    """A line over a number. Shapes (points,), NaN is a gap. ``role``: write, read or slow; ``mean`` draws it dashed."""

    name: str
    role: str
    across: Floats
    value: Floats
    mean: bool = False


@dataclass(frozen=True)
class Ruler:
    """Dotted lines at every multiple of ``every`` across, and a ``top`` that the value axis reaches."""

    every: float
    top: float


Mark = (
    Curve
    | Ruler
    | NumberDots
    | NumberLine
    | Dots
    | LevelLine
    | Points
    | Cells
    | StepMarks
    | Strip
    | Bars
    | Shade
    | Level
    | RatioMarks
)


def no_points() -> Points:
    """An empty mark."""
    return Points(np.empty(0), np.empty(0), np.empty(0, dtype=object))
