"""What is usual: the guarded baseline, learned from intervals that were not slow themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core
from iosonde.model.frames import EpochChange
from iosonde.model.slowdown import (
    TRIPLE_COLUMNS,
    VERSION_WIDTH,
    Baseline,
    Intervals,
    JudgedIntervals,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.frames import SeriesKey

STAGES = tuple(_core.STAGES)
"""Names of the stages: learning (below an hour), early (6 h), provisional (3 d), reliable."""


def guard(
    intervals: Intervals, reference: Mapping[SeriesKey, Floats] | None = None
) -> JudgedIntervals:
    """Judge every interval against what was expected before it, and learn from it unless it was slow.

    Shape: (rows,) -> (rows,). Unit: ratios; latencies of versions in ns.
    ``reference``: the expectation (38 numbers) of each series that climate compares with; by default the first
    epoch's once it is reliable.
    Missing data: NaN while learning and where there are too few rows for an interval.
    Source: docs/methods/slowdown.md; computed by the native core as the live probe does.
    """
    given = None
    if reference is not None:
        nothing = np.full(VERSION_WIDTH, np.nan)
        rows = [reference.get(key, nothing) for key in intervals.keys]
        given = np.ascontiguousarray(np.concatenate([*rows, np.empty(0)]), dtype=np.float64).data
    raw = _core.guard(
        np.ascontiguousarray(intervals.first, dtype=np.int64).data,
        (
            np.ascontiguousarray(intervals.start_ns, dtype=np.int64).data,
            np.ascontiguousarray(intervals.n_due, dtype=np.int64).data,
            np.ascontiguousarray(intervals.n_lost, dtype=np.int64).data,
        ),
        intervals.service.buffers(),
        intervals.response.buffers(),
        given,
    )
    columns: dict[str, NDArray[np.generic]] = {name: _floats(raw[name]) for name in TRIPLE_COLUMNS}
    columns |= {"stage": _integers(raw["stage"]), "epoch": _integers(raw["epoch"])}
    columns["flagged"] = _integers(raw["flagged"]).astype(np.bool_)
    baselines = _baselines(intervals, raw)
    changes = [one for one in _changes(intervals, raw) if _is_told(one, baselines[one.key])]
    return JudgedIntervals(intervals, columns, baselines, changes)


def _baselines(intervals: Intervals, raw: Mapping[str, bytes]) -> dict[SeriesKey, Baseline]:
    numbers = _floats(raw["versions"]).reshape(-1, VERSION_WIDTH)
    edges = np.searchsorted(_integers(raw["version_series"]), np.arange(len(intervals.keys) + 1))
    columns = [_integers(raw[f"version_{name}"]) for name in ("from_ns", "stage", "epoch")]
    climate = _floats(raw["version_climate"])
    found = {}
    for place, key in enumerate(intervals.keys):
        rows = slice(int(edges[place]), int(edges[place + 1]))
        from_ns, stage, epoch = (column[rows] for column in columns)
        found[key] = Baseline(key, from_ns, numbers[rows], stage, epoch, climate[rows])
    return found


def _changes(intervals: Intervals, raw: Mapping[str, bytes]) -> list[EpochChange]:
    names = ("series", "epoch", "began_ns")
    series, epoch, began = (_integers(raw[f"change_{name}"]).tolist() for name in names)
    factors = _floats(raw["change_factor"]).tolist()
    return [
        EpochChange(intervals.keys[place], number, start, factor)
        for place, number, start, factor in zip(series, epoch, began, factors, strict=True)
    ]


def _is_told(change: EpochChange, baseline: Baseline) -> bool:
    """Whether a lasting change is more than a processor takes to wake."""
    after = baseline.middle_ns(np.flatnonzero(baseline.epoch >= change.epoch)[:1])
    return not bool(np.any(np.abs(after - after / change.factor) <= _core.FLOOR_NS))


def _floats(raw: bytes) -> Floats:
    return np.frombuffer(raw, dtype=np.float64)


def _integers(raw: bytes) -> Ints:
    return np.frombuffer(raw, dtype=np.int64)
