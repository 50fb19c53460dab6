"""Coverage of server activity by one job: coverage factors, contention, traffic of others.

Arrays (n,) or scalars in, the same shape out. Missing is NaN, in and out; a server total of zero covers
nothing and gives NaN. Source: Lockwood et al. 2017 (UMAMI), section on metrics; the limit of 1.2: Lockwood et al. 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from iosonde.model.arrays import Flags, Floats

MOST = 1.2
"""Largest plausible factor: above 1, samples were lost or clocks disagree."""


def coverage(own: ArrayLike, servers: ArrayLike) -> Floats:
    """CF = own / servers, of bytes, operations, opens, stats or node hours (ratio, from 0)."""
    mine, theirs = np.asarray(own, dtype=np.float64), np.asarray(servers, dtype=np.float64)
    with np.errstate(all="ignore"):
        found = mine / theirs
    return np.where((theirs > 0) & (mine >= 0) & np.isfinite(found), found, np.nan)


def over_covered(factor: ArrayLike) -> Flags:
    """True where a coverage factor exceeds what lost samples explain."""
    return np.asarray(factor, dtype=np.float64) > MOST


def contention(factor: ArrayLike) -> Floats:
    """1 - CF (ratio). Slightly below 0 for lost samples: a clipped value would distort correlations.

    NaN where the job did far more than the servers saw: what others did beside it is not known.
    """
    left = np.asarray(1.0 - np.asarray(factor, dtype=np.float64))
    return np.where(over_covered(factor), np.nan, left)


def others(own: ArrayLike, servers: ArrayLike) -> Floats:
    """Amount that the servers did for others: servers - own, at least 0."""
    left = np.asarray(servers, dtype=np.float64) - np.asarray(own, dtype=np.float64)
    return np.where(np.isnan(left), np.nan, np.maximum(left, 0.0))


def others_seen(own: ArrayLike, servers: ArrayLike) -> Floats:
    """As ``others``, but NaN where the servers saw far less than the job did."""
    mine, theirs = np.asarray(own, dtype=np.float64), np.asarray(servers, dtype=np.float64)
    return np.where(mine > MOST * theirs, np.nan, others(mine, theirs))


def per_second(amount: ArrayLike, duration_s: ArrayLike) -> Floats:
    """A rate over the run; NaN for a duration of zero."""
    seconds = np.asarray(duration_s, dtype=np.float64)
    with np.errstate(all="ignore"):
        rate = np.asarray(amount, dtype=np.float64) / seconds
    return np.where(seconds > 0, rate, np.nan)


def node_hours(nodes: ArrayLike, duration_s: ArrayLike) -> Floats:
    """Node hours: nodes x hours."""
    return np.asarray(nodes, dtype=np.float64) * np.asarray(duration_s, dtype=np.float64) / 3600


def monitor_down(own_bytes: ArrayLike, server_bytes: ArrayLike) -> Flags:
    """True where servers report no bytes although the job moved some."""
    mine, theirs = np.asarray(own_bytes), np.asarray(server_bytes)
    return np.asarray((mine > 0) & (theirs == 0), dtype=np.bool_)
