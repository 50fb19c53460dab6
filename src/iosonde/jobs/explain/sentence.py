"""The sentence about a job: its own changes, its loss, what could explain it, what is new.

A coincidence is not a cause: what history does not back is said to be unusual, and nothing more. What does not fit into
the sentence (``shortened``) is in the lines below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.jobs.explain import reason_words as say
from iosonde.jobs.explain.chance import new_by_chance
from iosonde.jobs.explain.comparable import SLOW_FROM
from iosonde.jobs.explain.rate_words import say_levels, say_rank, say_rate
from iosonde.jobs.explain.shortened import Clause
from iosonde.jobs.umami.quartile import Standing
from iosonde.model.units import day

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.measured_groups import Looked
    from iosonde.jobs.explain.verdict import LossReason, NamedReasons

_SPEED, _REASON, _SINCE, _DETAIL, _MORE, _RANK, _USUAL = 9, 6, 5, 4, 3, 2, 1
"""Weights: what matters least is shortened first."""


def clauses(found: Explanation, word: str, told: NamedReasons, looked: Looked) -> list[Clause]:
    """Parts of the sentence in their order; the run's own changes first. ``word``: the verdict."""
    job = f"job {found.job_id}"
    kind = " on ".join(text for text in (found.motif, found.file_system) if text)
    what = Clause((f"{job} ({kind})", job) if kind else (job,), _RANK)
    if word == "not known":
        return [Clause(("how fast ",), _SPEED), what, Clause((" was is not known",), _SPEED)]
    value = say_rate(found.performance.value, found.measure)
    if word == "too little history":
        runs = "no other run" if found.others == 0 else f"{found.performance.n} other runs"
        text = f": {value}; {runs} of its kind, too few to say whether that is slow"
        return [what, Clause((text,), _SPEED)]
    lead, verb = [what], " was "
    if found.own:
        own = (say.say_own(found.own), say.say_own_shortly(found.own))
        lead, verb = (
            [what, Clause(tuple(f" itself had {text}" for text in own), _DETAIL)],
            "; it was ",
        )
    because = [*_because(found, told, looked), *_row_of_slow(found)] if word == "slow" else []
    return [*lead, *_speed(found, word, verb), *because]


def _speed(found: Explanation, word: str, verb: str) -> list[Clause]:
    """Rate, rank, and since when that is usual."""
    value, usual = (say_rate(v, found.measure) for v in (found.performance.value, found.usual))
    beside = "such runs" if found.level is not None else "usual"
    when = "" if found.since is None else f" since {day(found.since.at_ns)}"
    parts = []
    if word == "as usual":
        extreme = found.performance.standing in (Standing.BAD, Standing.GOOD)
        within = f", within {SLOW_FROM:.0%}" if extreme else ""
        parts.append(Clause((f"{verb}as fast as {beside}{when}{within}: {value}",), _SPEED))
    else:
        side = "slower" if word == "slow" else "faster"
        levels = say_levels(found.performance.value, found.usual, found.measure)
        levels = levels.replace(" of its peak", "", 1) if "of its peak" in levels else levels
        text = f"{verb}{abs(found.loss):.0%} {side} than {beside}{when}: {levels}"
        parts.append(Clause((text,), _SPEED))
    if found.level is None:
        parts.append(Clause((f", {say_rank(found)}", ""), _RANK))
    if word == "as usual":
        parts.append(Clause((f" (usual {usual})", ""), _USUAL))
    if found.since is not None:
        before = say_rate(found.since.before, found.measure)
        parts.append(Clause((f"; before then {before}", ""), _SINCE))
    return parts


def _because(found: Explanation, told: NamedReasons, looked: Looked) -> list[Clause]:
    """What history backs; else what was never seen; else what only stood out."""
    droppable = ("",) if found.own else ()
    if told.backed:
        return [Clause((*_backed(found, told), *droppable), _REASON)]
    if told.unseen:
        return [Clause((*_unseen(found, told), *droppable), _REASON)]
    if told.rest:
        return [Clause((*_unusual(told), *droppable), _REASON)]
    nothing = ("; no metric stood out on its bad side", "; no metric stood out")
    spared = ("",) if found.own or found.streak is not None else ()
    parts = [Clause((*nothing, *spared), _MORE)]
    if looked.not_measured:
        parts.append(Clause((f"; not measured: {', '.join(looked.not_measured)}", ""), _DETAIL))
    return parts


def _backed(found: Explanation, told: NamedReasons) -> tuple[str, ...]:
    """``; max OSS CPU 92% (usual 30%) could explain 50-90% of the loss``; further reasons, if there is room.

    Of what moves with a metric that was taken for the job's own doing no share is said.
    """
    first, *others = told.backed
    twin = first.twin
    share = None if twin is not None and twin.leak else found.shares.get(first.first.metric)
    one, two = say.say_share(share), say.say_share(share, several=True)
    forms = []
    if twin is not None:
        forms.append(f"; {say.say_reason(first)}, {two}")
        forms += [
            f"; {how(first.first)} or {how(twin)} {one}" for how in (say.say_bare, say.say_label)
        ]
    forms += [f"; {text} {one}" for text in _alone(first)]
    if others:
        more = say.say_reasons(others, twins=False)
        forms = [f"{forms[0]}; so may {more}", *forms]
    return tuple(dict.fromkeys(forms))


def _unseen(found: Explanation, told: NamedReasons) -> tuple[str, ...]:
    """``; max MDS CPU 97% (usual 12%), never seen in 90 runs (chance: 0.2 of 14)``; two metrics if they fit."""
    first, *others = told.unseen
    expected, asked = new_by_chance(found.candidates)
    chance = f"(chance: {expected:.1g} of {asked})"
    more = first.twin or (others[0].first if others else None)
    pairs = []
    if more is not None:
        pairs = [f"{how(first.first)} and {how(more)}" for how in (say.say_bare, say.say_label)]
    texts = [*pairs, *_alone(first)]
    if first.twin is not None:
        texts = [say.say_reason(first), *pairs]
    seen = [f"; {text}, never seen in {first.first.stood.n} runs {chance}" for text in texts]
    short = [*(pairs if first.twin is not None else ()), *_alone(first)[1:]]
    return (*seen, *(f"; new: {text} {chance}" for text in short), f"; new: {short[-1]}")


def _unusual(told: NamedReasons) -> tuple[str, ...]:
    """Metrics that only stood out, in longer and shorter forms."""
    texts = [say.say_reasons(told.rest)]
    texts += [say.say_reasons(told.rest[:n], twins=False) for n in (len(told.rest), 2, 1)]
    bare = _alone(told.rest[0])[1:]
    last = [f"; unusual, cost unknown: {text}" for text in bare]
    begin = "; unusual, but other runs do not show that such values cost speed: "
    short = "; unusual, but not shown to cost speed: "
    return tuple(
        dict.fromkeys(
            (f"{begin}{texts[0]}", *(f"{short}{text}" for text in (*texts, bare[0])), *last)
        )
    )


def _alone(reason: LossReason) -> tuple[str, str, str]:
    """``max OSS CPU 92% (usual 30%)``, and shorter."""
    one = reason.first
    return say.say_reason(reason, twins=False), say.say_bare(one), say.say_label(one)


_ORDINALS = {3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}


def _row_of_slow(found: Explanation) -> list[Clause]:
    """``; the third slow run in 4 days``."""
    if found.streak is None:
        return []
    n, days = len(found.streak.at_ns), found.streak.days
    which = f"the {_ORDINALS[n]}" if n in _ORDINALS else f"the {n}th"
    when = "on one day" if days == 1 else f"in {days} days"
    return [Clause((f"; {which} slow run {when}", ""), _SINCE)]
