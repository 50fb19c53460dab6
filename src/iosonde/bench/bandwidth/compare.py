"""Two bandwidth runs: by what ratio the rates of one lie above those of the other, and how sure that is.

Rates of repetitions vary by factors, so their logarithms are compared: the ratio is that of geometric means, its
interval Welch's for two means of unequal variance (95%). One repetition on a side has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.bench.bandwidth.words import together
from iosonde.model.runs import RunRow
from iosonde.model.transfers import DIRECTIONS
from iosonde.stats.t_interval import quantile_of_t, standard_error

RATES: dict[str, str] = {
    "sustained_bytes_per_s": "sustained",
    "first_bytes_per_s": "until the first rank",
    "last_bytes_per_s": "until the last rank",
}
"""Column of a run's row, and what people call it."""
_CONFIDENCE = 0.95
_NEVER_ALIKE = ("seed", "reported", "digests")
"""Parameters that differ between any two runs."""


@dataclass(frozen=True, slots=True)
class BandwidthRatio:
    """One rate of one direction: B over A. ``verdict``: faster, slower, same, or unknown.

    ``a``, ``b``: geometric means, bytes/s, of ``n_a`` and ``n_b`` repetitions. ``lower``, ``upper``: None without an
    interval.
    """

    direction: str
    rate: str
    a: float
    b: float
    n_a: int
    n_b: int
    ratio: float
    lower: float | None
    upper: float | None
    verdict: str


def compare_rates(a: Sequence[RunRow], b: Sequence[RunRow], margin: float) -> list[BandwidthRatio]:
    """Every rate that both runs have. ``margin``: the largest ratio that counts as the same."""
    found = []
    for direction in DIRECTIONS:
        for column, name in RATES.items():
            one, other = (_values(rows, direction, column) for rows in (a, b))
            if one and other:
                found.append(_ratio((direction, name), one, other, margin))
    return found


def _values(rows: Sequence[RunRow], direction: str, column: str) -> list[float]:
    values = [getattr(row, column) for row in together(rows) if row.phase == direction]
    return [value for value in values if value is not None and value > 0]


def _ratio(
    of: tuple[str, str], a: Sequence[float], b: Sequence[float], margin: float
) -> BandwidthRatio:
    one, other = np.log(a), np.log(b)
    difference = float(other.mean() - one.mean())
    lower = upper = None
    if len(a) > 1 and len(b) > 1:
        errors = (standard_error(one), standard_error(other))
        half = _welch(errors, (len(a), len(b)))
        lower, upper = math.exp(difference - half), math.exp(difference + half)
    means = (math.exp(float(one.mean())), math.exp(float(other.mean())))
    verdict = _verdict(lower, upper, margin)
    ratio = math.exp(difference)
    return BandwidthRatio(*of, *means, len(a), len(b), ratio, lower, upper, verdict)


def _welch(errors: tuple[float, float], n: tuple[int, int]) -> float:
    """Half of the interval of a difference of means (Welch 1947, Satterthwaite's degrees of freedom)."""
    squares = [error**2 for error in errors]
    whole = sum(squares)
    freedom = whole**2 / sum(
        square**2 / (count - 1) for square, count in zip(squares, n, strict=True)
    )
    return quantile_of_t((1 + _CONFIDENCE) / 2, max(1, math.floor(freedom))) * math.sqrt(whole)


def _verdict(lower: float | None, upper: float | None, margin: float) -> str:
    if lower is None or upper is None:
        return "unknown"
    if 1 / margin <= lower and upper <= margin:
        return "same"
    return "faster" if lower > 1 else "slower" if upper < 1 else "unknown"


def different_parameters(a: RunRow, b: RunRow) -> list[tuple[str, Any, Any]]:
    """Name and both values of what the runs were not asked for alike; what one does not say is None."""
    sides: tuple[Mapping[str, Any], Mapping[str, Any]] = (_asked(a), _asked(b))
    names = [name for name in {**sides[0], **sides[1]} if name not in _NEVER_ALIKE]
    pairs = [(name, sides[0].get(name), sides[1].get(name)) for name in names]
    return [(name, one, other) for name, one, other in pairs if one != other]


def _asked(row: RunRow) -> dict[str, Any]:
    return {"target": row.target, "ranks": row.ranks, "pattern": row.pattern, **row.parameters}
