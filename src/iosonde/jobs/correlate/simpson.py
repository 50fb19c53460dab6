"""Simpson's paradox: sign of correlations with performance over all groups and within them.

File systems differ in many ways at once. What differs between them goes with performance over the pooled rows even
if it does nothing, and what matters within each can vanish or turn. So the pooled coefficient is held against the
one within groups ::

    z = sum w_g atanh(rho_g) / sum w_g,   w_g = n_eff_g - 3,   p from z sqrt(sum w_g)

and against each group's own. Sources: Simpson 1951; Fisher 1921; docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.association import associations
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.tails import normal_share

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints


SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Simpson:
    """Spearman's coefficients of p metrics, pooled and within G groups; NaN where there is none.

    ``pooled``, ``pooled_p``, ``plain_p``, ``within``, ``within_p`` (p,); ``each``, ``each_q`` (G, p), q over the groups
    of a metric; ``groups`` (G,): their labels. ``plain_p`` believes rows to be independent, as who pools them does:
    rows of groups in turn resemble and contradict their neighbours in ways that say nothing of the groups.
    """

    groups: Ints
    pooled: Floats
    pooled_p: Floats
    plain_p: Floats
    within: Floats
    within_p: Floats
    each: Floats
    each_q: Floats

    @property
    def turned(self) -> Flags:
        """Metrics (p,) with significant opposite signs pooled and within groups: a warning."""
        sure = (self.plain_p <= SIGNIFICANT) & (self.within_p <= SIGNIFICANT)
        return sure & (np.sign(self.pooled) * np.sign(self.within) < 0)

    @property
    def opposed(self) -> Flags:
        """Groups (G, p) with a significant sign against a significant pooled one: also a warning."""
        sure = (self.plain_p <= SIGNIFICANT) & (self.each_q <= SIGNIFICANT)
        return sure & (np.sign(self.pooled) * np.sign(self.each) < 0)

    @property
    def only_between(self) -> Flags:
        """Metrics (p,) that are significant pooled, and within groups not at all."""
        return (self.pooled_p <= SIGNIFICANT) & ~(self.within_p <= SIGNIFICANT)


def simpson(y: Floats, metrics: Floats, groups: Ints) -> Simpson:
    """Compare ``metrics`` (n, p) with ``y`` (n,), pooled and within ``groups`` (n,); rows in the order of time.

    Missing data: as ``associations``. A group with ``n_eff`` of at most 3 has no weight.
    Raises ValueError when the numbers of rows differ.
    """
    if len(groups) != len(y):
        raise ValueError(f"{len(groups)} groups for {len(y)} rows; expected as many")
    pooled = associations(y, metrics)
    labels = np.unique(groups)
    parts = [associations(y[groups == label], metrics[groups == label]) for label in labels]
    shape = (len(labels), metrics.shape[1])
    each = np.array([part.spearman for part in parts]).reshape(shape)
    p = np.array([part.p for part in parts]).reshape(shape)
    weight = np.array([part.n_eff - 3 for part in parts]).reshape(shape)
    weight = np.where(np.isnan(each) | ~(weight > 0), 0.0, weight)
    z = np.arctanh(np.clip(np.where(np.isnan(each), 0.0, each), -0.999999, 0.999999))
    total = weight.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(total > 0, (weight * z).sum(axis=0) / total, np.nan)
    q = np.column_stack([benjamini_hochberg(column) for column in p.T]).reshape(shape)
    return Simpson(
        labels,
        pooled.spearman,
        pooled.p,
        pooled.spearman_p,
        np.tanh(mean),
        2 * normal_share(-np.abs(mean) * np.sqrt(total)),
        each,
        q,
    )
