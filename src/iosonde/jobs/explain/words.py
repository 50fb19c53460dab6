"""The verdict on a job: slow, as usual or fast, the sentence, and the lines behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.explain.comparable import SLOW_FROM
from iosonde.jobs.explain.evidence import evidence, goes_with, rejected
from iosonde.jobs.explain.measured_groups import NOTHING, Looked, looked_at
from iosonde.jobs.explain.sentence import clauses
from iosonde.jobs.explain.shortened import shortened
from iosonde.jobs.explain.verdict import NamedReasons, backed, named
from iosonde.jobs.umami.quartile import Standing

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation


@dataclass(frozen=True)
class JobVerdict:
    """Verdict on a job with its sentences. ``verdict``: slow, as usual, fast, too little history, not known."""

    verdict: str
    sentence: str
    """Sentence without a full stop."""
    evidence: tuple[str, ...]
    """A line for the run's own changes and a line per suspect; if history backs none, the expectation by chance."""
    rejected: str
    """Groups as usual and groups not measured; "" if nothing was examined."""
    history: str
    """Metrics that go with performance over all runs of the kind; "" if there are none."""
    told: tuple[Candidate, ...]
    unseen: tuple[str, ...] = ()
    """Metrics with values beyond all runs of the history, the farthest first."""
    own: tuple[str, ...] = ()
    """Changes in the run itself: ranks, nodes, bytes, transfer size, files."""
    looked: Looked = NOTHING
    shares: tuple[tuple[str, float, float, float], ...] = ()
    """Metrics that history backs: share of the loss, and both ends of its 90% interval."""
    twins: tuple[str, ...] = ()
    """Metrics that move together with those named, named beside them."""

    def lines(self) -> list[str]:
        """All lines behind the sentence."""
        return [*self.evidence, *(text for text in (self.rejected, self.history) if text)]

    def data(self) -> dict[str, object]:
        """For programs and the page."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "evidence": list(self.evidence),
            "rejected": self.rejected,
            "history": self.history,
            "told": [one.metric for one in self.told],
            "backed": [one.metric for one in self.told if backed(one)],
            "twins": list(self.twins),
            "unseen": list(self.unseen),
            "own": list(self.own),
            "as_usual": list(self.looked.as_usual),
            "not_measured": list(self.looked.not_measured),
            "loss_shares": [
                {"metric": name, "share": share, "low": low, "high": high}
                for name, share, low, high in self.shares
            ],
        }


def judge(found: Explanation) -> JobVerdict:
    """The verdict on a job and its sentences."""
    word = _word(found)
    parts = named(found) if word == "slow" else NamedReasons()
    told = parts.metrics
    looked = looked_at(found, frozenset(one.about.group for one in told))
    sentence = shortened(clauses(found, word, parts, looked))
    shares = tuple((one.metric, *found.shares[one.metric][:3]) for one in told if one.metric in found.shares and backed(one))  # fmt: skip  # noqa: E501
    return JobVerdict(
        word,
        sentence,
        evidence(found, parts, sentence) if word in _KNOWN else (),
        rejected(looked),
        goes_with(found),
        told,
        tuple(one.metric for one in found.unseen) if word in _KNOWN else (),
        tuple(one.what for one in found.own) if word in _KNOWN else (),
        looked,
        shares,
        tuple(one.twin.metric for one in parts.every if one.twin),
    )


_KNOWN = ("slow", "as usual", "fast")


def _word(found: Explanation) -> str:
    standing = found.performance.standing
    if standing is Standing.MISSING:
        return "not known"
    if standing is Standing.TOO_LITTLE_HISTORY or not np.isfinite(found.loss):
        return "too little history"
    if found.loss >= SLOW_FROM and standing in (Standing.BAD, Standing.POOR):
        return "slow"
    if found.loss <= -SLOW_FROM and standing in (Standing.GOOD, Standing.OK):
        return "fast"
    return "as usual"
