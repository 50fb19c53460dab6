"""Latency of reads with another queue, predicted by a fitted model, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.queue.fit import QueueFit
    from iosonde.queue.fitted_model import Model

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class WaitEstimate:
    """A number with its 95% interval, from fits to simulations of the model."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class WhatIf:
    """Median and 90% quantile of reads at ``load_per_s``, now and with a queue of ``queue`` operations. Seconds."""

    load_per_s: float
    queue: int
    median_s: WaitEstimate
    q90_s: WaitEstimate
    then_median_s: WaitEstimate
    then_q90_s: WaitEstimate


def estimate(found: QueueFit, of: Callable[[Model], float]) -> WaitEstimate:
    """A number of the model, and its spread over fits to simulations.

    Without such models both ends are NaN. The spread is that of logarithms, plus the model's own error.
    """
    value = of(found.model)
    if len(found.others) < 2 or value <= 0:
        return WaitEstimate(value, float("nan"), float("nan"))
    logs = np.log([max(of(other), 1e-12 * value) for other in found.others])
    # What the fit is off on average, and how far it scatters.
    off = float(np.hypot(np.std(logs, ddof=1), np.mean(logs) - np.log(value)))
    half = _NORMAL_95 * off
    return WaitEstimate(value, value * float(np.exp(-half)), value * float(np.exp(half)))


def what_if(found: QueueFit, queue: int, load_per_s: float | None = None) -> WhatIf:
    """Reads with a queue of ``queue`` operations, at a load (None: the highest that was measured).

    Raises ValueError for a fit that does not explain the reads, or a queue below 1.
    """
    if not found.explained:
        raise ValueError("the model does not explain the reads")
    if queue < 1:
        raise ValueError("a queue of fewer than 1 operation")
    load = found.groups[-1].load_per_s if load_per_s is None else load_per_s

    def at(quantile: float, other: float) -> WaitEstimate:
        q = np.array([quantile])
        return estimate(found, lambda model: float(model.quantiles_s(load, q, other)[0]))

    return WhatIf(
        load, queue, at(0.5, 0.0), at(0.9, 0.0), at(0.5, float(queue)), at(0.9, float(queue))
    )
