"""Sentences about a slow job: its own changes, its loss, the share explained, unseen values.

A coincidence is not a cause: what history does not back is said to be unusual, and nothing more. A sentence has at most
``LONGEST`` characters; what does not fit is in the lines below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.explain import reason_words as say
from iosonde.jobs.explain.measured_groups import NOTHING, Looked, looked_at
from iosonde.jobs.explain.rate_words import (
    SLOW_FROM,
    of_its_time,
    say_rank,
    say_rate,
    say_since,
    say_since_shortly,
)
from iosonde.jobs.explain.shortened import Clause, shortened
from iosonde.jobs.explain.verdict import (
    CLEARLY_BEYOND,
    MOST_TOLD,
    NamedReasons,
    backed,
    named,
    side,
)
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
    sentence = shortened(_sentence(found, word, parts, looked))
    shares = tuple((one.metric, *found.shares[one.metric][:3]) for one in told if one.metric in found.shares and backed(one))  # fmt: skip  # noqa: E501
    return JobVerdict(
        word,
        sentence,
        _evidence(found, word, parts, sentence),
        _rejected(looked),
        _goes_with(found),
        told,
        tuple(one.metric for one in found.unseen) if word in _KNOWN else (),
        tuple(one.what for one in found.own) if word in _KNOWN else (),
        looked,
        shares,
        tuple(one.twin.metric for one in (*parts.backed, *parts.unseen, *parts.rest) if one.twin),
    )


_KNOWN = ("slow", "as usual", "fast")


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


def _sentence(found: Explanation, word: str, told: NamedReasons, looked: Looked) -> list[Clause]:
    """Parts of the sentence in their order; the run's own changes first."""
    job = f"job {found.job_id}"
    kind = " on ".join(text for text in (found.motif, found.file_system) if text)
    what = Clause((f"{job} ({kind})", job) if kind else (job,), 4)
    if word == "not known":
        return [Clause(("how fast ",), 9), what, Clause((" was is not known",), 9)]
    value = say_rate(found.performance.value, found.measure)
    if word == "too little history":
        runs = "no other run" if found.others == 0 else f"{found.performance.n} other runs"
        text = f": {value}; {runs} of its kind, too few to say whether that is slow"
        return [what, Clause((text,), 9)]
    own = _own_part(found)
    lead = [what, own] if own is not None else [what]
    verb = " was " if own is None else "; it was "
    return [*lead, *_speed(found, word, verb), *_because(found, word, told, looked)]


def _own_part(found: Explanation) -> Clause | None:
    if not found.own:
        return None
    return Clause(
        (f" itself had {say.say_own(found.own)}", f" itself had {say.say_own_shortly(found.own)}"),
        5,
    )


def _speed(found: Explanation, word: str, verb: str) -> list[Clause]:
    """Rate, rank, and position among runs since a lasting change."""
    value, usual = (say_rate(v, found.measure) for v in (found.performance.value, found.usual))
    rank = Clause((f", {say_rank(found)}", ""), 2)
    if word == "as usual":
        extreme = found.performance.standing in (Standing.BAD, Standing.GOOD)
        within = f", within {SLOW_FROM:.0%}" if extreme else ""
        parts = [Clause((f"{verb}as fast as usual{within}: {value}",), 9), rank]
        parts.append(Clause((f" (usual {usual})", ""), 1))
    else:
        side_word = "slower" if word == "slow" else "faster"
        usual = usual.removesuffix(" of its peak")
        text = f"{verb}{abs(found.loss):.0%} {side_word} than usual: {value} instead of {usual}"
        parts = [Clause((text,), 9), rank]
    if found.since is not None:
        long = f"; {say_since(found.since, found.measure)}"
        parts.append(Clause((long, f"; {say_since_shortly(found.since)}"), 4))
    return parts


def _because(found: Explanation, word: str, told: NamedReasons, looked: Looked) -> list[Clause]:
    """Share of the loss explained by metrics that history backs; others that stood out are called unusual.

    Where the run is like all since a lasting change, everything that changed since then goes with performance.
    """
    if word != "slow":
        return []
    if of_its_time(found):
        every = (*told.backed, *told.unseen, *told.rest)
        if not every:
            return []
        text = "; what is otherwise than before: "
        long, short = (f"{text}{say.say_reasons(every[:n], twins=False)}" for n in (3, 1))
        return [Clause(tuple(dict.fromkeys((long, short, ""))), 5)]
    parts = [_backed_part(found, told)] if told.backed else []
    if told.rest and not told.backed and (told.rest_first or not told.unseen):
        parts.append(Clause(_unusual(told), 5 if told.rest_first else 6))
    if told.unseen:
        parts += _unseen_parts(told)
    if told.rest and (told.backed or (told.unseen and not told.rest_first)):
        parts.append(
            Clause((f"; {say.say_reasons(told.rest, twins=False)} stood out too", ""), 0, True)
        )
    if not parts:
        parts.append(Clause(("; no metric stood out on its bad side",), 5))
        if looked.not_measured:
            parts.append(Clause((f"; not measured: {', '.join(looked.not_measured)}", ""), 3))
    return parts


def _unusual(told: NamedReasons) -> tuple[str, ...]:
    """Metrics that only stood out, in longer and shorter forms."""
    texts = [say.say_reasons(told.rest)]
    texts += [say.say_reasons(told.rest[:n], twins=False) for n in (len(told.rest), 2, 1)]
    texts += [say.say_bare(told.rest[0].first), say.say_shortest(told.rest[0].first)]
    begin = "; unusual, but other runs do not show that such values cost speed: "
    short = "; unusual, but not shown to cost speed: "
    return tuple(dict.fromkeys((f"{begin}{texts[0]}", *(f"{short}{text}" for text in texts))))


def _backed_part(found: Explanation, told: NamedReasons) -> Clause:
    """``; max OSS CPU 92% (usual 30%) accounts for 70% (50-90%) of the loss``; further reasons, if there is room."""
    first, *others = told.backed
    share = found.shares.get(first.first.metric)

    def accounted(reason: str, verb: str = "accounts for") -> str:
        if share is None:
            return f"; {reason} goes with slow runs"
        return f"; {reason} {verb} {say.say_share(share)}"

    verb = "accounts for" if first.twin is None else "account for"
    forms = [
        accounted(say.say_reason(first), verb),
        accounted(say.say_reason(first, twins=False)),
        accounted(say.say_bare(first.first)),
        accounted(say.say_shortest(first.first)),
    ]
    if others:
        more = say.say_reasons(others, twins=False)
        forms = [f"{forms[0]}; so may {more}", *forms]
    return Clause(tuple(dict.fromkeys(forms)), 6)


def _unseen_parts(told: NamedReasons) -> list[Clause]:
    """``; max MDS CPU 97% (usual 12%), never seen in 90 runs, so history cannot say what it costs``; two if it fits."""
    first, *others = told.unseen
    seen = f"never seen in {first.first.stood.n} runs"
    bare = say.say_bare(first.first)
    texts = [say.say_reason(first, twins=twins) for twins in (True, False)]
    more = first.twin
    if more is None and others and others[0].first.beyond >= CLEARLY_BEYOND:
        more = others[0].first
        texts = [say.say_reasons(told.unseen[:2], twins=False), *texts]
    if more is not None:
        texts.insert(1, f"{bare} and {say.say_bare(more)}")
    last = ("",) if told.backed or told.rest_first else ()
    forms = (
        *(f"; {text}, {seen}" for text in (*texts, bare, say.say_shortest(first.first))),
        *last,
    )
    price = (f", {say.NO_PRICE}", f", {say.UNKNOWN_PRICE}", "")
    return [Clause(tuple(dict.fromkeys(forms)), 5), Clause(price, 3)]


def _evidence(found: Explanation, word: str, told: NamedReasons, sentence: str) -> tuple[str, ...]:
    """Lines: the run's own changes, reasons, unseen values, remarks cut from the sentence, chance."""
    if word not in _KNOWN:
        return ()
    lines = [say.say_own_line(one) for one in found.own]
    lines += [say.say_evidence(one, found.shares.get(one.first.metric)) for one in told.backed]
    fresh = [say.say_unseen_line(one) for one in told.unseen]
    rest = [say.say_evidence(one, None) for one in told.rest]
    lines += [*rest, *fresh] if told.rest_first else [*fresh, *rest]
    lines += _also_unseen(found, told)
    kind = " on ".join(text for text in (found.motif, found.file_system) if text)
    if f"({kind})" not in sentence:
        lines.append(f"its kind: {kind}")
    if say_rank(found) not in sentence:
        lines.append(f"it was {say_rank(found)}")
    if found.since is not None and say_since(found.since, found.measure) not in sentence:
        lines.append(f"it was {say_since(found.since, found.measure)}")
    if told.metrics and not told.backed and not of_its_time(found):
        lines += _chance(found)
    return tuple(lines)


def _also_unseen(found: Explanation, told: NamedReasons) -> tuple[str, ...]:
    """Unseen values that are mentioned nowhere else."""
    reasons = (*told.backed, *told.unseen, *told.rest)
    already = {one.metric for two in reasons for one in two if one is not None}
    more = [one.about.label for one in found.unseen if one.metric not in already]
    if not more:
        return ()
    also = "also beyond" if told.metrics else "beyond"
    n = max(one.stood.n for one in found.unseen)
    return (f"{also} all {n} runs: {', '.join(more[:_MOST_UNSEEN])}{_and_more(more)}",)


_MOST_UNSEEN = 8


def _and_more(names: list[str]) -> str:
    return f" and {len(names) - _MOST_UNSEEN} more" if len(names) > _MOST_UNSEEN else ""


def _chance(found: Explanation) -> tuple[str, ...]:
    """Number of metrics tested, and number expected to stand out by chance."""
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


def _rejected(looked: Looked) -> str:
    """``as usual: fullness; not measured: server CPU``."""
    parts = []
    if looked.as_usual:
        parts.append(f"as usual: {', '.join(looked.as_usual)}")
    if looked.not_measured:
        parts.append(f"not measured: {', '.join(looked.not_measured)}")
    return "; ".join(parts)


_JUDGED = (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD)
