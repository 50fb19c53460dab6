"""Which part of a host x target matrix is slow: a row, a column, a block, all of it, nothing.

::

    y[h, t] = ln slowdown = delta * [h in R and t in C] + noise
    noise: Student's t, with the scale and the tails of the matrix itself

Every product R x C of hosts and targets is a hypothesis. Its gain in log likelihood pays for how many others are as
simple (ln of their number), so that a larger matrix does not find more by chance. Hosts of a block are those with the
largest gains. Source: docs/methods/fleet.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from iosonde.model.arrays import Floats, Ints

ENOUGH_HOSTS = 3
"""Two hosts that disagree do not tell which of them is wrong."""
LEAST_FACTOR = 2.0
"""A smaller slowdown is no verdict: ``now`` and ``events`` call nothing slow below it."""
SURE = 0.7
"""The probability from which a shape is said."""
DOUBT_LOG = 3.0
"""What anything that is not as usual has to gain before all else, its factor included: odds of 20 to 1."""
_ALONE_LOG = 1.0
"""What one cell has to gain beyond that: noise with long tails makes such cells, but no rows."""
_SCALES = np.geomspace(0.05, 0.8, 8)
_TAILS = ((2.0, 0.1), (4.0, 0.3), (30.0, 0.6))
"""Degrees of freedom of the noise, and how likely each is before the matrix is seen."""
_FACTORS = np.log([1.6, 2.0, 2.5, 3.3, 4.5, 7.0, 12.0, 20.0])
_SCALE, _SPREAD = np.log(0.12), 0.6
"""The noise between hosts that is expected: ln normal."""
_MOST_LOG = 3.0


class FleetShape(StrEnum):
    """What part of the matrix is slow."""

    NOTHING = "nothing"
    CELL = "cell"
    """One host against one of several targets."""
    HOST = "host"
    HOSTS = "hosts"
    """Several hosts, whatever the target."""
    TARGET = "target"
    TARGETS = "targets"
    BLOCK = "block"
    """Several hosts, but not all, against some targets, but not all."""
    EVERYTHING = "everything"
    UNDECIDED = "undecided"
    """Two shapes explain it nearly as well."""
    FEW = "few hosts"


@dataclass(frozen=True)
class FleetPart:
    """The slow part. ``hosts``, ``targets``: places in the matrix; none of a shape that has none.

    ``factor``: median slowdown of its cells with its 95 % interval, None without cells; ``sure``: probability of the
    shape among all; ``others``: the next likely one.
    """

    shape: FleetShape
    hosts: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    factor: float | None = None
    lower: float | None = None
    upper: float | None = None
    sure: float = 1.0
    other: FleetShape | None = None


@dataclass(frozen=True)
class _Guess:
    """A hypothesis and its penalised log likelihood."""

    hosts: tuple[int, ...]
    targets: tuple[int, ...]
    log: float


def slow_part(slowdown: Floats) -> FleetPart:
    """The part of a matrix that is slow.

    Shape: (hosts, targets), a ratio to what is usual of each cell; NaN where nothing is known, infinite where
    operations hang. Hosts and targets without any cell do not count.
    """
    with np.errstate(divide="ignore"):
        log = np.clip(np.log(np.asarray(slowdown, dtype=np.float64)), -_MOST_LOG, _MOST_LOG)
    rows, columns = (np.flatnonzero(~np.isnan(log).all(axis=axis)) for axis in (1, 0))
    log = log[np.ix_(rows, columns)]
    if len(rows) < ENOUGH_HOSTS:
        return _of_few(log, rows, columns)
    null, guesses = _hypotheses(log)
    by_shape: dict[FleetShape, _Guess] = {FleetShape.NOTHING: _Guess((), (), null)}
    for guess in guesses:
        if _factor(log, guess)[0] < LEAST_FACTOR:
            continue
        shape = _shape(guess, log.shape)
        if shape not in by_shape or guess.log > by_shape[shape].log:
            by_shape[shape] = guess
    ranked = sorted(by_shape, key=lambda shape: -by_shape[shape].log)
    best, other = ranked[0], ranked[1] if len(ranked) > 1 else None
    top = by_shape[best].log
    sure = 1 / sum(math.exp(guess.log - top) for guess in by_shape.values())
    if best is FleetShape.NOTHING:
        return FleetPart(best, sure=sure, other=other)
    guess = by_shape[best]
    factor, lower, upper = _factor(log, guess)
    hosts = tuple(int(rows[place]) for place in guess.hosts)
    targets = tuple(int(columns[place]) for place in guess.targets)
    shape = best if sure >= SURE else FleetShape.UNDECIDED
    return FleetPart(shape, hosts, targets, factor, lower, upper, sure, other)


def _of_few(log: Floats, rows: Ints, columns: Ints) -> FleetPart:
    """One or two hosts: whether something is slow, not whose fault it is."""
    slow = log >= np.log(2.0)
    if not slow.any():
        return FleetPart(FleetShape.NOTHING)
    hosts, targets = (np.flatnonzero(slow.any(axis=axis)) for axis in (1, 0))
    factor = float(np.exp(np.nanmax(log)))
    return FleetPart(
        FleetShape.FEW,
        tuple(int(rows[place]) for place in hosts),
        tuple(int(columns[place]) for place in targets),
        factor,
    )


def _shape(guess: _Guess, size: tuple[int, ...]) -> FleetShape:
    hosts, targets = len(guess.hosts), len(guess.targets)
    every_host, every_target = hosts == size[0], targets == size[1]
    if every_host:
        if every_target and targets > 1:
            return FleetShape.EVERYTHING
        return FleetShape.TARGET if targets == 1 else FleetShape.TARGETS
    if every_target:
        return (
            FleetShape.HOST
            if hosts == 1
            else (FleetShape.HOSTS if targets > 1 else FleetShape.BLOCK)
        )
    return FleetShape.CELL if hosts == targets == 1 else FleetShape.BLOCK


def _hypotheses(log: Floats) -> tuple[float, list[_Guess]]:
    """The log likelihood of nothing, and for each set of hosts and targets that stands out its own."""
    null = -np.inf
    best: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for scale in _SCALES:
        prior = -0.5 * ((np.log(scale) - _SCALE) / _SPREAD) ** 2
        for tail, likely in _TAILS:
            usual = _log_density(log, scale, tail)
            base = float(np.nansum(usual) + np.log(likely)) + prior
            null = max(null, base)
            shifted = _log_density(log[None] - _FACTORS[:, None, None], scale, tail)
            gains = np.nan_to_num(shifted - usual[None])
            for hosts, targets, gain in _products(gains):
                known = best.get((hosts, targets), -np.inf)
                best[hosts, targets] = max(known, base + gain)
    return null, [_Guess(*places, value) for places, value in best.items()]


def _log_density(residual: Floats, scale: float, tail: float) -> Floats:
    constant = math.lgamma((tail + 1) / 2) - math.lgamma(tail / 2) - 0.5 * math.log(tail * math.pi)
    spread = np.log1p((residual / scale) ** 2 / tail)
    return np.asarray(constant - np.log(scale) - (tail + 1) / 2 * spread)


def _products(gains: Floats) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """The best set of hosts for each candidate set of targets: all hosts, one, and a block.

    Shape of ``gains``: (factors, hosts, targets).
    """
    _, hosts, every = gains.shape
    counts = np.arange(1, hosts)
    choices = _log_choose(hosts, counts)
    for targets, cost_of_targets in _columns(gains):
        of_host = gains[:, :, list(targets)].sum(axis=2)
        price = cost_of_targets + DOUBT_LOG
        whole = of_host.sum(axis=1)
        yield tuple(range(hosts)), targets, float(whole.max()) - price
        order = np.argsort(-of_host, axis=1, kind="stable")
        summed = np.cumsum(np.take_along_axis(of_host, order, axis=1), axis=1)[:, :-1]
        alone = _ALONE_LOG if len(targets) == 1 < every else 0.0
        cost = choices + np.where(counts == 1, alone, np.log(hosts))
        for places in (slice(0, 1), slice(1, None)):
            value = (summed - cost)[:, places]
            if value.size:
                factor, place = np.unravel_index(int(value.argmax()), value.shape)
                count = int(counts[places][place])
                chosen = tuple(sorted(int(one) for one in order[factor, :count]))
                yield chosen, targets, float(value[factor, place]) - price


def _columns(gains: Floats) -> Iterator[tuple[tuple[int, ...], float]]:
    """Sets of targets and what choosing each costs: each alone, all, and the best of every size between."""
    targets = gains.shape[2]
    for target in range(targets):
        yield (target,), float(np.log(targets))
    if targets > 1:
        yield tuple(range(targets)), 0.0
    order = np.argsort(-np.maximum(gains, 0).sum(axis=1).max(axis=0), kind="stable")
    for count in range(2, targets):
        price = float(_log_choose(targets, np.array([count]))[0] + np.log(targets))
        yield tuple(sorted(int(one) for one in order[:count])), price


def _log_choose(n: int, k: Ints) -> Floats:
    """Log of how many sets of k there are among n."""
    factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
    return np.asarray(factorial[n] - factorial[k] - factorial[n - k])


def _factor(log: Floats, guess: _Guess) -> tuple[float, float, float]:
    """Median slowdown of a part with the order statistics that hold it in 95 of 100 cases; all of few cells."""
    cells = log[np.ix_(guess.hosts, guess.targets)].ravel()
    cells = np.sort(cells[~np.isnan(cells)])
    if len(cells) == 0:
        return 0.0, 0.0, 0.0
    reach = int(np.ceil(0.98 * np.sqrt(len(cells))))
    middle = len(cells) / 2
    low = max(0, int(np.floor(middle)) - reach)
    high = min(len(cells) - 1, int(np.ceil(middle)) - 1 + reach)
    lower, upper = np.exp(cells[[low, high]])
    return float(np.exp(np.median(cells))), float(lower), float(upper)
