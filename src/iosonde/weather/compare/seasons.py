"""Matching of like with like: the same hours of the week, or of the day, the same hosts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

import numpy as np

from iosonde.model.arrays import Floats, Ints
from iosonde.model.units import HOUR_NS

_DAY_H, _WEEK_H = 24, 168
_ENOUGH = 0.5


@dataclass(frozen=True)
class Matching:
    """Weights that give both sides the same mix of hours and groups; 0 = left out.

    ``basis``: ``hour of week``, ``hour of day`` or ``none`` (the sides share too few hours); ``hours``: how many
    hours of it are in both, of ``hours_a`` and ``hours_b``; ``used_a``, ``used_b``: shares of samples.
    """

    basis: str
    hours: int
    hours_a: int
    hours_b: int
    used_a: float
    used_b: float
    weight_a: Floats
    weight_b: Floats


def match(
    due_a: Ints, group_a: Ints, due_b: Ints, group_b: Ints, zone: tzinfo | None = None
) -> Matching:
    """Match two sides. Shapes: (samples,) pairs; instants in ns, groups any numbers; local time of ``zone``.

    The first basis counts by which at least half of one side has a counterpart. Groups (hosts and their
    periods) are kept apart in it, unless the sides share none.
    """
    if not np.isin(group_a, group_b).any():
        group_a, group_b = np.zeros_like(group_a), np.zeros_like(group_b)
    week_a, week_b = hours_of_week(due_a, zone), hours_of_week(due_b, zone)
    for basis, length in (("hour of week", _WEEK_H), ("hour of day", _DAY_H)):
        hour_a, hour_b = week_a % length, week_b % length
        weights = _balanced(hour_a + length * group_a, hour_b + length * group_b)
        if weights is not None and max(_used(w) for w in weights) >= _ENOUGH:
            return _matching(basis, hour_a, hour_b, weights)
    weights = _balanced(group_a, group_b)
    if weights is None:
        weights = (np.ones(len(due_a)), np.ones(len(due_b)))
    return _matching("none", week_a % _DAY_H, week_b % _DAY_H, weights)


def hours_of_week(due_ns: Ints, zone: tzinfo | None = None) -> Ints:
    """Hour of the week; 0 starts Monday 00:00 local time. Shape: (samples,)."""
    hours, place = np.unique(due_ns // (HOUR_NS // 4), return_inverse=True)
    local = [
        datetime.fromtimestamp(int(quarter) * 900, tz=UTC).astimezone(zone) for quarter in hours
    ]
    found = np.array([moment.weekday() * 24 + moment.hour for moment in local], dtype=np.int64)
    of_each: Ints = found[place] if len(found) else np.array([], dtype=np.int64)
    return of_each


def _balanced(cell_a: Ints, cell_b: Ints) -> tuple[Floats, Floats] | None:
    """Weights that give every cell the same total on both sides: n_a n_b / (n_a + n_b)."""
    cells, place = np.unique(np.concatenate([cell_a, cell_b]), return_inverse=True)
    in_a, in_b = place[: len(cell_a)], place[len(cell_a) :]
    n_a, n_b = np.bincount(in_a, minlength=len(cells)), np.bincount(in_b, minlength=len(cells))
    if not ((n_a > 0) & (n_b > 0)).any():
        return None
    weight_a, weight_b = n_b / (n_a + n_b), n_a / (n_a + n_b)
    return weight_a[in_a], weight_b[in_b]


def _used(weight: Floats) -> float:
    return float((weight > 0).mean()) if len(weight) else 0.0


def _matching(basis: str, hour_a: Ints, hour_b: Ints, weights: tuple[Floats, Floats]) -> Matching:
    hours_a, hours_b = np.unique(hour_a), np.unique(hour_b)
    common = np.intersect1d(hours_a, hours_b)
    return Matching(
        basis,
        len(common),
        len(hours_a),
        len(hours_b),
        _used(weights[0]),
        _used(weights[1]),
        *weights,
    )
