"""Fit of N, M and a service distribution to measured reads and loads, with a test of the model.

``latency = L + N x(load N, M)`` with the quantiles x of ``queue.stationary``; L is what the way to the storage
costs. The same reads are then simulated from what was fitted: where the measured ones lie further from the model than
simulated ones do, the model does not explain them. Source: docs/methods/queue.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.queue.fitted_model import Model
from iosonde.queue.measured import QUANTILES, ReadGroup, groups_of
from iosonde.queue.replicate import simulated_groups
from iosonde.queue.stationary import FAMILIES, latency_quantiles

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

REPLICATES = 12
"""Simulations of the fitted model that give the distances of its own reads."""
REFUSED, SLACK = 1.5, 0.2
"""Rejection limit: so many times the largest simulated distance, plus a slack."""
FULL = 1.05
"""Load times N above which a group shows the length of the queue."""
UNSEEN = 1_000_000.0
"""M of a queue that was never full."""
_STARTS = 20
_OUTLIER = 6.0
_MOST, _AGAIN = 120, 60
"""Most models that Nelder and Mead's method tries; fewer if started at a fit."""
_HOPELESS = 6.0
"""Multiple of the best starting cost above which a family is dropped."""


@dataclass(frozen=True)
class QueueFit:
    """A model and its goodness of fit.

    ``distance``: mean squared difference of quantiles from those of simulations of the model, in standard errors;
    ``usual``: that of each simulation, ascending; ``explained`` compares both. ``worst``: group and quantile that
    differ most. ``full``: whether reads met a full queue, without which M is not identifiable. ``others``: models
    fitted to the simulations, for intervals.
    """

    model: Model
    groups: list[ReadGroup]
    distance: float
    usual: list[float]
    explained: bool
    worst: tuple[int, int]
    full: bool
    others: list[Model]


def fit(latency_s: Floats, load_per_s: Floats, seed: int = 1, intervals: bool = True) -> QueueFit:
    """Fit and judge; without ``intervals`` no model is fitted to simulations. Raises UsageError."""
    groups = groups_of(latency_s, load_per_s)
    model = fitted(groups)
    every = [simulated_groups(model, groups, seed + replicate) for replicate in range(REPLICATES)]
    logs = np.array([[np.log(group.quantile_s) for group in made] for made in every])
    error = np.array([group.error for group in groups])
    measured = np.array([np.log(group.quantile_s) for group in groups])
    off = (measured - logs.mean(axis=0)) / error
    distance = _distance(off)
    # Each simulation against the mean of the others.
    usual = [
        _distance((one - np.delete(logs, place, axis=0).mean(axis=0)) / error)
        for place, one in enumerate(logs)
    ]
    others = [_polished(model, made, _AGAIN) for made in every] if intervals else []
    worst = np.unravel_index(int(np.argmax(np.abs(off))), off.shape)
    full = any(group.load_per_s * model.service_s > FULL for group in groups)
    explained = distance <= REFUSED * max(usual) + SLACK
    place = (int(worst[0]), int(worst[1]))
    return QueueFit(model, groups, distance, sorted(usual), explained, place, full, others)


def _off(model: Model, groups: list[ReadGroup]) -> Floats:
    """Differences of logarithms in standard errors, (groups, quantiles)."""
    rows = [
        (np.log(group.quantile_s) - np.log(model.quantiles_s(group.load_per_s))) / group.error
        for group in groups
    ]
    return np.array(rows)


def _distance(off: Floats) -> float:
    return float(np.mean(off**2))


def _cost(off: Floats) -> float:
    """Distance of the fit, with reduced weight of outliers."""
    return float(np.mean(2 * _OUTLIER**2 * (np.sqrt(1 + (off / _OUTLIER) ** 2) - 1)))


def fitted(groups: list[ReadGroup]) -> Model:
    """Model with the closest fit."""
    starts = [start for family in FAMILIES for start in _starts(family, groups)]
    costs = [_cost(_off(start, groups)) for start in starts]
    best: dict[str, Model] = {}
    for at in np.argsort(costs):
        best.setdefault(starts[at].family, starts[at])
    least = min(costs)
    near = [start for start in best.values() if _cost(_off(start, groups)) <= _HOPELESS * least + 1]
    polished = [_polished(start, groups) for start in near]
    return min(polished, key=lambda model: _cost(_off(model, groups)))


def _starts(family: str, groups: list[ReadGroup]) -> list[Model]:
    """Starting models for a series of N: L from the lowest load, M from the highest."""
    first, last = groups[0], groups[-1]
    middle = len(QUANTILES) // 2
    idle, busy = float(first.quantile_s[middle]), float(last.quantile_s[middle])
    found = []
    for service in idle * np.geomspace(0.04, 2.0, _STARTS):
        load = first.load_per_s * service
        alone = float(latency_quantiles(family, load, 50.0, QUANTILES)[middle])
        base = max(0.0, idle - service * alone)
        queue = UNSEEN
        if last.load_per_s * service > 1:
            queue = max(1.0, (busy - base) / service - 0.5)
        found.append(Model(family, float(service), queue, base))
        found.append(Model(family, float(service), queue, 0.0))
    return found


def _polished(start: Model, groups: list[ReadGroup], most: int = _MOST) -> Model:
    """Refine a start by Nelder and Mead on the logarithms of N and M N, and on L."""
    from scipy.optimize import minimize  # type: ignore[import-untyped, unused-ignore]

    middle = float(groups[0].quantile_s[len(QUANTILES) // 2])

    def model(at: Floats) -> Model:
        service = float(np.exp(at[0]))
        queue = min(max(float(np.exp(at[1])) / service, 1.0), UNSEEN)
        return Model(start.family, service, queue, abs(float(at[2])) * middle)

    first = [
        np.log(start.service_s),
        np.log(start.service_s * start.queue),
        start.base_s / middle,
    ]
    simplex = np.array([first, *(np.array(first) + step for step in np.diag([0.08, 0.05, 0.08]))])
    found = minimize(
        lambda at: _cost(_off(model(at), groups)),
        first,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": most, "xatol": 1e-3, "fatol": 1e-3},
    )
    return model(found.x)
