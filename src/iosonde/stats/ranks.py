"""Order statistics: the sorted value that is a quantile, and the two that bound it."""

from __future__ import annotations

from iosonde import _core


def quantile_ranks(n: int, q: float) -> tuple[int, int, int] | None:
    """1-based ranks (lower, point, upper) of the ``q`` quantile among ``n`` sorted values.

    Shape: two numbers in, three ranks out, 1 <= lower <= point <= upper <= n. Unit: ranks.
    The point is the nearest rank ceil(q n). Lower and upper bound the true quantile with at least
    95% confidence, whatever the distribution, as long as values are independent.
    Missing data: None when n is too small for a two-sided interval; print "n/a", never a number.
    Source: binomial order statistics, e.g. Conover, Practical Nonparametric Statistics, 3.2;
    computed by the native core, which the live probe uses too.
    """
    return _core.quantile_ranks(n, q)
