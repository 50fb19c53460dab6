"""Lines behind the sentence about a job: own changes, reasons with their numbers, what is new by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.jobs.explain import reason_words as say
from iosonde.jobs.explain.chance import new_by_chance
from iosonde.jobs.explain.rate_words import say_rank, say_rate
from iosonde.jobs.explain.verdict import MOST_TOLD, NamedReasons, side
from iosonde.jobs.umami.quartile import Standing
from iosonde.model.units import day

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.measured_groups import Looked

_MOST_UNSEEN = 8
_JUDGED = (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD)


def evidence(found: Explanation, told: NamedReasons, sentence: str) -> tuple[str, ...]:
    """Lines: the run's own changes, reasons, unseen values, remarks cut from the sentence, chance."""
    lines = [say.say_own_line(one, level=one is found.level) for one in found.own]
    lines += [say.say_evidence(one, found.shares.get(one.first.metric)) for one in told.backed]
    lines += [say.say_unseen_line(one) for one in told.unseen]
    lines += [say.say_evidence(one, None) for one in told.rest]
    lines += _also_unseen(found, told)
    kind = " on ".join(text for text in (found.motif, found.file_system) if text)
    if f"({kind})" not in sentence:
        lines.append(f"its kind: {kind}")
    if found.level is None and say_rank(found) not in sentence:
        lines.append(f"it was {say_rank(found)}")
    lines += [*_since(found), *_row_of_slow(found)]
    if told.metrics and not told.backed:
        lines += _chance(found)
    return tuple(lines)


def _since(found: Explanation) -> list[str]:
    """``usual is that of the 57 other runs since 2017-08-04, when its kind fell from 18.2 GiB/s to 2.43 GiB/s``."""
    one = found.since
    if one is None:
        return []
    verb = "fell" if one.median < one.before else "rose"
    verb = f"gradually {verb}" if one.gradual else verb
    levels = f"from {say_rate(one.before, found.measure)} to {say_rate(one.median, found.measure)}"
    return [
        f"usual is that of the {one.n} other runs since {day(one.at_ns)}, when its kind {verb} {levels}"
    ]


def _row_of_slow(found: Explanation) -> list[str]:
    if found.streak is None:
        return []
    return [f"slow runs shortly before it: {', '.join(map(day, found.streak.at_ns[:-1]))}"]


def _also_unseen(found: Explanation, told: NamedReasons) -> tuple[str, ...]:
    """Unseen values that are mentioned nowhere else."""
    already = {one.metric for two in told.every for one in two if one is not None}
    more = [one.about.label for one in found.unseen if one.metric not in already]
    if not more:
        return ()
    also = "also beyond" if told.metrics else "beyond"
    n = max(one.stood.n for one in found.unseen)
    left = len(more) - _MOST_UNSEEN
    and_more = f" and {left} more" if left > 0 else ""
    return (f"{also} all {n} runs: {', '.join(more[:_MOST_UNSEEN])}{and_more}",)


def _chance(found: Explanation) -> tuple[str, ...]:
    """Number of metrics tested, and number expected to stand out by chance."""
    asked = [c for c in found.candidates if not c.leak and c.stood.standing in _JUDGED]
    bad = sum(c.stood.standing is Standing.BAD for c in asked)
    beyond = sum(c.stood.share == (1.0 if side(c) > 0 else 0.0) for c in asked)
    by_chance = new_by_chance(asked).expected
    if not asked:
        return ()
    return (
        f"{bad} of {len(asked)} metrics stood in the worst quarter, {beyond} beyond all runs; "
        f"chance alone puts {len(asked) / 4:.2g} and {by_chance:.2g} there",
    )


def rejected(looked: Looked) -> str:
    """``as usual: fullness; not measured: server CPU``."""
    parts = []
    if looked.as_usual:
        parts.append(f"as usual: {', '.join(looked.as_usual)}")
    if looked.not_measured:
        parts.append(f"not measured: {', '.join(looked.not_measured)}")
    return "; ".join(parts)


def goes_with(found: Explanation) -> str:
    """``... performance goes with max OSS CPU (lower where it is high, 61% of the variance of ranks)``."""
    if not found.picks:
        return ""
    parts = []
    labels = {one.metric: one.about.label for one in found.candidates}
    for name, gain, sign, shape in found.picks[:MOST_TOLD]:
        way = _WAYS[shape, sign]
        parts.append(f"{labels.get(name, name)} ({way}, {gain:.0%} of the variance of ranks)")
    return f"over {found.others} runs of its kind performance goes with {', '.join(parts)}"


_WAYS = {
    ("monotone", 1): "higher where it is high",
    ("monotone", -1): "lower where it is high",
    ("threshold", 1): "higher beyond some value",
    ("threshold", -1): "lower beyond some value",
    ("U", 1): "lower in the middle",
    ("U", -1): "lower at both ends",
}
