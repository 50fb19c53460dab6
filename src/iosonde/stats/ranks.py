"""Order statistics: which sorted value is a quantile, and which two bound it."""

from __future__ import annotations

from iosonde import _core


def quantile_ranks(n: int, q: float) -> tuple[int, int, int] | None:
    """1-based ranks (lower, point, upper) of the ``q`` quantile among ``n`` sorted values.

    Shape: two numbers in, three ranks out, 1 <= lower <= point <= upper <= n. Unit: ranks.
    The point is the nearest rank ceil(q n). Lower and upper bound the true quantile with at least
    95 % confidence, whatever the distribution, as long as values are independent.
    Missing data: None when n is too small for a two-sided interval; print "n/a", never a number.
    Source: binomial order statistics, e.g. Conover, Practical Nonparametric Statistics, 3.2;
    computed by the native core, which the live probe uses too.
    """
    return _core.quantile_ranks(n, q)


def minimum_count(q: float) -> int:
    """The smallest n for which ``quantile_ranks(n, q)`` answers: 6 for the median, 72 for 0.95."""
    return _core.minimum_count(q)


def quantile_bounds(n: int, q: float) -> tuple[int, int, int]:
    """1-based ranks (lower, point, upper) of the ``q`` quantile; an end that n is too small for is 0.

    As ``quantile_ranks``, for those who can do with one end. Raises ValueError unless 0 < q < 1.
    """
    return _core.quantile_bounds(n, q)


def share_interval(hits: int, n: int) -> tuple[float, float] | None:
    """The 95 % interval of a share of which ``hits`` of ``n`` were seen; None for n = 0.

    Source: Clopper and Pearson 1934; computed by the native core.
    """
    return _core.share_interval(hits, n)
