"""Clustering of jobs by the kind of their I/O, for unnamed jobs and to check names.

Features are ``feature_*`` columns as they are; without any, logarithms of what each job did (``own_*`` amounts and
all others whose role is "own"), and what share of its bytes it read and of its operations it opened files with.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.clusters import (
    UNCLUSTERED,
    Clusters,
    adjusted_rand,
    clusters,
    log_amounts,
    log_percent,
)
from iosonde.jobs.table.sizes import sized
from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints, Texts
    from iosonde.model.jobs import JobTable


FEATURE = "feature_"
KNOWN_SHARE = 0.5
"""Least share of jobs with a feature for its use: a job without a feature stays unclustered."""
SHARES = (("own_read_bytes", "own_written_bytes"), ("own_reads", "own_writes", "own_opens"))
"""Amounts that are parts of a whole: their shares are features too."""
_AMOUNTS = ("bytes", "operations", "files", "")


@dataclass(frozen=True)
class MotifCluster:
    """Similar jobs. ``motif``: the most common name of the named ones ("" for none), ``share`` of them.

    ``named``: how many have a name; ``typical``: medians of the amounts (feature name -> value) of all of them.
    """

    n: int
    named: int
    motif: str
    share: float
    motifs: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Motifs:
    """Clusters of the jobs of a table. ``label`` (jobs,), ``UNCLUSTERED`` for none; ``features``: their names.

    ``suggested`` (jobs,): the motif of the cluster's named jobs, for all of its jobs; "" where there is none.
    ``agreement``: adjusted Rand index with known motifs over jobs that have both, ``compared`` of them; NaN below two
    motifs. ``agreement_all`` counts the unclustered as one more cluster.
    """

    features: tuple[str, ...]
    label: Ints
    clusters: tuple[MotifCluster, ...]
    unclustered: float
    suggested: Texts
    agreement: float
    agreement_all: float
    compared: int

    @property
    def unnamed(self) -> int:
        """Number of unnamed jobs in a cluster with a suggested motif."""
        return int(np.count_nonzero(self.suggested != ""))


def motifs(table: JobTable, smallest: int | None = None) -> Motifs:
    """Cluster the jobs of ``table``; ``smallest``: least number of jobs in a cluster.

    Missing data: a job without one of the features stays unclustered. Raises UsageError: no features.
    """
    table = sized(table)
    names, features = features_of(table)
    found = clusters(features, smallest)
    known = table.motif != ""
    both = known & (found.label != UNCLUSTERED)
    several = len(set(table.motif[known].tolist())) > 1
    nan = float("nan")
    names_of = table.motif.astype(str)
    made = tuple(_cluster(table.motif[found.label == k]) for k in range(len(found.sizes)))
    return Motifs(
        names,
        found.label,
        made,
        found.unclustered,
        _suggested(found, made),
        adjusted_rand(names_of[both], found.label[both]) if several else nan,
        adjusted_rand(names_of[known], found.label[known]) if several else nan,
        int(np.count_nonzero(both)),
    )


def features_of(table: JobTable) -> tuple[tuple[str, ...], Floats]:
    """Names and values (jobs, features) for the comparison of jobs. Raises UsageError: there are none."""
    given = {n: column for n, column in table.metrics.items() if n.startswith(FEATURE)}
    found = {n: column for n, column in given.items() if _known(column)}
    if not found:
        for name, column in table.metrics.items():
            about = table.about(name)
            if about.role != "own" or about.unit not in _AMOUNTS or about.group == "quality":
                continue
            if _known(column):
                found[f"log {about.label}"] = log_amounts(column)
        for parts in SHARES:
            some = [n for n in parts if n in table.metrics and _known(table.metrics[n])]
            if len(some) > 1:
                shares = log_percent(np.column_stack([table.metrics[n] for n in some]))
                labels = [f"share of {table.about(n).label}" for n in some]
                found.update(zip(labels, shares.T, strict=True))
    moving = {n: c for n, c in found.items() if np.nanmin(c) < np.nanmax(c)}
    if not moving:
        raise UsageError(
            f"{table.source or 'the table'} has no I/O metrics of jobs to cluster",
            expected="columns such as own_read_bytes, own_writes, own_opens, or feature_*",
        )
    return tuple(moving), np.column_stack(list(moving.values()))


def _known(column: Floats) -> bool:
    return bool(np.isfinite(column).mean() >= KNOWN_SHARE) if len(column) else False


def _cluster(names: Texts) -> MotifCluster:
    counts = Counter(name for name in names.tolist() if name)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = sum(counts.values())
    motif, n = most[0] if most else ("", 0)
    return MotifCluster(len(names), named, motif, n / named if named else 0.0, tuple(most))


def _suggested(found: Clusters, made: tuple[MotifCluster, ...]) -> Texts:
    names = np.full(len(found.label), "", dtype=object)
    for label, cluster in enumerate(made):
        names[found.label == label] = cluster.motif
    return names
