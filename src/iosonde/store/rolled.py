"""Window statistics from roll-ups, without a look at any sample.

Counts, means, least and most are exact; quantiles are within 1 %. What depends on more than one
latency of a row (the controls, felt latency) is not in a histogram and is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde import _core
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS, Frame
from iosonde.store.columns import INTERVAL_NS, LEVEL_COLUMNS, WINDOW_COLUMNS, WINDOW_KEY
from iosonde.store.histograms import BUCKETS, Histograms, values_ns
from iosonde.store.picks import LEVELS, NO_LEVEL, TAILS, level_ranks
from iosonde.store.rollups import Rollups, added_up
from iosonde.store.series import key_columns
from iosonde.store.windows import rank_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_NOTHING = BUCKETS
"""Stands for a quantile that is not there, beside the buckets."""


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


def _statistics(found: Rollups, names: Sequence[str], levels: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {name: np.full(len(found), np.nan) for name in names}
    quantiles = [name for name in names if name.startswith("q")]
    ends = [rank_of(name) for name in quantiles]
    several = LEVELS if levels else ()

    def ranks(n: int) -> Ints:
        known = {q: _core.quantile_ranks(n, q) or (0, 0, 0) for q in {q for q, _ in ends}}
        chosen = np.array([known[q][end] for q, end in ends], dtype=np.int64)
        return np.concatenate((chosen, level_ranks(n, several)))

    place = _picked(found.service, ranks)
    values = np.append(values_ns(), np.nan)
    for number, name in enumerate(quantiles):
        columns[name] = values[place[:, number]]
    columns |= {name: of(found) for name, of in _EXACT.items() if name in names}
    return columns | _levels(found, place[:, len(quantiles) :]) if levels else columns


def _levels(found: Rollups, service: NDArray[np.uint16]) -> dict[str, Any]:
    """The block of levels; where response is service its tails are the last two of service's."""
    n = len(found)
    values = np.append(np.rint(values_ns()).astype(np.int64), NO_LEVEL)
    tails = service[:, -3 * len(TAILS) :].copy()
    counts = found.columns["n_seen"].copy()
    others = np.flatnonzero(found.differs)
    if len(others):
        responses = found.other.take(others)
        tails[others] = _picked(responses, lambda n: level_ranks(n, TAILS))
        counts[others] = responses.totals()
    return {
        "levels_ns": values[service].reshape(n, len(LEVELS), 3),
        "response_ns": values[tails].reshape(n, len(TAILS), 3),
        "n_response": counts,
        "n_lost": found.columns["n_lost"],
    }


def _picked(histograms: Histograms, ranks: Callable[[int], Ints]) -> NDArray[np.uint16]:
    """The bucket at each rank (see ``picks.picked``), a row each; ``_NOTHING`` for rank 0."""
    table: dict[int, Ints] = {}
    found = np.empty((len(histograms), len(ranks(0))), dtype=np.uint16)
    for rows, totals, buckets in histograms.blocks():
        sizes, which = np.unique(totals, return_inverse=True)
        for n in sizes.tolist():
            if n not in table:
                table[n] = ranks(n) - 1
        wanted = np.array([table[n] for n in sizes.tolist()])
        place = wanted[which] + (np.cumsum(totals) - totals)[:, None]
        some = buckets if len(buckets) else np.zeros(1, dtype=np.uint16)
        found[rows] = some.take(place, mode="clip")
        missing = wanted < 0
        if missing.any():
            found[rows][missing[which]] = _NOTHING
    return found


def _mean(found: Rollups) -> NDArray[np.float64]:
    seen = found.columns["n_seen"]
    return np.where(seen > 0, found.columns["sum_ns"] / np.maximum(seen, 1), np.nan)


def _end(name: str) -> Callable[[Rollups], NDArray[np.float64]]:
    def of(found: Rollups) -> NDArray[np.float64]:
        column = found.columns[name]
        return np.where(column == NULL_NS, np.nan, column.astype(np.float64))

    return of


_EXACT = {"mean_ns": _mean, "min_ns": _end("min_ns"), "max_ns": _end("max_ns")}
