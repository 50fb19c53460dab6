"""Greedy search for slow components, then a test of each against the scatter of the residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.hypotheses import Hypothesis, Levels, best, estimates
from iosonde.bench.locate.nested import NestedPrecision
from iosonde.bench.locate.scatter import Noise, Scatter, own_precision, scatter

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

MOST = 8
"""Most slow components of a run."""
MOST_ALONE = 48
"""Most slow targets without known servers, where each counts; also fewer than half."""
CHANCE = {"ost": 0.0025, "oss": 0.0025, "link": 0.0025, "pair": 0.0025, "group": 0.006}
"""Probability of any false component of a kind in a healthy run; groups are few, and a failed router costs little."""
GAP = 6.0
"""Score difference below which a rival is named with "or"."""


@dataclass(frozen=True)
class Found:
    """A slow component: its effects, their standard errors, its p value, and its rivals."""

    hypothesis: Hypothesis
    effect: tuple[float, ...]
    error: tuple[float, ...]
    chance: float
    rivals: tuple[Hypothesis, ...] = ()


def search(y: Floats, noise: Noise, levels: Levels, known: tuple[bool, bool]) -> list[Found]:
    """Slow components, the strongest first. ``y``: slowness (targets, K); ``known``: servers, groups."""
    chosen: list[Hypothesis] = []
    most = MOST if known[0] else min(MOST_ALONE, (len(y) - 1) // 2)
    while len(chosen) < most:
        precision, _ = _precision(y, noise, levels, known, chosen)
        more = best(y, precision, levels, chosen, 1)
        if not more:
            break
        chosen = _without_swallowed([*chosen, more[0]])
    while chosen:
        precision, spread = _precision(y, noise, levels, known, chosen)
        tested = _tested(y, precision, spread, levels, chosen)
        worst = max(tested, key=lambda one: one.chance / CHANCE[one.hypothesis.kind])
        if worst.chance <= CHANCE[worst.hypothesis.kind]:
            return [_with_rivals(one, y, precision, levels, chosen) for one in tested]
        chosen = [one for one in chosen if one is not worst.hypothesis]
    return []


def _without_swallowed(chosen: list[Hypothesis]) -> list[Hypothesis]:
    """Choices without those whose targets the last one covers in the same directions with nearly equal effects."""
    last = chosen[-1]
    held = last.columns.any(axis=2)
    return [one for one in chosen[:-1] if (one.columns.any(axis=2) & ~held).any()] + [last]


def _precision(
    y: Floats,
    noise: Noise,
    levels: Levels,
    known: tuple[bool, bool],
    chosen: list[Hypothesis],
) -> tuple[NestedPrecision, Scatter]:
    """Precision with the scatter of the residuals of ``chosen``: two rounds, as their effects depend on it."""
    spread = scatter(_left(y, chosen, None), noise, levels.tree, known)
    for _ in range(2 if chosen else 1):
        own = own_precision(y, noise.file_variance, spread.target)
        precision = NestedPrecision(own, spread.server, spread.group, levels.tree)
        if chosen:
            effects, _ = estimates(y, precision, chosen)
            spread = scatter(_left(y, chosen, effects), noise, levels.tree, known)
    own = own_precision(y, noise.file_variance, spread.target)
    return NestedPrecision(own, spread.server, spread.group, levels.tree), spread


def _left(y: Floats, chosen: list[Hypothesis], effects: Floats | None) -> Floats:
    """``y`` minus the effects; a single slow target is dropped from the scatter."""
    left, at = y.copy(), 0
    for one in chosen:
        q = one.columns.shape[2]
        effect = np.array(one.effect) if effects is None else effects[at : at + q]
        left = left - one.columns @ effect
        if one.kind == "ost":
            left[one.place] = np.nan
        at += q
    return left


def _tested(
    y: Floats, precision: NestedPrecision, spread: Scatter, levels: Levels, chosen: list[Hypothesis]
) -> list[Found]:
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    effects, errors = estimates(y, precision, chosen)
    found, at = [], 0
    for one in chosen:
        q = one.columns.shape[2]
        mine, error = effects[at : at + q], errors[at : at + q]
        at += q
        df = _freedom(one, spread)
        ratio = max(float(np.sum((mine / error) ** 2)), 0.0) if (mine > 0).all() else 0.0
        alike = _alike(one, levels)
        single = (
            float(special.stdtr(df, -np.sqrt(ratio)))
            if q == 1
            else float(special.fdtrc(q, df, ratio / q)) / q
        )
        variants = 1 if one.variant == "both" else 3
        chance = min(1.0, single * alike * variants)
        found.append(
            Found(
                replace(one, effect=tuple(mine.tolist())),
                tuple(mine.tolist()),
                tuple(error.tolist()),
                chance,
            )
        )
    return [replace(one, hypothesis=chosen[place]) for place, one in enumerate(found)]


def _alike(one: Hypothesis, levels: Levels) -> int:
    if one.kind == "ost":
        return len(levels.real_target)
    if one.kind == "group":
        return len(levels.real_group)
    return len(levels.pairs) if one.kind == "pair" else max(len(levels.real_server), 2)


def _freedom(one: Hypothesis, spread: Scatter) -> float:
    if one.kind == "ost":
        return spread.target_df
    if one.kind in ("oss", "pair"):
        return spread.server_df
    return spread.group_df if one.kind == "group" else min(spread.server_df, spread.group_df)


def _with_rivals(
    one: Found, y: Floats, precision: NestedPrecision, levels: Levels, chosen: list[Hypothesis]
) -> Found:
    """The component with rivals that explain nearly as much."""
    others = [other for other in chosen if other is not one.hypothesis]
    trials = best(y, precision, levels, others, 4)
    own = [trial.score for trial in trials if _same(trial, one.hypothesis)]
    score = own[0] if own else max((trial.score for trial in trials), default=0.0)
    rivals = [
        trial for trial in trials if not _same(trial, one.hypothesis) and trial.score > score - GAP
    ]
    return replace(one, rivals=tuple(rivals))


def _same(one: Hypothesis, other: Hypothesis) -> bool:
    return (one.kind, one.place) == (other.kind, other.place)
