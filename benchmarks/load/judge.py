"""What attribution says of a generated week against its truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.shares import shares

if TYPE_CHECKING:
    from benchmarks.load.week import Made
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
