"""Window statistics from roll-ups, without reading samples.

Counts, means, least and most are exact, and so are quantiles of ten minutes that one file holds;
other quantiles come from histograms added up and are within 1%. What depends on more than one
latency of a row (the controls, response time) is not in a histogram and is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde import _core
from iosonde.engine.contract import (
    HOST_COLUMNS,
    INTERVAL_NS,
    LEVEL_COLUMNS,
    QUANTILE_COLUMNS,
    WINDOW_COLUMNS,
    WINDOW_KEY,
)
from iosonde.engine.order_statistics import LEVELS, NO_LEVEL, TAILS, rank_of
from iosonde.engine.ordering import key_columns
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS, Frame
from iosonde.weather.rollups.files import IntervalColumns
from iosonde.weather.rollups.histograms import BUCKETS, SummedHistograms, values_ns
from iosonde.weather.rollups.intervals import IntervalParts, Rollups, added_up, take

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


_WORKERS = 4


def rolled_windows(
    found: Rollups,
    window_ns: int,
    statistics: Sequence[str] | None = None,
    *,
    levels: bool = False,
) -> Frame:
    """A window table (see ``Store.windows``) of intervals added up.

    Raises UsageError when ``window_ns`` is no multiple of ten minutes.
    """
    if window_ns <= 0 or window_ns % INTERVAL_NS:
        raise UsageError(
            f"roll-ups have no windows of {window_ns / 1e9:g} s", expected="a multiple of 10 min"
        )
    known = [name for name in WINDOW_COLUMNS if name not in WINDOW_KEY]
    names = [name for name in known if not statistics or name in statistics]
    found = added_up(found, window_ns)
    columns = key_columns(found.series, found.id)
    columns["start_ns"] = found.columns["start_ns"]
    columns["window_ns"] = np.full(len(found), window_ns, dtype=np.int64)
    columns |= {name: found.columns[name] for name in ("n_due", "n_seen")}
    columns |= _statistics(found, names, levels)
    order = (*WINDOW_KEY, *names, *(LEVEL_COLUMNS if levels else ()))
    return Frame({name: columns[name] for name in order})


def wanted(window_ns: int, statistics: Sequence[str] | None, levels: bool) -> IntervalColumns:
    """Roll-up columns needed by ``rolled_windows``."""
    asked = tuple(name for name in QUANTILE_COLUMNS if not statistics or name in statistics)
    short = window_ns == INTERVAL_NS
    service = levels or (len(asked) > 0 and not short)
    return IntervalColumns(asked if short else (), service, response=levels)


def _statistics(found: Rollups, names: Sequence[str], levels: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {name: np.full(len(found), np.nan) for name in names}
    columns |= {name: of(found) for name, of in _EXACT.items() if name in names}
    asked = [name for name in names if name in QUANTILE_COLUMNS]
    known = [name for name in asked if name in found.unsorted.columns]
    columns |= {name: found.unsorted.columns[name][found.order] for name in known}
    exact = found.unsorted.exact[found.order] & (len(known) == len(asked))
    if asked and not exact.all():
        rows = np.flatnonzero(~exact)
        values = _quantiles(take(found.unsorted, found.order[rows]), list(map(rank_of, asked)))
        for name, value in zip(asked, values, strict=True):
            columns[name][rows] = value
    return columns | _levels(found) if levels else columns


def _quantiles(found: IntervalParts, ends: Sequence[tuple[float, int]]) -> list[Floats]:
    """Quantiles and ends of their intervals, one per column; NaN if n is too small for both ends."""
    totals = found.columns["n_seen"]
    sizes, which = np.unique(totals, return_inverse=True)
    before = np.cumsum(totals) - totals
    reached = found.service.reached
    values = np.append(values_ns(), np.nan)

    def column(asked: tuple[float, int]) -> Floats:
        q, end = asked
        ranks = [(_core.quantile_ranks(n, q) or (0, 0, 0))[end] for n in sizes.tolist()]
        rank = np.array(ranks, dtype=np.int64)[which]
        there = np.flatnonzero(rank)
        bucket = np.full(len(totals), BUCKETS)
        bucket[there] = found.service.bucket[np.searchsorted(reached, before[there] + rank[there])]
        found_ns: Floats = values[bucket]
        return found_ns

    with ThreadPoolExecutor(min(os.cpu_count() or 1, _WORKERS)) as pool:
        return list(pool.map(column, ends))


def _levels(found: Rollups) -> dict[str, Any]:
    """Block of levels; response time has its own histogram only where it differs."""
    service = _levels_of(found.unsorted.service)
    tails = service[:, len(LEVELS) :].copy()
    counts = found.unsorted.columns["n_seen"].copy()
    others = np.flatnonzero(found.unsorted.differs)
    if len(others):
        responses = found.unsorted.response.take(others)
        tails[others] = _levels_of(responses)[:, len(LEVELS) :]
        counts[others] = responses.totals()
    return {
        "levels_ns": _whole_ns(service[found.order, : len(LEVELS)]),
        "response_ns": _whole_ns(tails[found.order]),
        "n_response": counts[found.order],
        "n_lost": found.columns["n_lost"],
        **{name: np.full(len(found.order), NO_LEVEL) for name in HOST_COLUMNS},
    }


def _levels_of(histograms: SummedHistograms) -> Floats:
    """(rows, 21, 3): lower, point, upper of ``LEVELS`` and of ``TAILS``, NaN = missing."""
    raw = _core.histogram_levels(histograms.buffers())
    return np.frombuffer(raw["levels"]).reshape(len(histograms), len(LEVELS) + len(TAILS), 3)


def _whole_ns(values: Floats) -> Ints:
    return np.where(np.isnan(values), NO_LEVEL, np.rint(values)).astype(np.int64)


def _mean(found: Rollups) -> Floats:
    seen = found.columns["n_seen"]
    return np.where(seen > 0, found.columns["sum_ns"] / np.maximum(seen, 1), np.nan)


def _end(name: str) -> Callable[[Rollups], Floats]:
    def of(found: Rollups) -> Floats:
        column = found.columns[name]
        return np.where(column == NULL_NS, np.nan, column.astype(np.float64))

    return of


_EXACT = {"mean_ns": _mean, "min_ns": _end("min_ns"), "max_ns": _end("max_ns")}
