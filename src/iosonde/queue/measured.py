"""Measured reads with the concurrent load, in groups of similar load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

QUANTILES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
"""Quantiles of latency that a group is compared by."""
GROUPS, LEAST_GROUPS, LEAST_READS = 12, 4, 60
"""Most and fewest groups of load, and fewest reads per group."""
BLOCKS = 8
FLOOR = 0.03
"""Least error of the logarithm of a quantile: the error of the model's own approximations."""


@dataclass(frozen=True)
class ReadGroup:
    """Reads at about one load. ``quantile_s`` of QUANTILES; ``error``: of their logarithms."""

    load_per_s: float
    reads: int
    quantile_s: Floats
    error: Floats


def groups_of(latency_s: Floats, load_per_s: Floats) -> list[ReadGroup]:
    """Groups by load, rising. Shapes (reads,), in order of time; reads without latency or load (NaN) are left out.

    ``load_per_s``: operations of all clients that asked for service in a second, while the read was under way. Raises
    UsageError for too few reads or loads.
    """
    latency, load = (
        np.asarray(latency_s, dtype=np.float64),
        np.asarray(load_per_s, dtype=np.float64),
    )
    if latency.shape != load.shape or latency.ndim != 1:
        raise ValueError("latencies and loads of different shapes")
    good = np.isfinite(latency) & np.isfinite(load) & (latency > 0) & (load > 0)
    latency, load = latency[good], load[good]
    rows = _rows(load)
    found = [_group(latency[row], load[row]) for row in rows if len(row) >= LEAST_READS]
    if len(found) < LEAST_GROUPS:
        raise UsageError(
            f"{len(latency)} reads have {len(found)} groups of different load",
            expected=f"at least {LEAST_GROUPS} groups of {LEAST_READS} reads",
            hint="reads at several loads, from idle to full",
        )
    return found


def _rows(load: Floats) -> list[Ints]:
    """Reads of each group: one per level if levels are few, else of similar loads."""
    levels = np.unique(load)
    if len(levels) <= GROUPS:
        return [np.flatnonzero(load == level) for level in levels]
    order = np.argsort(load, kind="stable")
    return [np.sort(order[begin:end]) for begin, end in _parts(load[order])]


def _parts(load: Floats) -> list[tuple[int, int]]:
    """Split the range of loads recursively at the middle of the widest part. ``load`` ascends.

    Latency bends where the load comes near capacity: a group of loads around it has no one latency.
    """
    parts = [(0, len(load))]
    while len(parts) < GROUPS:
        large = [one for one in parts if one[1] - one[0] >= 2 * LEAST_READS]
        if not large:
            break
        begin, end = max(large, key=lambda one: load[one[1] - 1] - load[one[0]])
        middle = (load[begin] + load[end - 1]) / 2
        cut = begin + int(np.searchsorted(load[begin:end], middle))
        cut = min(max(cut, begin + LEAST_READS), end - LEAST_READS)
        place = parts.index((begin, end))
        parts[place : place + 1] = [(begin, cut), (cut, end)]
    return parts


def _group(latency: Floats, load: Floats) -> ReadGroup:
    logs = np.log(latency)
    blocks = [np.quantile(block, QUANTILES) for block in np.array_split(logs, BLOCKS)]
    error = np.std(blocks, axis=0, ddof=1) / BLOCKS**0.5
    quantiles = np.exp(np.quantile(logs, QUANTILES))
    return ReadGroup(float(load.mean()), len(logs), quantiles, np.hypot(error, FLOOR))
