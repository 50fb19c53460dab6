"""Operations of jobs in generated weeks: attribution against the truth.

python -m benchmarks load_weeks [--seeds 5] [--phased 0.5]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.load.week import Cluster, generate
from benchmarks.truth.shares import show
from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.shares import shares

if TYPE_CHECKING:
    from benchmarks.truth.load.week import Made
    from iosonde.model.arrays import Flags, Floats

TOP = 10
_ROUNDING = 0.02


class Found(NamedTuple):
    """Of jobs on one kind of node. ``error``: sum of absolute errors over the sum of operations."""

    error: float
    recall: float
    """Of the ten jobs that did most, how many are among the ten that attribution names."""
    bounded: float
    """Of the tenth that did most, how many did what their bounds allow."""


class Verdict(NamedTuple):
    """Both kinds of node."""

    exclusive: Found
    shared: Found


def judge(made: Made) -> Verdict:
    """Join, divide and compare."""
    by_id = {one.who: one for one in shares(join(made.recorded, made.allocations)).ranked}
    rows = [by_id.get(name) for name in made.allocations.job_id]
    said = np.array([(one.ops, one.least, one.most) if one else (0.0, 0.0, 0.0) for one in rows])
    truth = made.of_runs()
    first = made.allocations.node[np.searchsorted(made.allocations.run, np.arange(len(truth)))]
    on_shared = first >= made.exclusive
    return Verdict(_found(said, truth, ~on_shared), _found(said, truth, on_shared))


def _found(said: Floats, truth: Floats, which: Flags) -> Found:
    said, truth = said[which], truth[which]
    named = np.argsort(-said[:, 0])[:TOP]
    large = truth > np.quantile(truth, 0.9)
    within = (said[:, 1] * (1 - _ROUNDING) <= truth) & (truth <= said[:, 2] * (1 + _ROUNDING))
    return Found(
        error=float(np.abs(said[:, 0] - truth).sum() / truth.sum()),
        recall=len({*named.tolist()} & {*np.argsort(-truth)[:TOP].tolist()}) / TOP,
        bounded=float(within[large].mean()),
    )


def main(seeds: int = 5, phased: float = 0.0) -> None:
    """A row a seed: error, recall of the ten largest and share within bounds, on both kinds of node."""
    print(f"196 nodes, 23,500 jobs, 7 days at 30 s; {phased:.0%} in one part of their run\n")
    verdicts = (
        (seed, judge(generate(Cluster(phased=phased), seed))) for seed in range(1, seeds + 1)
    )
    show(
        ("seed", "exclusive: error", "recall", "bounded", "shared: error", "recall", "bounded"),
        ((seed, *(f"{one:.3f}" for found in told for one in found)) for seed, told in verdicts),
    )
