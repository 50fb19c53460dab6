"""Verdicts on two sides of runs: each subject slower, faster, same or unknown; corrected for multiple tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iosonde.bench.compare.measures import TAILS, Measure, RunValues, Subject
from iosonde.bench.compare.spread import Separation, separate
from iosonde.stats.multiple import holm, simes

ALPHA = 0.05
_CONFIDENCE = 0.95


class MeasureRatio(NamedTuple):
    """Ratio b / a of one measure, with its 95 % interval. ``a``, ``b``: geometric means over runs.

    ``smallest``: the ratio that would have been found in 80 % of cases, all subjects asked; ``p_value`` of this measure
    alone.
    """

    measure: Measure
    a: float
    b: float
    ratio: float
    lower: float
    upper: float
    p_value: float
    smallest: float


@dataclass(frozen=True, slots=True)
class SubjectVerdict:
    """``verdict``: slower, faster, same or unknown; ``p_value``: adjusted over subjects (Simes, Holm).

    ``shown``: the measure that the verdict rests on.
    """

    subject: Subject
    verdict: str
    p_value: float
    shown: MeasureRatio
    measures: tuple[MeasureRatio, ...]


def judge(
    a: Sequence[RunValues],
    b: Sequence[RunValues],
    others: Sequence[Sequence[RunValues]],
    margin: float,
) -> list[SubjectVerdict]:
    """A verdict per subject that every run has. ``others``: groups of similar runs, in time order. Empty: nothing in
    common.
    """
    every = [*a, *b]
    subjects = [one for one in every[0] if all(one in run for run in every)]
    found: list[tuple[Subject, list[tuple[Measure, Separation, tuple[float, float]]]]] = []
    for subject in subjects:
        measures = [m for m in every[0][subject] if all(m in run[subject] for run in every)]
        if measures:
            found.append(
                (subject, [_separated(subject, measure, a, b, others) for measure in measures])
            )
    if not found:
        return []
    p_values = [simes(np.array([one[1].p_value for one in parts])) for _, parts in found]
    adjusted = holm(np.array(p_values))
    return [
        _verdict(subject, [_ratio(*part, len(found)) for part in parts], float(p), margin, parts)
        for (subject, parts), p in zip(found, adjusted, strict=True)
    ]


def _separated(
    subject: Subject,
    measure: Measure,
    a: Sequence[RunValues],
    b: Sequence[RunValues],
    others: Sequence[Sequence[RunValues]],
) -> tuple[Measure, Separation, tuple[float, float]]:
    sides = [[np.log(run[subject][measure]).tolist() for run in side] for side in (a, b)]
    groups = [
        [np.log(run[subject][measure]).tolist() for run in group if measure in run.get(subject, {})]
        for group in others
    ]
    means = [math.exp(float(np.mean([np.mean(run) for run in side]))) for side in sides]
    return measure, separate(sides[0], sides[1], groups), (means[0], means[1])


def _ratio(
    measure: Measure, apart: Separation, means: tuple[float, float], subjects: int
) -> MeasureRatio:
    lower, upper = apart.interval(_CONFIDENCE)
    smallest = apart.smallest(ALPHA / subjects)
    return MeasureRatio(measure, *means, apart.ratio(), lower, upper, apart.p_value, smallest)


def _verdict(
    subject: Subject,
    ratios: list[MeasureRatio],
    p_value: float,
    margin: float,
    parts: Sequence[tuple[Measure, Separation, tuple[float, float]]],
) -> SubjectVerdict:
    level = 1 - 2 * ALPHA
    asked = [one for measure, one, _ in parts if measure.column not in TAILS] or [parts[0][1]]
    ends = [one.interval(level) for one in asked]
    if all(1 / margin <= low and high <= margin for low, high in ends):
        return SubjectVerdict(subject, "same", p_value, ratios[0], tuple(ratios))
    if p_value > ALPHA:
        return SubjectVerdict(subject, "unknown", p_value, ratios[0], tuple(ratios))
    clearest = min(ratios, key=lambda one: one.p_value)
    better = (clearest.ratio > 1) == clearest.measure.higher
    word = "faster" if better else "slower"
    return SubjectVerdict(subject, word, p_value, clearest, tuple(ratios))
