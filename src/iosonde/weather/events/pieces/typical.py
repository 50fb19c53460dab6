"""How slow the typical operation of a stretch was, with an interval that knows the memory of the series.

The slowdown is that of a window (docs/methods/slowdown.md): the median over levels of observed / expected quantiles,
above the hits where there are two modes. Its interval is the wider one, at either end, of two:

- order statistics of as many independent operations as these are ``worth``;
- ``typ exp(+-1.96 E)``: E is how much a stretch of that length errs on ordinary days, ``Expected::error_over`` of the
  native core, which an agent's stretches have, too.
"""

from __future__ import annotations

import math

import numpy as np

from iosonde import _core
from iosonde.engine.order_statistics import bounds
from iosonde.model.arrays import Floats
from iosonde.model.slowdown import LEVELS, Q50
from iosonde.stats.memory import worth
from iosonde.weather.slowdown.triples import triples

_Z = 1.96
FEWEST = 6
"""Operations that a median's interval needs."""
_HIT, _SLOW_MODE = 21, 23
_NAN = float("nan")


def usual_ns(version: Floats) -> float:
    """The typical latency; of uncached operations where there are two modes."""
    bimodal = not np.isnan(version[_HIT])
    return float(np.exp(version[_SLOW_MODE]) if bimodal else version[Q50])


def typical(took_ns: Floats, version: Floats, length_ns: int) -> tuple[float, float, float]:
    """Slowdown and both ends of its interval, ratios.

    ``took_ns`` (n,): in order of time; ``version``: what was expected; ``length_ns``: from the first to the last.
    Missing data: NaN without an operation; ends below six, and where they are worth less and no ordinary day is known.
    While only a median is expected, and below six operations, it is the ratio of medians.
    """
    if len(took_ns) == 0:
        return _NAN, _NAN, _NAN
    ordered = np.sort(took_ns)
    n, like = len(ordered), worth(took_ns)
    if n < FEWEST or np.isnan(version[: len(LEVELS)]).any():
        usual = usual_ns(version)
        lower, _, upper = (end / usual for end in _at(ordered, n, like, 0.5))
        typ = float(np.median(ordered)) / usual
    else:
        levels = np.array([[_at(ordered, n, one, level) for level in LEVELS] for one in (n, like)])
        counts, tails = np.tile([n, n, n, 0], (2, 1)), np.full((2, 2, 3), _NAN)
        told = triples(levels, tails, counts, np.zeros(2, int), version[None, :])
        typ = float(told["typ"][0])
        lower, upper = float(told["typ_lower"][1]), float(told["typ_upper"][1])
    error = _core.error_over(np.ascontiguousarray(version).data, length_ns)
    if error is None or n < FEWEST:
        return typ, lower, upper
    by = math.exp(_Z * error)
    return typ, float(np.fmin(lower, typ / by)), float(np.fmax(upper, typ * by))


def _at(ordered: Floats, n: int, like: int, level: float) -> tuple[float, float, float]:
    """The quantile between its ends, ns; NaN for an end that ``like`` operations are too few for."""
    low, _, high = bounds(like, level)
    point = max(1, math.ceil(level * n - 1e-9))
    lower = float(ordered[max(1, low * n // like) - 1]) if low else _NAN
    upper = float(ordered[min(n, -(-high * n // like)) - 1]) if high else _NAN
    return lower, float(ordered[point - 1]), upper
