"""Why a job was slow, as sentences: what it lost, what stood out, what was looked at and rejected.

A coincidence is not a cause: what history does not back is said to have *stood out*, and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.explain.rate_words import SLOW_FROM, of_its_time, say_rank, say_rate, say_since
from iosonde.jobs.explain.verdict import MOST_TOLD, against, backed, in_line, leading, side
from iosonde.jobs.umami.quartile import Standing
from iosonde.model.amounts import amount, scale_of

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation

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
class JobVerdict:
    """What is said of a job. ``verdict``: slow, as usual, fast, too little history, not known."""

    verdict: str
    sentence: str
    """One line, without a full stop."""
    evidence: tuple[str, ...]
    """A line a suspect; where history backs none of them, what chance alone would have put there."""
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
            "backed": [one.metric for one in self.told if backed(one)],
        }


def judge(found: Explanation) -> JobVerdict:
    """The verdict on a job and its sentences."""
    word = _word(found)
    told = leading(found) if word == "slow" else ()
    sentence = _performance(found, word)
    if found.since is not None and word in ("slow", "as usual", "fast"):
        sentence += say_since(found.since, found.measure)
    if word == "slow":
        sentence += _because(told, of_its_time(found))
    evidence = tuple(map(_evidence, told))
    if told and not any(map(backed, told)) and not of_its_time(found):
        evidence += _chance(found)
    return JobVerdict(word, sentence, evidence, _rejected(found, told), _goes_with(found), told)


def _goes_with(found: Explanation) -> str:
    """``... performance goes with max OSS CPU (lower where it is high, 61% of the variance of ranks)``."""
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
    value = say_rate(found.performance.value, found.measure)
    if word == "too little history":
        runs = "no other run" if found.others == 0 else f"{found.performance.n} other runs"
        return f"{what}: {value}; {runs} of its kind, too few to say whether that is slow"
    rank = say_rank(found)
    usual = say_rate(found.usual, found.measure)
    if word == "as usual":
        extreme = found.performance.standing in (Standing.BAD, Standing.GOOD)
        within = f", within {SLOW_FROM:.0%}" if extreme else ""
        return f"{what} was as fast as usual{within}: {value}, {rank} (usual {usual})"
    side = "slower" if word == "slow" else "faster"
    return f"{what} was {abs(found.loss):.0%} {side} than usual: {value} instead of {usual}, {rank}"


def _because(told: tuple[Candidate, ...], of_its_time: bool) -> str:
    """What history backs stands behind a colon; what only stood out is called so.

    Where the run is like all since a lasting change, everything that changed since then goes with performance.
    """
    if of_its_time:
        return f"; what is otherwise than before: {_reasons(told)}" if told else ""
    if not told:
        return ": no metric stood out on its bad side"
    sure = tuple(one for one in told if backed(one))
    rest = tuple(one for one in told if not backed(one))
    if not sure:
        return (
            f"; unusual, but other runs do not show that such values cost speed: {_reasons(rest)}"
        )
    return f": {_reasons(sure)}" + (f"; {_reasons(rest)} stood out too" if rest else "")


def _chance(found: Explanation) -> tuple[str, ...]:
    """How many metrics were asked, and how many of them would stand out whatever happened."""
    asked = [c for c in found.candidates if not c.leak and c.stood.standing in _JUDGED]
    bad = sum(c.stood.standing is Standing.BAD for c in asked)
    beyond = sum(c.stood.share == (1.0 if side(c) > 0 else 0.0) for c in asked)
    by_chance = sum(1 / (c.stood.n + 1) for c in asked)
    if not asked:
        return ()
    return (
        f"{bad} of {len(asked)} metrics stood in the worst quarter, {beyond} beyond all runs; "
        f"chance alone puts {len(asked) / 4:.2g} and {by_chance:.2g} there",
    )


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
    numbers = f"rank correlation {one.rho:+.2f}, q = {one.q:.2g}"
    if in_line(one):
        sure = "goes with slow runs"
    elif backed(one):
        sure, numbers = (
            "goes with slow runs, not in a line",
            f"{numbers}, any shape {one.shape_q:.2g}",
        )
    elif against(one):
        sure = "goes with fast runs"
    else:
        sure = "is not shown to go with performance"
    return f"over all runs it {sure} ({numbers})"


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
