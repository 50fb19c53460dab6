"""How many of the metrics looked at chance puts beyond all of their history.

Source: docs/methods/umami.md, never seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.umami.quartile import ENOUGH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.explain.explain import Candidate

CLEAR = 0.05
"""Expected number of metrics that chance puts as far beyond, below which one is clearly new."""


class NewByChance(NamedTuple):
    """Expected number of metrics beyond all of their history, of how many asked."""

    expected: float
    asked: int

    def clear(self, one: Candidate) -> bool:
        """True for a value farther beyond than chance puts any of so many metrics.

        Of new values the share (1 + d / n)^-n lies more than ``d`` scales beyond: e^-d of many runs, as of long tails
        (normal ones fall off faster), more where n runs tell the scale less surely.
        """
        n = one.stood.n
        return one.beyond > 0 and self.expected * float((1 + one.beyond / n) ** -n) < CLEAR


def new_by_chance(candidates: Sequence[Candidate]) -> NewByChance:
    """A value is beyond n others on its bad side in 1 of n + 1 cases. Metrics that leak are not asked."""
    asked = [c for c in candidates if not c.leak and c.stood.n >= ENOUGH and np.isfinite(c.z)]
    return NewByChance(sum(1 / (c.stood.n + 1) for c in asked), len(asked))
