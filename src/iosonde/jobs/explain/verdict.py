"""Suspects that a verdict names, and those that history backs.

A coincidence is not a cause: of what stood out only that is backed which goes with slow runs over all runs of the kind.
What was never seen before has no history that could back it; it stands apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.explain.chance import new_by_chance
from iosonde.jobs.umami.quartile import Standing
from iosonde.model.job_metrics import job_metrics

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation

MOST_TOLD = 3
"""Most metrics named."""
CLEAR_Q = 0.05
NEAR_Q = 0.005
"""False discovery rate for runs like today's, one test more of the same history."""
LEAST_SHARE = 0.005
"""Share of the loss below which a metric is no reason."""
_WEAK, _OF_FIRST = 0.05, 0.25
"""Least score of a named suspect, absolute and relative to the first one's."""
FEWEST_ALIKE = 3
"""Least number of runs with similar values to tell the side of a threshold."""
_CAUSE, _ALIKE = 0.5, 0.75
_STOOD_OUT = (Standing.BAD, Standing.NEUTRAL)
"""Standings named without support of history; the second worst quarter needs it."""


class LossReason(NamedTuple):
    """A metric that a verdict names. ``twin``: a metric that moves together with it and stood out too."""

    first: Candidate
    twin: Candidate | None = None


class NamedReasons(NamedTuple):
    """Metrics that a verdict names: those backed by history, unseen values, and those that only stood out."""

    backed: tuple[LossReason, ...] = ()
    unseen: tuple[LossReason, ...] = ()
    rest: tuple[LossReason, ...] = ()

    @property
    def every(self) -> tuple[LossReason, ...]:
        """All, in the order of the verdict."""
        return (*self.backed, *self.unseen, *self.rest)

    @property
    def metrics(self) -> tuple[Candidate, ...]:
        """Metrics of reasons, in the order of the verdict."""
        return tuple(one.first for one in self.every)


def named(found: Explanation) -> NamedReasons:
    """Metrics to name for a slow run: one of each group and of metrics that move together.

    What was never seen is named as such where chance puts no metric as far beyond; else it only stood out.
    """
    every = leading(found)
    leads = _apart(found, every)
    costly = [one for one in leads if backed(one) and not _costs_nothing(found, one)]
    sure = tuple(sorted(costly, key=lambda one: _least(found, one)))[:MOST_TOLD]
    new = tuple(one for one in _once(found, found.unseen) if not _said(found, sure, one))
    clear = new_by_chance(found.candidates).clear
    fresh = tuple(filter(clear, new))[: MOST_TOLD - len(sure)]
    taken = (*sure, *fresh)
    rest = tuple(one for one in leads if not backed(one) and not _said(found, taken, one))
    rest = (*rest, *(one for one in new if not _said(found, (*taken, *rest), one)))
    rest = rest[: MOST_TOLD - len(taken)]
    return NamedReasons(
        *(tuple(_reason(found, one, every) for one in some) for some in (sure, fresh, rest))
    )


def _costs_nothing(found: Explanation, one: Candidate) -> bool:
    """True if runs with such a value lost nothing of what the run lost, though over all runs it goes with slow ones."""
    share = found.shares.get(one.metric)
    return share is not None and share.share < LEAST_SHARE


def _least(found: Explanation, one: Candidate) -> tuple[float, float]:
    """Sort key: largest and surest share of the loss first; unknown last."""
    share = found.shares.get(one.metric)
    return (0.0, 0.0) if share is None else (-share.low, -share.share)


def leading(found: Explanation) -> tuple[Candidate, ...]:
    """Leading metric of each group, the most suspect groups first: a group gives one reason.

    What may be an effect is passed over for a cause with half its score; of metrics that score alike the one
    that people know best is taken (the first in ``model.job_metrics``).
    """
    groups: dict[str, list[Candidate]] = {}
    for one in found.suspects:
        if against(one) and not backed(one) and not one.loss > 0:
            continue
        if one.stood.standing in _STOOD_OUT or (
            one.stood.standing is Standing.POOR and backed(one)
        ):
            groups.setdefault(one.about.group or one.metric, []).append(one)
    most = max((some[0].score for some in groups.values()), default=0.0)
    least = max(_WEAK, _OF_FIRST * most)
    return tuple(_known_best(some) for some in groups.values() if some[0].score >= least)


def _once(found: Explanation, some: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """First metric of each group and of metrics that move together."""
    groups: dict[str, Candidate] = {}
    for one in some:
        groups.setdefault(one.about.group or one.metric, one)
    return _apart(found, groups.values())


def _apart(found: Explanation, some: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Metrics without those that move together with an earlier one."""
    kept: list[Candidate] = []
    for one in some:
        if not any(other.metric in found.twins.get(one.metric, ()) for other in kept):
            kept.append(one)
    return tuple(kept)


def _said(found: Explanation, before: tuple[Candidate, ...], one: Candidate) -> bool:
    """True if a metric, its group or a twin is named already."""
    if any(other.metric == one.metric for other in before):
        return True
    return any(other.metric in found.twins.get(one.metric, ()) for other in before)


def _reason(found: Explanation, one: Candidate, leads: tuple[Candidate, ...]) -> LossReason:
    """Reason with a twin that stood out: one that was taken out as the job's own doing, else one of another group.

    A cause that lengthens the run may be taken for a count over it: what moves with such a metric is never named alone.
    """
    first = {lead.metric for lead in leads}
    by_name = {other.metric: other for other in found.candidates}
    some = [by_name[name] for name in found.twins.get(one.metric, ())]
    out = [twin for twin in some if twin.stood.standing in _STOOD_OUT]
    out.sort(
        key=lambda twin: (
            not twin.leak,
            twin.about.group == one.about.group,
            twin.metric not in first,
        )
    )
    return LossReason(
        one, next((twin for twin in out if twin.about.label != one.about.label), None)
    )


def backed(one: Candidate) -> bool:
    """True if history shows that such values go with slow runs: in a line, in another shape, of runs like it."""
    lost = one.matches >= FEWEST_ALIKE and one.loss > 0
    return in_line(one) or (lost and (one.shape_q <= CLEAR_Q or one.near_q <= NEAR_Q))


def in_line(one: Candidate) -> bool:
    """True if runs are slower with more of it (or with less, if that is its bad side)."""
    return one.q <= CLEAR_Q and one.rho * side(one) < 0


def against(one: Candidate) -> bool:
    """True if all runs together show that such values go with fast runs."""
    return one.q <= CLEAR_Q and one.rho * side(one) > 0


def side(one: Candidate) -> float:
    """+1 if the run's value is suspect for being high, -1 for being low."""
    if one.about.good is None:
        return float(np.sign(one.stood.value - one.usual))
    return 1.0 if one.about.good == "low" else -1.0


def _known_best(some: list[Candidate]) -> Candidate:
    order = {name: place for place, name in enumerate(job_metrics())}
    causes = [one for one in some if one.tag != "effect" and one.score >= _CAUSE * some[0].score]
    clear = causes or some
    alike = [one for one in clear if one.score >= _ALIKE * clear[0].score]
    return min(alike, key=lambda one: order.get(one.metric, len(order)))
