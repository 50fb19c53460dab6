"""Motifs: clusters of jobs with the same kind of I/O, from their counters alone.

Amounts become ``log10(1 + amount)``, parts of a whole ``log10(1 + 100 part / whole)``: an order of magnitude
counts the same everywhere, and a share of 1% is told from none. Then HDBSCAN: clusters are what is denser
than what lies around it; what belongs nowhere is left unclustered, and the share of it is part of the answer.
Sources: Isakov et al. SC 2020 (log and percentage features of jobs); Campello et al. 2013 (HDBSCAN); Hubert and
Arabie 1985 (adjusted Rand index).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints


UNCLUSTERED = -1
SMALLEST = 10
"""Least number of jobs in a cluster."""
SMALLEST_SHARE = 0.01
"""... and at least this share of all."""
CORE = 5
"""Number of neighbours for the density."""


@dataclass(frozen=True)
class Clusters:
    """``label`` (jobs,): cluster from 0, the largest first, or ``UNCLUSTERED``; ``sizes`` (clusters,)."""

    label: Ints
    sizes: Ints

    @property
    def unclustered(self) -> float:
        """Share of jobs outside of all clusters; NaN without jobs."""
        if len(self.label) == 0:
            return float("nan")
        return float(np.mean(self.label == UNCLUSTERED))


def log_amounts(amounts: Floats) -> Floats:
    """Log features of amounts (bytes, operations) of any shape, at least 0. Negative and missing values are NaN."""
    known = np.where(np.isfinite(amounts) & (amounts >= 0), amounts, np.nan)
    features: Floats = np.log10(1 + known)
    return features


def log_percent(parts: Floats) -> Floats:
    """Log features of parts of a whole: (jobs, parts), at least 0, 0 to 2; a job without any is all 0.

    Missing data: a missing part makes the job's features NaN.
    """
    known = np.where(np.isfinite(parts) & (parts >= 0), parts, np.nan)
    largest = known.max(axis=1, keepdims=True, initial=0.0)
    tamed = known / np.where(largest > 0, largest, 1.0)
    whole = tamed.sum(axis=1, keepdims=True)
    features: Floats = np.log10(1 + 100 * tamed / np.where(whole > 0, whole, 1.0))
    return features


def clusters(features: Floats, smallest: int | None = None) -> Clusters:
    """Cluster jobs by ``features`` (jobs, k).

    ``smallest``: jobs of a cluster, at least (otherwise ``SMALLEST`` and ``SMALLEST_SHARE``). Missing data: jobs
    with a feature that is not finite stay unclustered. Too few jobs for a cluster have none.
    """
    n = len(features)
    label = np.full(n, UNCLUSTERED, dtype=np.int64)
    known = np.isfinite(features).all(axis=1)
    size = max(SMALLEST, round(SMALLEST_SHARE * n)) if smallest is None else max(2, smallest)
    if features.shape[1] and np.count_nonzero(known) >= size:
        label[known] = _dense(features[known], size)
    found, counts = np.unique(label[label != UNCLUSTERED], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    renamed = {int(found[old]): new for new, old in enumerate(order)}
    named = np.array([renamed.get(int(one), UNCLUSTERED) for one in label], dtype=np.int64)
    return Clusters(named, counts[order].astype(np.int64))


def _dense(features: Floats, size: int) -> Ints:
    if (features == features[0]).all():
        return np.zeros(len(features), dtype=np.int64)
    from sklearn.cluster import HDBSCAN  # type: ignore[import-untyped, unused-ignore]

    search = HDBSCAN(
        min_cluster_size=size,
        min_samples=min(CORE, size),
        cluster_selection_method="eom",
        allow_single_cluster=True,
        copy=True,
    )
    return np.asarray(search.fit_predict(features), dtype=np.int64)


def adjusted_rand(one: NDArray[np.generic], other: NDArray[np.generic]) -> float:
    """Adjusted Rand index of two labellings (n,): 1 for equal, 0 as by chance; NaN for fewer than two.

    Unclustered things are one more label: leave them out first if they should not count.
    Raises ValueError when the lengths differ.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} and {len(other)} labels; expected as many")
    if len(one) < 2:
        return float("nan")
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    width = int(second.max()) + 1
    _, together = np.unique(first.astype(np.int64) * width + second, return_counts=True)

    def pairs(counts: Ints) -> float:
        return float((counts.astype(np.float64) * (counts - 1) / 2).sum())

    a, b = pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = a * b / (len(one) * (len(one) - 1) / 2)
    most = (a + b) / 2
    return 1.0 if most == expected else (pairs(together) - expected) / (most - expected)
