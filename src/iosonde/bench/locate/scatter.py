"""Variation of healthy components: covariances of targets, servers and groups, with degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.nested import Tree, sums
from iosonde.bench.locate.robust import FEW, scale_of, shortest_half

if TYPE_CHECKING:
    from collections.abc import Callable

    from iosonde.model.arrays import Floats, Ints

MANY = 20
"""Least number of components of a level for sibling pairs; fewer use their shortest half."""
PRIOR, PRIOR_DF = 0.012, 5.0
"""Prior scatter of servers and groups, in logarithms, and its weight in components."""
FEW_PRIOR, FEW_DF = 0.05, 1.0
"""Prior scatter of targets if few, and its weight: three healthy ones do not show how much they differ."""
FAR = 6.0
"""Outlier limit of few components in scales of the shortest half: that scale is itself uncertain."""
FLOOR = 0.004
_MOST_PAIRS = 40_000
_USED = 0.8
"""Share of the degrees of freedom that robust scales keep."""


@dataclass(frozen=True)
class Scatter:
    """Covariances, shape (K, K), and degrees of freedom of each level."""

    target: Floats
    server: Floats
    group: Floats
    target_df: float
    server_df: float
    group_df: float


@dataclass(frozen=True)
class Noise:
    """Noise of files and repetitions alone in the effects.

    ``file_variance``: (targets, K). ``server`` and ``group``: variance of their means that repetitions show, (K,):
    what moves between repetitions is in their mean too. 0 of one repetition.
    """

    file_variance: Floats
    server: Floats
    group: Floats


def noise_of(by_repetition: Floats, file_variance: Floats, tree: Tree) -> Noise:
    """Noise from slowness by repetition (repetitions, targets, K), NaN unknown: not robust, as load of others is
    rare.
    """
    repetitions, _, k = by_repetition.shape
    if repetitions < 2:
        return Noise(file_variance, np.zeros(k), np.zeros(k))
    groups = int(tree.group.max()) + 1
    servers = np.stack([_means(table, tree.server, len(tree.group))[0] for table in by_repetition])
    grouped = np.stack([_means(table, tree.group, groups)[0] for table in servers])
    return Noise(file_variance, _between(servers), _between(grouped))


def _between(means: Floats) -> Floats:
    """Variance of the mean over repetitions from their differences, shape (K,); ``means``: (repetitions, n, K)."""
    count = len(means)
    known = np.isfinite(means).all(axis=0)
    away = np.where(known, means - np.where(known, means, 0.0).mean(axis=0), 0.0)
    variance: Floats = (away**2).sum(axis=(0, 1)) / np.maximum(known.sum(axis=0) * (count - 1), 1)
    return variance / count


def scatter(y: Floats, noise: Noise, tree: Tree, levels: tuple[bool, bool]) -> Scatter:
    """Scatter from effects ``y`` (targets, K), NaN unknown, without the components found slow.

    ``levels``: whether servers and groups are known.
    """
    file_variance = noise.file_variance
    mean_noise = np.nanmedian(np.where(np.isfinite(y), file_variance, np.nan), axis=0)
    within = (
        _differences(y, tree.server, len(tree.group)) if levels[0] else y - np.nanmedian(y, axis=0)
    )
    width = np.sqrt(2.0) if levels[0] else 1.0
    total = _covariance(within / width, _some if len(y) < 3 * MANY else _tailed)
    target_df = _USED * (len(y) - (len(tree.group) if levels[0] else 1))
    if len(y) < FEW:
        prior = np.eye(len(total)) * FEW_PRIOR**2 + np.diag(mean_noise)
        total = (target_df * total + FEW_DF * prior) / (target_df + FEW_DF)
        target_df += FEW_DF
    target = _less(total, mean_noise)
    none = np.zeros_like(target)
    if not levels[0]:
        return Scatter(target, none, none, max(target_df, 2.0), 1.0, 1.0)
    whole = np.diag(np.diag(target) + mean_noise) + (target - np.diag(np.diag(target)))
    server_mean, count = _means(y, tree.server, len(tree.group))
    groups = int(tree.group.max()) + 1
    parent = tree.group if levels[1] else np.zeros(len(tree.group), dtype=np.int64)
    below = whole / _typical(count)
    server, server_df = _level(server_mean, parent, below, noise.server)
    if not levels[1] or groups < 2:
        return Scatter(target, server, none, max(target_df, 2.0), server_df, 1.0)
    group_mean, servers = _means(server_mean, tree.group, groups)
    spread = (server + below) / _typical(servers)
    group, group_df = _level(group_mean, np.zeros(groups, dtype=np.int64), spread, noise.group)
    return Scatter(target, server, group, max(target_df, 2.0), server_df, group_df)


def own_precision(y: Floats, file_variance: Floats, target: Floats) -> Floats:
    """Inverse of each target's own covariance, zeros where a direction is missing; shape (targets, K, K)."""
    cov = target[None] + file_variance[:, :, None] * np.eye(y.shape[1])
    missing = ~np.isfinite(y)
    cov = np.where(missing[:, :, None] | missing[:, None, :], 0.0, cov)
    cov[:, np.arange(y.shape[1]), np.arange(y.shape[1])] += missing * 1e12
    precision = np.linalg.inv(cov)
    return np.where(missing[:, :, None] | missing[:, None, :], 0.0, precision)


def _level(values: Floats, parent: Ints, from_below: Floats, least: Floats) -> tuple[Floats, float]:
    """Covariance of a level in excess of the level below, shrunk to the prior; its variance including the
    level below is at least ``least``, (K,).
    """
    known = np.isfinite(values).all(axis=1)
    parents = int(parent.max()) + 1
    count, siblings = int(known.sum()), np.bincount(parent[known], minlength=parents)
    pairs_df = float(np.maximum(siblings - 1, 0).sum())
    if count >= MANY and parents > 1 and pairs_df >= MANY / 2:
        part = _differences(values, parent, parents) / np.sqrt(2.0)
        total = _covariance(part, _tailed)
        df = _USED * pairs_df
    elif count >= MANY:
        centred = values - np.nanmedian(values, axis=0)
        total = _covariance(centred, _tailed)
        df = _USED * (count - 1)
    elif count >= 3:
        total = _covariance(values, _few)
        df = _USED * (count - 1)
    else:
        total, df = np.zeros_like(from_below), 0.0
    prior = np.eye(len(from_below)) * PRIOR**2 + from_below
    mixed = (df * total + PRIOR_DF * prior) / (df + PRIOR_DF)
    np.fill_diagonal(mixed, np.maximum(np.diag(mixed), least))
    return _less(mixed, np.diag(from_below)), df + PRIOR_DF


def _tailed(values: Floats) -> float:
    return scale_of(values, tails=len(values) >= MANY)


def _some(values: Floats) -> float:
    """Scale of a few dozen differences: at least their RMS without outliers, as the median is often low."""
    scale = scale_of(values, tails=False)
    inside = values[np.abs(values) <= 5 * scale]
    return max(scale, float(np.sqrt(np.mean(inside**2)))) if len(inside) else scale


def _few(values: Floats) -> float:
    """Scale of few values: standard deviation of those near the shortest half."""
    known = values[np.isfinite(values)]
    if len(known) < 3:
        return 0.0
    centre, scale = shortest_half(known)
    inside = known[np.abs(known - centre) <= FAR * max(scale, FLOOR)]
    return max(float(np.std(inside, ddof=1)), FLOOR) if len(inside) > 2 else scale


def _covariance(columns: Floats, scale: Callable[[Floats], float]) -> Floats:
    """Covariance of columns from the scales of their sums and differences, shape (K, K)."""
    k = columns.shape[1]
    one = [scale(columns[:, i][np.isfinite(columns[:, i])]) for i in range(k)]
    cov = np.diag(np.square(one))
    if k == 2 and min(one) > 0:
        a, b = columns[:, 0] / one[0], columns[:, 1] / one[1]
        both = np.isfinite(a + b)
        if both.sum() >= 6:
            plus, minus = scale((a + b)[both]) ** 2, scale((a - b)[both]) ** 2
            alike = np.clip((plus - minus) / max(plus + minus, 1e-12), -0.9, 0.9)
            cov[0, 1] = cov[1, 0] = alike * one[0] * one[1]
    return cov


def _less(total: Floats, noise: Floats) -> Floats:
    """``total`` minus ``noise`` on its diagonal, with a floor, kept positive definite."""
    old = np.sqrt(np.maximum(np.diag(total), 1e-12))
    new = np.sqrt(np.maximum(np.diag(total) - noise, FLOOR**2))
    alike = total / np.outer(old, old)
    # What files share between directions is the target's own.
    out: Floats = np.clip(alike * np.outer(old, old) / np.outer(new, new), -0.9, 0.9) * np.outer(
        new, new
    )
    np.fill_diagonal(out, new**2)
    return out


def _differences(values: Floats, parent: Ints, parents: int) -> Floats:
    """Differences of siblings: all neighbours in up to a few cyclic orders, shape (pairs, K)."""
    order = np.argsort(parent, kind="stable")
    size = np.bincount(parent, minlength=parents)
    first = np.cumsum(size) - size
    parts = []
    for step in range(1, min(int(size.max(initial=1)) - 1, 6) + 1):
        place = np.arange(len(order)) - first[parent[order]]
        inside = place + step < size[parent[order]]
        parts.append(values[order[inside.nonzero()[0]]] - values[order[inside.nonzero()[0] + step]])
    every = np.concatenate(parts) if parts else np.empty((0, values.shape[1]))
    return every[:: -(-len(every) // _MOST_PAIRS)] if len(every) else every


def _means(values: Floats, parent: Ints, parents: int) -> tuple[Floats, Floats]:
    known = np.isfinite(values)
    count = sums(known.astype(np.float64), parent, parents)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums(np.where(known, values, 0.0), parent, parents) / count, count


def _typical(count: Floats) -> float:
    return max(float(np.median(count[count > 0])), 1.0) if (count > 0).any() else 1.0
