"""Warnings about coefficients over all rows: group differences fake, hide or reverse the relations within.

On ranks: ``jobs.correlate.simpson``; and the same on Pearson's coefficients with their plain p values, which published
tables print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from iosonde.jobs.correlate.simpson import Simpson, simpson
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.tails import normal_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iosonde.model.arrays import Floats, Places
    from iosonde.stats.association import Associations


Warned = Literal["turned", "opposed", "only-between"]


class PooledWarning(NamedTuple):
    """Reason to doubt a pooled coefficient."""

    metric: str
    kind: Warned
    """``turned``: the other sign within groups; ``opposed``: in some groups; ``only-between``: none within."""
    coefficient: Literal["Pearson", "Spearman"]
    pooled: float
    within: float | None
    opposed: tuple[tuple[tuple[str, ...], float], ...]
    """Groups with the other sign, and their coefficients."""


def pooled_warnings(
    y: Floats,
    x: Floats,
    names: Sequence[str],
    parts: Mapping[tuple[str, ...], Places],
    found: tuple[Associations, Sequence[Associations]],
) -> tuple[PooledWarning, ...]:
    """At most one warning per column of ``x`` (n, p) and coefficient; ``found``: over all rows, and of each of
    ``parts``.
    """
    keys = list(parts)
    label = np.zeros(len(y), dtype=np.int64)
    for place, key in enumerate(keys):
        label[parts[key]] = place
    linear, ranked = _linear(*found), simpson(y, x, label)
    warnings = []
    for place, name in enumerate(names):
        for form, one in (("Pearson", linear), ("Spearman", ranked)):
            kind = _kind(one, place)
            if kind == "only-between" and len(np.unique(label[np.isfinite(x[:, place])])) < 2:
                continue  # one group alone tells nothing apart
            if kind:
                within = float(one.within[place])
                warnings.append(
                    PooledWarning(
                        name,
                        kind,
                        form,  # type: ignore[arg-type]
                        float(one.pooled[place]),
                        None if np.isnan(within) else within,
                        tuple(
                            (keys[int(group)], float(one.each[row, place]))
                            for row, group in enumerate(one.groups)
                            if one.opposed[row, place]
                        ),
                    )
                )
    return tuple(warnings)


def _kind(one: Simpson, place: int) -> Warned | None:
    if one.turned[place]:
        return "turned"
    if one.opposed[:, place].any():
        return "opposed"
    return "only-between" if one.only_between[place] else None


def _linear(pooled: Associations, parts: Sequence[Associations]) -> Simpson:
    """As ``simpson``, with Pearson's coefficients and their plain p values."""
    each = np.array([part.pearson for part in parts])
    weight = np.array([part.n - 3.0 for part in parts])
    weight = np.where(np.isnan(each) | (weight <= 0), 0.0, weight)
    z = np.arctanh(np.clip(np.nan_to_num(each), -0.999999, 0.999999))
    total = weight.sum(axis=0)
    with np.errstate(all="ignore"):
        mean = np.where(total > 0, (weight * z).sum(axis=0) / total, np.nan)
    p = np.array([part.pearson_p for part in parts])
    return Simpson(
        np.arange(len(parts)),
        pooled.pearson,
        pooled.pearson_p,
        pooled.pearson_p,
        np.tanh(mean),
        2 * normal_share(-np.abs(mean) * np.sqrt(total)),
        each,
        np.column_stack([benjamini_hochberg(column) for column in p.T]),
    )
