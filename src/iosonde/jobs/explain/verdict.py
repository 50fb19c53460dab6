"""Suspects that a verdict names, and those that history backs.

A coincidence is not a cause: of what stood out only that is backed which goes with slow runs over all runs of the kind.
What was never seen before has no history that could back it; it stands apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.umami.quartile import Standing
from iosonde.model.job_metrics import job_metrics

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation

MOST_TOLD = 3
"""Most reasons, most unseen values, and most metrics that only stood out."""
BESIDE_UNSEEN = 2
"""Most reasons beside an unseen value."""
HURT = 0.1
"""Least loss of similar runs for a metric that stood out to count."""
CLEARLY_BEYOND = 1.0
"""Distance, in spreads of the history, from which on an unseen value precedes those that only stood out."""
CLEAR_Q = 0.05
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
    rest_first: bool = False
    """True if metrics that stood out precede unseen values: similar runs lost, and the new value is hardly beyond."""

    @property
    def metrics(self) -> tuple[Candidate, ...]:
        """Metrics of reasons, in the order of the verdict."""
        last = (*self.rest, *self.unseen) if self.rest_first else (*self.unseen, *self.rest)
        return tuple(one.first for one in (*self.backed, *last))


def named(found: Explanation) -> NamedReasons:
    """Metrics to name for a slow run: one of each group and of metrics that move together."""
    every = leading(found)
    leads = _apart(found, every)[:MOST_TOLD]
    unseen = _once(found, found.unseen)
    sure = tuple(sorted((one for one in leads if backed(one)), key=lambda one: _least(found, one)))
    sure = sure[: BESIDE_UNSEEN if unseen else MOST_TOLD]
    fresh = tuple(one for one in unseen if not _said(found, sure, one))[:MOST_TOLD]
    taken = (*sure, *fresh)
    rest = tuple(one for one in leads if not backed(one) and not _said(found, taken, one))
    hurt = tuple(one for one in rest if one.matches >= FEWEST_ALIKE and one.loss >= HURT)
    same = max((one.score for one in every if _said(found, fresh, one)), default=0.0)
    first = bool(fresh and hurt) and fresh[0].beyond < CLEARLY_BEYOND and hurt[0].score >= same
    room = BESIDE_UNSEEN - len(sure) if first else MOST_TOLD - len(taken)
    rest = (hurt if first else rest)[: max(0, room)]
    backed_by, unknown, others = (
        tuple(_reason(found, one, every) for one in some) for some in (sure, fresh, rest)
    )
    return NamedReasons(backed_by, unknown, others, first and bool(rest))


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
    """Reason with a twin that stood out: the first of another group, if there is one."""
    first = {lead.metric for lead in leads}
    by_name = {other.metric: other for other in found.candidates}
    some = [by_name[name] for name in found.twins.get(one.metric, ())]
    out = [twin for twin in some if twin.stood.standing in _STOOD_OUT]
    out.sort(key=lambda twin: (twin.about.group == one.about.group, twin.metric not in first))
    return LossReason(
        one, next((twin for twin in out if twin.about.label != one.about.label), None)
    )


def backed(one: Candidate) -> bool:
    """True if all runs together show that such values go with slow runs, linearly or in another shape."""
    return in_line(one) or (one.shape_q <= CLEAR_Q and one.matches >= FEWEST_ALIKE and one.loss > 0)


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
