"""Loss of information by correlated samples: the fluctuation of a shared load.

A share ``h`` of a series' variance follows a load that is forgotten with time constant ``tau``, the
rest is independent from sample to sample::

    cov(u_i, u_j) = v * ((1 - h) * [i = j] + h * exp(-|t_i - t_j| / tau))

Neither ``h`` nor ``tau`` is known, and a few of them fit about as well as the best; so none is chosen.
Every pair on a grid gets the weight with which the block means of the series speak for it, and what
is concluded is averaged over the grid. An interval is then wide when the samples cannot tell whether
a slow load is there, which happens when a period is short compared with ``tau``.
Source: methods page ``docs/methods/compare.md``; Ornstein-Uhlenbeck covariance, averages of it over
intervals in closed form; Bayesian model averaging, e.g. Hoeting et al. 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Floats, Places


SHARES: tuple[float, ...] = (0.0, *(0.002 * 450 ** (i / 13) for i in range(14)))
"""Shares ``h`` of the grid: zero, and 0.2% to 90% in equal ratios."""
ALL_CALM, CALM = 0.5, 0.2
"""Prior probabilities: that no op of a comparison has a load; that one has none if some have."""
NO_LOAD = ALL_CALM + (1 - ALL_CALM) * CALM
"""Prior weight of ``h = 0`` of a single op; the other shares divide the rest equally."""
TAUS = 10
"""Time constants of the grid."""
SLOWEST_LOAD_S = 1800.0
"""Slowest load: fluctuations of shared storage take a minute to half an hour (docs/methods/compare.md)."""
BLOCKS, BLOCK_SAMPLES, FEWEST_BLOCKS = 48, 10, 4


@dataclass(frozen=True)
class Blocks:
    """Samples of a period, cut into consecutive blocks of about equal number.

    ``weight`` (samples,) sums to 1; ``edges`` (blocks + 1,) are places in it.
    """

    at_s: Floats
    weight: Floats
    edges: Places

    def sums(self, series: Floats) -> Floats:
        """Weighted sums of a series (samples,) in each block (blocks,)."""
        sums: Floats = np.add.reduceat(series * self.weight, self.edges[:-1])
        return sums

    @property
    def span_s(self) -> float:
        """Time from the first sample to the last."""
        return float(self.at_s[-1] - self.at_s[0])


def blocks_of(at_s: Floats, weight: Floats) -> Blocks:
    """Cut a period into blocks. Shapes: (samples,) each, ``at_s`` ascending in s, ``weight`` positive."""
    n = len(at_s)
    count = max(FEWEST_BLOCKS, min(BLOCKS, n // BLOCK_SAMPLES))
    edges = np.unique(np.linspace(0, n, count + 1).round().astype(np.intp))
    return Blocks(at_s, weight / weight.sum(), edges)


def time_constants(periods: Sequence[Blocks]) -> Floats:
    """``tau`` of the grid (s), for the periods of a comparison.

    From two samples to the slowest load, at most three times the longest period; longer periods can
    tell slower loads: up to a quarter of them.
    """
    span = max(1e-9, *(period.span_s for period in periods))
    step = min(period.span_s / max(1, len(period.at_s) - 1) for period in periods)
    slowest = max(span / 4, min(3 * span, SLOWEST_LOAD_S))
    fastest = min(max(2 * step, 1e-9), slowest / 2)
    taus: Floats = np.geomspace(fastest, slowest, TAUS)
    return taus


@dataclass(frozen=True)
class BlockGrid:
    """Part of the grid that depends on the blocks only, not on the values.

    Per ``tau``: eigenvalues and -vectors of the load's covariance of whitened block sums without
    their mean, and ``mean_variance``: that of the weighted mean of a series that is all load.
    """

    blocks: Blocks
    independent: float
    """Variance of the weighted mean of an independent series: the sum of squared weights."""
    scale: Floats
    values: Floats
    vectors: Floats
    mean_variance: Floats


def layout_of(blocks: Blocks, taus: Floats) -> BlockGrid:
    """Prepare blocks for ``evidence``. ``taus``: (taus,) s."""
    totals = np.add.reduceat(blocks.weight, blocks.edges[:-1])
    squares = np.add.reduceat(blocks.weight**2, blocks.edges[:-1])
    scale = 1.0 / np.sqrt(squares)
    mean = totals * scale
    mean /= np.linalg.norm(mean)
    project = np.eye(len(mean)) - np.outer(mean, mean)
    values, vectors, variances = [], [], []
    for tau in taus:
        load = _load_covariance(blocks, float(tau)) * np.outer(totals, totals)
        found, axes = np.linalg.eigh(project @ (load * np.outer(scale, scale)) @ project)
        keep = np.arange(len(found)) != np.argmax(np.abs(mean @ axes))
        values.append(found[keep].clip(min=0.0))
        vectors.append(axes[:, keep])
        variances.append(load.sum())
    return BlockGrid(
        blocks,
        float(squares.sum()),
        scale,
        np.array(values),
        np.array(vectors),
        np.array(variances),
    )


def _load_covariance(blocks: Blocks, tau: float) -> Floats:
    """Covariance of block means of a load of variance 1: averages of exp(-|t - t'| / tau)."""
    first, last = blocks.at_s[blocks.edges[:-1]], blocks.at_s[blocks.edges[1:] - 1]
    count = np.diff(blocks.edges)
    length = np.maximum((last - first) / tau, 1e-9)
    middle = (first + last) / 2
    apart = np.abs(middle[:, None] - middle[None, :]) / tau
    reach = (length[:, None] + length[None, :]) / 2
    spread = -np.expm1(-length) / length
    covariance: Floats = np.exp(np.minimum(reach - apart, 0.0)) * np.outer(spread, spread)
    within = 2 * (length + np.expm1(-length)) / length**2
    within = np.where(length < 1e-4, 1.0, within)
    np.fill_diagonal(covariance, np.maximum(within, 1.0 / count))
    return covariance


def evidence(layout: BlockGrid, series: Floats, *, outside: bool = False) -> Floats:
    """Log likelihood of every (tau, share) of the grid, (taus, shares).

    ``outside``: what a load does beyond the period counts as part of the series' variance, so a period shows
    only the rest of it.

    ``series``: (samples,), any unit, in the order of the blocks. A series that never changes shows no load.
    Missing data: none may be.
    """
    weight = layout.blocks.weight
    centred = series - np.dot(weight, series)
    variance = float(np.dot(weight, centred**2))
    shares = np.array(SHARES)
    if variance <= 1e-12:
        return np.tile(np.where(shares > 0, -np.inf, 0.0), (len(layout.values), 1))
    z = (layout.blocks.sums(centred / np.sqrt(variance)) * layout.scale) @ layout.vectors
    expected = (1 - shares)[None, :, None] + shares[None, :, None] * layout.values[:, None, :]
    if outside:
        expected = expected / (1 - mean_variance(layout))[:, :, None]
    fits: Floats = -0.5 * (np.log(expected) + z[:, None, :] ** 2 / expected).sum(axis=2)
    return fits


def weights(fits: Floats, no_load: float = NO_LOAD) -> Floats:
    """Posterior weights of the grid; (taus, shares), sums to 1. ``no_load``: prior weight of no load."""
    rest = (1 - no_load) / (len(SHARES) - 1)
    before = np.array([no_load, *[rest] * (len(SHARES) - 1)])
    if not np.isfinite(fits[:, 1:]).any():
        before[0] = 1.0
    with np.errstate(divide="ignore"):
        after = fits + np.log(before)
    after = np.exp(after - after.max())
    normal: Floats = after / after.sum()
    return normal


def odds_of_load(fits: Floats) -> float:
    """Likelihood ratio of some load to none for a series; 1 = no difference."""
    none = fits[0, 0]
    return float(np.exp(np.clip(fits[:, 1:] - none, -700, 700)).mean())


def no_load_beside(others: Sequence[float]) -> float:
    """Prior weight of ``h = 0`` of an op, given the odds of load of the other ops.

    What shares a storage shares its load: six ops that all look calm are calmer than each of them can
    show alone, and one that does not takes that away from all.
    """
    calm = ALL_CALM
    some = 1 - ALL_CALM
    for odds in others:
        some *= CALM + (1 - CALM) * odds
        calm, some = calm / (calm + some), some / (calm + some)
    return calm + some * CALM


def mean_variance(layout: BlockGrid, dilution: float = 1.0) -> Floats:
    """Variance of the weighted mean of a series of variance 1, (taus, shares).

    ``dilution`` (0 to 1) is how much of a share reaches the series: a load that moves all latencies
    alike shows less in a rare event than in the latencies.
    """
    shares = dilution * np.array(SHARES)[None, :]
    variance: Floats = (1 - shares) * layout.independent + shares * layout.mean_variance[:, None]
    return variance
