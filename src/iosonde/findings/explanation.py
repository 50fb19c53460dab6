"""Why a job was slow, as sentences: what it lost, what stood out, what was looked at and rejected.

A coincidence is not a cause: what history does not back is said to have *stood out*, and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.amounts import amount, scale_of
from iosonde.model.job_metrics import JOB_METRICS
from iosonde.stats.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.analysis.culprits import Candidate, Explanation

SLOW_FROM = 0.1
"""A run that lost less of the usual performance is as usual, whatever quartile it is in."""
MOST_TOLD = 3
CLEAR_Q = 0.05
_WEAK, _OF_FIRST = 0.05, 0.25
"""A suspect with a smaller score, or a smaller share of the first one's, is not told of: it hardly stood out."""
_CAUSE, _ALIKE = 0.5, 0.75
_ASKED = ("contention", "metadata", "cpu", "fullness", "failover", "placement", "concurrency")
"""What people ask about first: those that were looked at and were as usual are named."""
_NAMES = {
    "contention": "contention for bandwidth",
    "metadata": "metadata load",
    "cpu": "server CPU",
    "fullness": "fullness",
    "failover": "failed-over servers",
    "placement": "placement of the job",
    "concurrency": "other jobs",
}


@dataclass(frozen=True)
class Verdict:
    """What is said of a job. ``verdict``: slow, as usual, fast, too little history, not known."""

    verdict: str
    sentence: str
    """One line, without a full stop."""
    evidence: tuple[str, ...]
    """A line a suspect."""
    rejected: str
    """What was as usual; "" when nothing was looked at."""
    history: str
    """What performance goes with over all runs of the kind; "" where nothing was found."""
    told: tuple[Candidate, ...]

    def lines(self) -> list[str]:
        """Everything behind the sentence, a line each."""
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
        }


def judge(found: Explanation) -> Verdict:
    """The verdict on a job and its sentences."""
    word = _word(found)
    told = leading(found) if word == "slow" else ()
    sentence = _performance(found, word)
    if word == "slow":
        sentence += ": " + (_reasons(told) if told else "no metric stood out on its bad side")
    evidence = tuple(map(_evidence, told))
    return Verdict(word, sentence, evidence, _rejected(found, told), _goes_with(found), told)


def shown_rows(found: Explanation, verdict: Verdict, standard: Sequence[str]) -> list[str]:
    """Rows of the diagram beside a verdict: the performance, what is told of, the usual ones."""
    return list(dict.fromkeys((found.measure, *(one.metric for one in verdict.told), *standard)))


def _goes_with(found: Explanation) -> str:
    """``over 26 runs of its kind performance goes with max OSS CPU (lower where it is high, 61 % of ranks)``."""
    if not found.picks:
        return ""
    parts = []
    labels = {one.metric: one.about.label for one in found.candidates}
    for name, gain, sign, shape in found.picks[:MOST_TOLD]:
        way = _WAYS[shape, sign]
        parts.append(f"{labels.get(name, name)} ({way}, {gain:.0%} of the variance of ranks)")
    return f"over {found.others + 1} runs of its kind performance goes with {', '.join(parts)}"


_WAYS = {
    ("monotone", 1): "higher where it is high",
    ("monotone", -1): "lower where it is high",
    ("threshold", 1): "higher beyond some value",
    ("threshold", -1): "lower beyond some value",
    ("U", 1): "lower in the middle",
    ("U", -1): "lower at both ends",
}


def leading(found: Explanation) -> tuple[Candidate, ...]:
    """One metric of each group, the most suspect groups first, at most ``MOST_TOLD``: a group says one thing.

    What may be an effect is passed over for a cause with half its score; of metrics that score alike the one
    that people know best is taken (the first in ``model.job_metrics``).
    """
    groups: dict[str, list[Candidate]] = {}
    for one in found.suspects:
        backed = one.stood.standing is Standing.POOR and one.q <= CLEAR_Q
        if one.stood.standing in _STOOD_OUT or backed:
            groups.setdefault(one.about.group or one.metric, []).append(one)
    most = max((some[0].score for some in groups.values()), default=0.0)
    least = max(_WEAK, _OF_FIRST * most)
    return tuple(_known_best(some) for some in groups.values() if some[0].score >= least)[
        :MOST_TOLD
    ]


def _known_best(some: list[Candidate]) -> Candidate:
    order = {name: place for place, name in enumerate(JOB_METRICS)}
    causes = [one for one in some if one.tag != "effect" and one.score >= _CAUSE * some[0].score]
    clear = causes or some
    alike = [one for one in clear if one.score >= _ALIKE * clear[0].score]
    return min(alike, key=lambda one: order.get(one.metric, len(order)))


_STOOD_OUT = (Standing.BAD, Standing.NEUTRAL)
"""What only stands in the second worst quarter is told of where history backs it."""


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


def _performance(found: Explanation, word: str) -> str:
    what = f"job {found.job_id}"
    kind = " on ".join(text for text in (found.motif, found.file_system) if text)
    what += f" ({kind})" if kind else ""
    if word == "not known":
        return f"how fast {what} was is not known"
    value = _value(found.performance.value, found.measure)
    if word == "too little history":
        runs = "no other run" if found.others == 0 else f"{found.performance.n} other runs"
        return f"{what}: {value}; {runs} of its kind, too few to say whether that is slow"
    rank = _rank(found)
    usual = _value(found.usual, found.measure)
    if word == "as usual":
        return f"{what} was as fast as usual: {value}, {rank} (usual {usual})"
    side = "slower" if word == "slow" else "faster"
    return f"{what} was {abs(found.loss):.0%} {side} than usual: {value} instead of {usual}, {rank}"


def _value(value: float, measure: str) -> str:
    if measure == "fraction_of_peak_ratio":
        return f"{100 * value:.0f} % of its peak"
    unit = "bytes/s" if measure.endswith("bytes_per_s") else "operations/s"
    return amount(value, scale_of(unit, [value])).replace(" /s", "/s")


def _rank(found: Explanation) -> str:
    n, share = found.performance.n, found.performance.share
    if share == 0:
        return f"the slowest of {n + 1} runs"
    if share == 1:
        return f"the fastest of {n + 1} runs"
    return f"faster than {share:.0%} of {n} runs of its kind"


def _reasons(told: tuple[Candidate, ...]) -> str:
    words = [_by_others(one) or _short(one) for one in told]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_SHARED = {
    "cf_bandwidth_ratio": "traffic was that",
    "cf_ops_ratio": "reads and writes were those",
    "cf_opens_ratio": "opens were those",
    "cf_stats_ratio": "stats were those",
}


def _by_others(one: Candidate) -> str:
    """``61% of the servers' traffic was that of others (usual 1%)``: a coverage factor in plain words, else "".

    Of a factor above 1 nothing is left for others.
    """
    if one.metric not in _SHARED or not np.isfinite((one.stood.value, one.usual)).all():
        return ""
    others, usual = (max(0.0, 1.0 - share) for share in (one.stood.value, one.usual))
    return f"{others:.0%} of the servers' {_SHARED[one.metric]} of others (usual {usual:.0%})"


def _short(one: Candidate) -> str:
    """``closes 5153/s (usual 260/s)``."""
    value, usual = _of(one, one.stood.value), _of(one, one.usual)
    return f"{one.about.label.removesuffix(' a second')} {value} (usual {usual})"


def _of(one: Candidate, value: float) -> str:
    return amount(value, scale_of(one.about.unit, [value])).replace(" /s", "/s")


def _evidence(one: Candidate) -> str:
    share = one.stood.share
    where = (
        f"beyond all {one.stood.n} runs"
        if share in (0.0, 1.0)
        else f"{'above' if share >= 0.5 else 'below'} {max(share, 1 - share):.0%} of {one.stood.n} runs"
    )
    text = f"{_short(one)}: {where}"
    if np.isfinite(one.loss) and one.matches:
        runs = "1 run" if one.matches == 1 else f"{one.matches} runs"
        lost = f"were {one.loss:.0%} slower" if one.loss > 0.005 else "were not slower"
        lost = lost.replace("were", "was") if one.matches == 1 else lost
        like = "nearest to it" if share in (0.0, 1.0) else "with a value like it"
        text += f"; {runs} {like} {lost}"
    text += f"; {_history(one)}"
    if one.tag == "effect":
        text += "; fast runs raise it themselves, so it may be an effect"
    if one.tag == "climate":
        text += "; it changes over weeks: a climate, not the weather of a day"
    return text


def _history(one: Candidate) -> str:
    """What all runs together say of the metric."""
    if not np.isfinite(one.rho):
        return "it did not vary before"
    if not np.isfinite(one.q):
        return f"too few independent runs to test it (rank correlation {one.rho:+.2f}, n = {one.n})"
    sure = "goes with performance" if one.q <= CLEAR_Q else "is not shown to go with performance"
    return f"over all runs it {sure} (rank correlation {one.rho:+.2f}, q = {one.q:.2g})"


def _rejected(found: Explanation, told: tuple[Candidate, ...]) -> str:
    """Groups that were looked at and of which no metric stood in its worst quartile."""
    named = {one.about.group for one in told}
    as_usual = []
    for group in _ASKED:
        members = [c for c in found.candidates if c.about.group == group and not c.leak]
        known = [c for c in members if c.stood.standing in _JUDGED]
        if (
            group not in named
            and known
            and all(c.stood.standing is not Standing.BAD for c in known)
        ):
            as_usual.append(_NAMES[group])
    return f"as usual: {', '.join(as_usual)}" if as_usual else ""


_JUDGED = (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD)
