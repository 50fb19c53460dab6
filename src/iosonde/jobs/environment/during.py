"""Statistics of servers, components and other jobs during one job.

Symbols and units are those of ``docs/umami.md``. Arrays in, numbers out; missing samples are NaN and are left out
of sums and means, and counted. None: there is no sample. Definitions: Lockwood et al., UMAMI, PDSW 2017; pytokio.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants


LAG_NS = 5_000_000_000
"""Time after a job's end in which servers still write its data."""


def rows_of(time_ns: Instants, start_ns: int, end_ns: int) -> slice:
    """Steps of a job: left edges in [start, end + lag]. ``time_ns`` ascends."""
    first = int(np.searchsorted(time_ns, start_ns, "left"))
    return slice(first, int(np.searchsorted(time_ns, end_ns + LAG_NS, "right")))


class Amount(NamedTuple):
    """A delta of all components over the steps: total, mean and largest rate, samples, missing share."""

    total: float
    mean_per_s: float
    max_per_s: float
    n: int
    missing: float


def amount(value: Floats, step_ns: Instants) -> Amount | None:
    """Amount from ``value`` (steps, components), increments per step; None if all are missing."""
    if value.size == 0 or np.isnan(value).all():
        return None
    missing = np.isnan(value)
    sums = np.nansum(value, axis=1)
    seen = ~missing.all(axis=1)
    seconds = step_ns[seen] / 1e9
    rates = sums[seen] / np.where(seconds > 0, seconds, np.nan)
    total, spent = float(sums.sum()), float(seconds.sum())
    known = np.isfinite(rates).any()
    return Amount(
        total,
        total / spent if spent > 0 else float("nan"),
        float(np.nanmax(rates)) if known else float("nan"),
        int(value.size),
        float(missing.mean()),
    )


class State(NamedTuple):
    """A gauge over components and steps: its mean and largest value, samples, missing share."""

    mean: float
    max: float
    n: int
    missing: float


def state(value: Floats) -> State | None:
    """State from ``value`` (steps, components); None if all are missing."""
    known = value[~np.isnan(value)]
    if len(known) == 0:
        return None
    return State(float(known.mean()), float(known.max()), value.size, 1 - len(known) / value.size)


class Fullness(NamedTuple):
    """Used space in percent, of the fullest and emptiest component and of all together."""

    fullest: float
    emptiest: float
    mean: float
    n: int
    missing: float


def fullness(used: Floats, total: Floats) -> Fullness | None:
    """Fullness of components (n,), in any unit: used / total, not ``df``'s used / (used + available)."""
    known = np.isfinite(used) & np.isfinite(total) & (total > 0)
    if not known.any():
        return None
    share = 100 * used[known] / total[known]
    mean = float(100 * used[known].sum() / total[known].sum())
    return Fullness(
        float(share.max()), float(share.min()), mean, len(used), 1 - float(known.mean())
    )


class Failover(NamedTuple):
    """Servers with an unusual number of OSTs: their number, OSTs on them, and so on."""

    servers: int
    osts: int
    osts_percent: float
    osts_per_server: float
    overload_factor: float


def failover(server_of: Mapping[str, str]) -> Failover | None:
    """Failover from OST -> server; usual is the commonest number of OSTs per server (the smaller of several).

    Without an overloaded server, ``osts_per_server`` is 0 and the factor 1. None without an OST.
    """
    if not server_of:
        return None
    carried = Counter(server_of.values())
    often = Counter(carried.values())
    usual = min(often, key=lambda size: (-often[size], size))
    over = [size for size in carried.values() if size > usual]
    osts, servers = sum(over), len(over)
    mean = osts / servers if servers else 0.0
    factor = mean / usual if servers else 1.0
    return Failover(servers, osts, 100 * osts / len(server_of), mean, factor)


class Radius(NamedTuple):
    """Distance of a job's nodes from their centre, in hops."""

    smallest: float
    mean: float
    largest: float
    n: int
    missing: float


def radius(places: Sequence[tuple[float, float, float]], nodes: int) -> Radius | None:
    """Radius from the known coordinates of ``nodes`` nodes: Euclidean distance to their centroid."""
    if not places:
        return None
    points = np.array(places, dtype=np.float64)
    apart = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1))
    smallest, mean, largest = float(apart.min()), float(apart.mean()), float(apart.max())
    return Radius(smallest, mean, largest, len(places), 1 - len(places) / max(nodes, len(places)))


class Concurrency(NamedTuple):
    """Concurrent jobs of a job: number, nodes, and node hours within its time."""

    jobs: int
    nodes: int
    node_hours: float


def concurrency(
    start_ns: Instants, end_ns: Instants, nodes: Instants, begin_ns: int, finish_ns: int
) -> Concurrency:
    """Concurrency from other jobs (n,): those with start < finish and end > begin. Nodes below 0 are unknown: 0."""
    with_it = (start_ns < finish_ns) & (end_ns > begin_ns)
    lasted = np.minimum(end_ns, finish_ns) - np.maximum(start_ns, begin_ns)
    known = np.where(nodes > 0, nodes, 0)
    hours = (lasted * known)[with_it].sum() / 3.6e12
    return Concurrency(int(with_it.sum()), int(known[with_it].sum()), float(hours))
