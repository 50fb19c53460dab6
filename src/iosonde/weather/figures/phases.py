"""Effect of a benchmark's phases on a probe: latencies, and their ratio to the baseline before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iosonde.model.errors import UsageError
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.ops import OF_WINDOW, op_order
from iosonde.weather.figures.distributions import column
from iosonde.weather.figures.intervals import on_grid
from iosonde.weather.samples_to_draw import gather
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store


@dataclass(frozen=True)
class Phased:
    """Series over a range: samples (see ``scatter.gather``), intervals, and expected latency.

    ``intervals``: ``start_ns``, counts and ``value_ns``, the chosen statistic; missing ones are NaN.
    ``expected_ns`` is one number for the whole range, so that a long benchmark is not compared with
    itself; None where nothing is known.
    """

    samples: Frame
    intervals: Frame
    expected_ns: float | None


def phased(
    store: Store, query: SlowdownQuery, since_ns: int, until_ns: int, expected: str = "usual"
) -> dict[SeriesKey, Phased]:
    """Every series with samples in [since, until), in the order of ops (paper: figure 3).

    ``query.window_ns`` and ``query.statistic`` say what the intervals hold. ``expected``: ``usual``
    (the baseline when the range began; the first one after it where it was still learning) or
    ``median`` (of all operations that are stored up to ``until_ns``, as in the paper's section 3.3).
    Raises UsageError.
    """
    if query.statistic not in OF_WINDOW:
        raise UsageError(
            f"there is no statistic {query.statistic!r}", expected="one of " + ", ".join(OF_WINDOW)
        )
    samples = gather(store, query, since_ns, until_ns)
    reference = _medians if expected == "median" else _usual
    known = reference(store, query, since_ns, until_ns)
    windows = store.windows(
        query.window_ns,
        **replace(query, since_ns=since_ns, until_ns=until_ns).which(),
        statistics=[f"{column(query.statistic)}_ns"],
    )
    parts = {key: windows.take(rows) for key, rows in windows.series()}
    first, last = since_ns // query.window_ns, (until_ns - 1) // query.window_ns
    found = {}
    for key, frame in samples.items():
        grid = on_grid(
            parts.get(key, windows.take(slice(0))),
            first * query.window_ns,
            last * query.window_ns,
            query.window_ns,
        )
        value = grid[f"{column(query.statistic)}_ns"]
        found[key] = Phased(frame, grid.with_columns({"value_ns": value}), known.get(key))
    return dict(sorted(found.items(), key=lambda item: (op_order(item[0].op), item[0])))


def _usual(
    store: Store, query: SlowdownQuery, since_ns: int, until_ns: int
) -> dict[SeriesKey, float]:
    """Baseline of the first window of the range with one."""
    asked = SlowdownQuery(
        query.host, query.target, query.ops, since_ns, until_ns, trailing_ns=query.trailing_ns
    )
    windows = analyse(store, asked).windows
    found = {}
    for key, rows in windows.series():
        known = windows["baseline_ns"][rows]
        known = known[~np.isnan(known)]
        if len(known) > 0:
            found[key] = float(known[0])
    return found


def _medians(
    store: Store, query: SlowdownQuery, _since_ns: int, until_ns: int
) -> dict[SeriesKey, float]:
    """Median of all samples stored until the end of the range."""
    boxes, _ = store.boxes(0.0, 1, **replace(query, since_ns=None, until_ns=until_ns).which())
    medians = {key: float(boxes["q50_ns"][rows][0]) for key, rows in boxes.series()}
    return {key: value for key, value in medians.items() if value > 0}
