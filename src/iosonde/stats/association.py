"""Association of metrics with performance, corrected for similarity of neighbouring runs.

Rows are in the order of time. Two series that both drift are correlated by chance much more often than
their number of rows says. So each p value is taken twice, on ranks ``u`` of the metric and ``v`` of y:

    n_eff = n / max(1, 1 + 2 sum_k (1 - k / n) a_u(k) a_v(k)),  k = 1 .. min(n / 5, 30)
    e(t)  = u(t) - a_u(1) u(t - 1), and so for v

with ``a`` the autocorrelation; from Student's t with ``n_eff - 2``, and of the prewhitened ``e``, which is 1 where
they have another sign than the coefficient. The smaller one counts twice:
``p = min(1, 2 min(p_n_eff, p_prewhitened))``.
Sources: Pyper and Peterman 1998 (n_eff); Benjamini and Hochberg 1995; docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats.midranks import midranks
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.scaled import tamed
from iosonde.stats.student import student_share

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints, Places


LAGS, LAG_SHARE = 30, 5
"""Autocorrelation is summed up to this lag, at most to n / ``LAG_SHARE``."""
LEAST_EFFECTIVE = 4.0
"""Lower bound of ``n_eff``."""
ENOUGH_EFFECTIVE = 10.0
"""Least ``n_eff`` for a claim: below, too few independent data."""
FEWEST = 4
"""Least number of rows for a coefficient."""
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Associations:
    """Associations of one y with each of p metrics; all (p,). NaN: too few rows, a constant column.

    ``pearson_p``, ``spearman_p`` believe rows to be independent, ``prewhitened_p`` and ``p`` do not;
    ``q``: ``p`` after Benjamini-Hochberg over the metrics that are ``enough``, NaN for the others.
    ``partial``, ``partial_p``: Spearman's with the covariates' ranks taken out, and its ``p``; NaN without.
    """

    n: Ints
    pearson: Floats
    pearson_p: Floats
    spearman: Floats
    spearman_p: Floats
    n_eff: Floats
    prewhitened_p: Floats
    p: Floats
    q: Floats
    partial: Floats
    partial_p: Floats

    @property
    def levels_p(self) -> Floats:
        """Significance (p) of the coefficient with ``n_eff`` alone: of the levels, not of steps between runs."""
        return _student(self.spearman, self.n_eff - 2)

    @property
    def enough(self) -> Flags:
        """True for metrics with enough independent data for a claim."""
        return self.n_eff >= ENOUGH_EFFECTIVE


def associations(y: Floats, metrics: Floats, given: Floats | None = None) -> Associations:
    """Associate ``y`` (n,) with each column of ``metrics`` (n, p), rows in the order of time.

    ``given`` (n, k): covariates of the partial coefficient. Missing data: NaN and infinities; a column's
    coefficients use the rows in which it and y are known, its partial one those with all covariates too.
    Raises ValueError when the numbers of rows differ.
    """
    y, metrics = np.asarray(y, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    covariates = np.empty((len(y), 0)) if given is None else np.asarray(given, dtype=np.float64)
    if metrics.ndim != 2 or len(metrics) != len(y) or len(covariates) != len(y):
        shapes = f"{y.shape}, {metrics.shape}, {covariates.shape}"
        raise ValueError(f"shapes {shapes}; expected (n,), (n, p), (n, k)")
    p = metrics.shape[1]
    counts = np.zeros(p, dtype=np.int64)
    found = np.full((8, p), np.nan)
    for rows, columns in _patterns(np.isfinite(y), np.isfinite(metrics)):
        counts[columns] = np.count_nonzero(rows)
        if counts[columns[0]] >= FEWEST:
            found[:6, columns] = _plain(y[rows], metrics[np.ix_(rows, columns)])
    if covariates.shape[1]:
        known = np.isfinite(y) & np.isfinite(covariates).all(axis=1)
        for rows, columns in _patterns(known, np.isfinite(metrics)):
            if np.count_nonzero(rows) >= FEWEST + covariates.shape[1]:
                some = metrics[np.ix_(rows, columns)]
                found[6:, columns] = _partial(y[rows], some, covariates[rows])
    pearson, spearman, spearman_p, n_eff, prewhitened_p, together, partial, partial_p = found
    asked = np.where(n_eff >= ENOUGH_EFFECTIVE, together, np.nan)
    return Associations(
        counts,
        pearson,
        _student(pearson, counts.astype(np.float64) - 2),
        spearman,
        spearman_p,
        n_eff,
        prewhitened_p,
        together,
        benjamini_hochberg(asked),
        partial,
        partial_p,
    )


def shape_q(y: Floats, metrics: Floats) -> Floats:
    """(p,) p values, after BH, of no relation of any shape between ``y`` (n,) and each metric (n, p).

    Of the ranks and of their distance from the middle (what hurts at both ends), the smaller p counts twice. NaN
    where there is too little independent data. Rows in the order of time; missing data as ``associations``.
    """
    y, metrics = np.asarray(y, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    width = metrics.shape[1]
    if width == 0 or len(y) < FEWEST:
        return np.full(width, np.nan)
    ranks = midranks(np.where(np.isfinite(metrics), metrics, np.nan))
    known = (~np.isnan(ranks)).sum(axis=0)
    apart = np.abs(ranks - (known + 1) / 2)
    found = associations(y, np.column_stack([metrics, apart]))
    p = np.where(found.enough, found.p, np.nan).reshape(2, width)
    return benjamini_hochberg(np.minimum(1.0, 2 * np.fmin(p[0], p[1])))


def _patterns(rows: Flags, cells: Flags) -> list[tuple[Flags, Places]]:
    """Group columns with equal known rows: (rows, columns); most tables have few groups."""
    if cells.shape[1] == 0:
        return []
    known = cells & rows[:, None]
    keys: dict[bytes, list[int]] = {}
    for column, packed in enumerate(np.packbits(known, axis=0).T):
        keys.setdefault(packed.tobytes(), []).append(column)
    return [(known[:, group[0]], np.array(group, dtype=np.intp)) for group in keys.values()]


def _plain(y: Floats, x: Floats) -> Floats:
    """(6, p): pearson, spearman, its p, n_eff, prewhitened p, combined p; rows without gaps."""
    tests = _tests(_centred(midranks(x)), _centred(midranks(y[:, None])))
    pearson = _correlate(_centred(tamed(x)), _centred(tamed(y[:, None])))
    return np.array([pearson, *tests])


def _partial(y: Floats, x: Floats, given: Floats) -> Floats:
    """(2, p): rank coefficient after regressing out ranks of the covariates, and its p."""
    basis = _centred(midranks(given))
    axes, sizes, _ = np.linalg.svd(basis, full_matrices=False)
    axes = axes[:, sizes > _ROUNDING * max(1.0, float(sizes.max(initial=0.0)))]

    def without(columns: Floats) -> Floats:
        ranks = _centred(midranks(columns))
        rest = ranks - axes @ (axes.T @ ranks)
        nothing = (rest**2).sum(axis=0) <= _ROUNDING * (ranks**2).sum(axis=0)
        rest[:, nothing] = 0.0
        return rest

    tests = _tests(without(x), without(y[:, None]), axes.shape[1])
    return np.array([tests.rho, tests.p])


class _Tests(NamedTuple):
    rho: Floats
    naive_p: Floats
    n_eff: Floats
    prewhitened_p: Floats
    p: Floats


def _tests(x: Floats, y: Floats, used: int = 0) -> _Tests:
    """Tests of centred columns (n, p) against y (n, 1); ``used``: degrees of freedom of the covariates."""
    n = len(x)
    rho = _correlate(x, y)
    size_x, size_y = (x**2).sum(axis=0), (y**2).sum(axis=0)
    reach = min(n // LAG_SHARE, LAGS)
    inflated = np.ones(x.shape[1])
    first_x, first_y = np.zeros(x.shape[1]), np.zeros(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for lag in range(1, max(1, reach) + 1):
            own = np.einsum("ij,ij->j", x[lag:], x[:-lag]) / size_x
            other = np.einsum("ij,ij->j", y[lag:], y[:-lag]) / size_y
            if lag == 1:
                first_x, first_y = own, other
            if lag <= reach:
                inflated += 2 * (1 - lag / n) * own * other
    n_eff = np.clip(n / np.maximum(1.0, inflated), LEAST_EFFECTIVE, n)
    white_x, white_y = x[1:] - first_x * x[:-1], y[1:] - first_y * y[:-1]
    white = _correlate(_centred(white_x), _centred(white_y))
    free = np.stack([np.full(len(rho), n - 2.0), n_eff - 2, np.full(len(rho), n - 3.0)]) - used
    naive, corrected, prewhitened = _student(np.stack([rho, rho, white]), free)
    prewhitened = np.where(white * rho < 0, 1.0, prewhitened)  # speaks against what rho says
    p = np.minimum(1.0, 2 * np.fmin(corrected, prewhitened))
    return _Tests(rho, naive, np.where(np.isnan(rho), np.nan, n_eff), prewhitened, p)


def _centred(columns: Floats) -> Floats:
    centred: Floats = columns - columns.mean(axis=0)
    flat = np.all(columns == columns[:1], axis=0)
    centred[:, flat] = 0.0
    return centred


def _correlate(x: Floats, y: Floats) -> Floats:
    """Correlation of centred columns (n, p) with (n, 1); NaN for constant ones."""
    size = np.sqrt((x**2).sum(axis=0) * (y**2).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        r: Floats = (x * y).sum(axis=0) / size
    r[~(size > 0)] = np.nan
    return np.clip(r, -1.0, 1.0)


def _student(r: Floats, freedom: Floats) -> Floats:
    """Two-sided p of a coefficient; NaN without degrees of freedom."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt(freedom / np.maximum(1 - r**2, 0.0))
    p: Floats = 2 * student_share(-np.where(np.isnan(t), 0.0, t), np.maximum(freedom, 1e-3))
    return np.where(np.isnan(r) | (freedom <= 0), np.nan, p)
