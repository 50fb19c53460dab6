"""Why was this job slow, by kind of history: is the planted cause named, is anything else claimed, what is called slow.

A line a kind and figure, a column a length of history. *First*, *three*: the cause among the metrics named; *backed*:
said to go with slow runs; *claims*: another metric backed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from benchmarks.truth.jobs import planted_kinds as kinds
from benchmarks.truth.jobs.planted_kinds import Case, Kind
from benchmarks.truth.jobs.why_slow import said
from benchmarks.truth.target import Row, share
from iosonde.jobs.explain.shortened import MOST_WORDS
from iosonde.jobs.explain.verdict import backed as is_backed
from iosonde.jobs.explain.words import JobVerdict

Figure = Callable[[Case, JobVerdict], bool]
FEW, SOME, MANY = 8, 30, 90
LENGTHS = (FEW, SOME, MANY)
_ANY = (0.0, float("inf"))
_TIMES = 120
_RARE, _SYMPTOM = 0.01, 0.02


def _backed(verdict: JobVerdict) -> set[str]:
    return {one.metric for one in verdict.told if is_backed(one)}


def _told(verdict: JobVerdict) -> list[str]:
    return [one.metric for one in verdict.told]


def first(case: Case, verdict: JobVerdict) -> bool:
    """The first metric named is a cause."""
    return _told(verdict)[:1] != [] and _told(verdict)[0] in case.causes


def three(case: Case, verdict: JobVerdict) -> bool:
    """A cause is among the first three."""
    return any(name in case.causes for name in _told(verdict)[:3])


def every(case: Case, verdict: JobVerdict) -> bool:
    """Every cause is named."""
    return set(case.causes) <= {*_told(verdict), *verdict.twins}


def slow(_: Case, verdict: JobVerdict) -> bool:
    """The run is called slow."""
    return verdict.verdict == "slow"


def backed(case: Case, verdict: JobVerdict) -> bool:
    """A cause is said to go with slow runs."""
    return bool(_backed(verdict) & set(case.causes))


def claims(case: Case, verdict: JobVerdict) -> bool:
    """A metric that is no cause is said to go with slow runs."""
    return bool(_backed(verdict) - set(case.causes))


def symptom(case: Case, verdict: JobVerdict) -> bool:
    """A metric that only moves with the performance is."""
    return bool(_backed(verdict) & set(case.innocent))


def own_told(case: Case, verdict: JobVerdict) -> bool:
    """What the run did otherwise is told."""
    return set(case.innocent) <= set(verdict.own)


def leads(_: Case, verdict: JobVerdict) -> bool:
    """The sentence says of something that it was never seen."""
    return "never seen" in verdict.sentence


def changed(_: Case, verdict: JobVerdict) -> bool:
    """The sentence says since when runs are as they are."""
    return " since 20" in verdict.sentence


def wordy(_: Case, verdict: JobVerdict) -> bool:
    """The sentence has too many words."""
    return len(verdict.sentence.split()) > MOST_WORDS


class Asked(NamedTuple):
    """A figure of a kind and its aim for each length of history."""

    figure: Figure
    aims: dict[int, tuple[float, float]]


def _at_least(figure: Figure, *least: float) -> Asked:
    return Asked(figure, {n: (low, 1.0) for n, low in zip(LENGTHS, least, strict=True)})


def _at_most(figure: Figure, most: float) -> Asked:
    return Asked(figure, dict.fromkeys(LENGTHS, (0.0, most)))


def _from_some(figure: Figure, most: float) -> Asked:
    """With fewer runs nothing can tell."""
    return Asked(figure, {FEW: _ANY, SOME: (0.0, most), MANY: (0.0, most)})


def _noted(*figures: Figure) -> tuple[Asked, ...]:
    return tuple(Asked(figure, dict.fromkeys(LENGTHS, _ANY)) for figure in figures)


_NAMED = (_at_least(first, 0.80, 0.95, 0.98), _at_least(three, 0.90, 0.97, 0.99))
_ALIKE = (*_noted(first, three, backed), *_noted(claims))
KINDS: dict[Kind, tuple[Asked, ...]] = {
    kinds.one_cause: (*_NAMED, *_noted(backed, claims), _at_most(wordy, 0.05)),
    kinds.two_causes: _noted(first, three, every, backed, claims),
    kinds.gaps: _ALIKE,
    kinds.weekend: _ALIKE,
    kinds.upgrade: _ALIKE,
    kinds.spikes: _ALIKE,
    kinds.unknown_as_minus_one: _ALIKE,
    kinds.wrong_units: _ALIKE,
    kinds.grown_and_slowed: _ALIKE,
    kinds.twin: (_at_least(every, *(0.95,) * 3), *_noted(first, claims)),
    kinds.symptoms: (_at_most(symptom, _SYMPTOM), *_noted(first, three)),
    kinds.symptoms_called_bad: (_at_most(symptom, _SYMPTOM), *_noted(first, three)),
    kinds.hidden: _noted(symptom),
    kinds.delayed: (_at_most(claims, _SYMPTOM),),
    kinds.of_nothing: (_at_most(claims, _RARE),),
    kinds.noise: (_at_most(claims, _RARE), _at_most(leads, _SYMPTOM)),
    kinds.ordinary: (_at_most(slow, _RARE),),
    kinds.slower_for_good: (_from_some(slow, 0.02), *_noted(changed)),
    kinds.growing_faster: (_at_most(slow, _RARE), *_noted(own_told)),
    kinds.growing_slower: (_from_some(slow, 0.05), *_noted(own_told)),
    kinds.inputs: (_from_some(slow, 0.05), *_noted(own_told)),
}


def causes(seed: int, scale: float = 1.0) -> list[Row]:
    """All kinds and lengths."""
    return [row for kind in KINDS for row in _rows(kind, seed, scale)]


def _rows(kind: Kind, seed: int, scale: float) -> Iterable[Row]:
    times = max(5, round(_TIMES * scale))
    name = kind.__name__.replace("_", " ")
    for n in LENGTHS:
        random = np.random.default_rng([seed, n])
        made = [kind(random, n) for _ in range(times)]
        judged = [(case, said(case.table, str(n))) for case in made]
        for figure, aims in KINDS[kind]:
            p, error = share(sum(figure(*one) for one in judged), times)
            what = f"{name}: {figure.__name__.replace('_', ' ')}"
            yield Row("causes", what, p, *aims[n], "-", "-", error, f"n = {n}")
