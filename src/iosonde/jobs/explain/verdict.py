"""Which suspects are told of, and which of them history backs.

A coincidence is not a cause: of what stood out only that is backed which goes with slow runs over all runs of the kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.umami.quartile import Standing
from iosonde.model.job_metrics import job_metrics

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation

MOST_TOLD = 3
CLEAR_Q = 0.05
_WEAK, _OF_FIRST = 0.05, 0.25
"""A suspect with a smaller score, or a smaller share of the first one's, is not told of: it hardly stood out."""
FEWEST_ALIKE = 3
"""So many runs with a value like today's say which side of a threshold it is on."""
_CAUSE, _ALIKE = 0.5, 0.75
_STOOD_OUT = (Standing.BAD, Standing.NEUTRAL)
"""What only stands in the second worst quarter is told of where history backs it."""


def leading(found: Explanation) -> tuple[Candidate, ...]:
    """One metric of each group, the most suspect groups first, at most ``MOST_TOLD``: a group says one thing.

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
    return tuple(_known_best(some) for some in groups.values() if some[0].score >= least)[
        :MOST_TOLD
    ]


def backed(one: Candidate) -> bool:
    """Whether all runs together show that such values go with slow runs, in a line or in another shape."""
    return in_line(one) or (one.shape_q <= CLEAR_Q and one.matches >= FEWEST_ALIKE and one.loss > 0)


def in_line(one: Candidate) -> bool:
    """Whether runs are the slower, the more of it there is (or the less, where that is its bad side)."""
    return one.q <= CLEAR_Q and one.rho * side(one) < 0


def against(one: Candidate) -> bool:
    """Whether all runs together show that such values go with fast runs."""
    return one.q <= CLEAR_Q and one.rho * side(one) > 0


def side(one: Candidate) -> float:
    """+1 where the run's value is suspect for being high, -1 for being low."""
    if one.about.good is None:
        return float(np.sign(one.stood.value - one.usual))
    return 1.0 if one.about.good == "low" else -1.0


def _known_best(some: list[Candidate]) -> Candidate:
    order = {name: place for place, name in enumerate(job_metrics())}
    causes = [one for one in some if one.tag != "effect" and one.score >= _CAUSE * some[0].score]
    clear = causes or some
    alike = [one for one in clear if one.score >= _ALIKE * clear[0].score]
    return min(alike, key=lambda one: order.get(one.metric, len(order)))
