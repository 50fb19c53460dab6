"""Whose load explains the stretch: ``blame`` of the target, or of its healthy components."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from iosonde.jobs.attribution.blame import COVERED
from iosonde.jobs.attribution.culprits import Confidence
from iosonde.jobs.blame.answers import SLOW, blamed
from iosonde.jobs.blame.interval import BlameQuestion
from iosonde.model.errors import NothingMeasuredError
from iosonde.why.decide import SLOW_PEERS
from iosonde.why.links import Culprit, Gap, Link, LoadEvidence, Ratio, found, not_known, ruled_out
from iosonde.why.windows import typ_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.attribution.blame import Blame, NamedLoad
    from iosonde.jobs.attribution.culprits import Culprits, Suspect
    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.interval import Grouping
    from iosonde.model.frames import Frame
    from iosonde.why.links import Parts, StretchFacts
    from iosonde.why.question import Scene, Weather


MOST_OF_LOAD = 0.5
"""Share of all operations from which on a job may load one server alone."""
NO_OVERLOAD = ("hang", "failing")
"""Where nothing is answered, ordinary load is no cause: what comes after a hang is its effect."""
GROUPS: tuple[Grouping, ...] = ("user", "account")
"""Whose jobs together are asked for where no single job stands out: an array of short tasks is one of them."""
PART_OF_LOAD = 0.25
"""Share of all operations that a job has to have done to stand out from a sum that explains the course as well."""


def load_link(scene: Scene, parts: Parts | None) -> Link[LoadEvidence]:
    """Where the peers of a slow component are slow, too, their course is explained: what all share.

    Raises StoreError.
    """
    weather, slow, windows, question, now_ns = scene
    target, of_peers = slow.target, False
    part = parts.precise if parts else None
    if part and (part.peers_slow or 1.0) >= SLOW_PEERS:
        target, of_peers = _peer(weather, slow, windows) or slow.target, True
    asked = BlameQuestion(
        target,
        since_ns=slow.begin_ns,
        until_ns=min(now_ns, scene.end_ns),
        systems=question.systems,
    )
    try:
        answer = blamed(weather.root, asked, now_ns)
    except NothingMeasuredError:
        return not_known(Gap.NO_RECORDS)
    judged = _judged(answer, of_peers=of_peers)
    if judged.fact is None or not judged.fact.culprits:
        judged = _of_group(answer, of_peers=of_peers) or judged
    if slow.kind in NO_OVERLOAD and judged.found and judged.found.together:
        judged = ruled_out(replace(judged.found, together=False))
    return _of_one_server(judged) if part and not of_peers else judged


def _peer(weather: Weather, slow: StretchFacts, windows: Frame) -> str | None:
    """The component in the middle of the healthy ones."""
    names = [
        name
        for name in weather.targets(slow.host)
        if name != slow.target and weather.component(slow.host, name)[0] == slow.whole
    ]
    typ = {name: typ_of(windows, name, slow.op) for name in names}
    known = sorted((one.value, name) for name, one in typ.items() if one is not None)
    return known[len(known) // 2][1] if known else None


def _of_one_server(judged: Link[LoadEvidence]) -> Link[LoadEvidence]:
    """Healthy servers have the load of the file system, too: only a job that does most of it may load one server alone.

    What such a job was is never more than probable: nobody recorded whose operations the server had.
    """
    load = judged.found
    if load is None:
        return judged
    kept = tuple(
        replace(one, confidence=_weaker(one.confidence))
        for one in load.culprits
        if (one.ops_share or 0.0) >= MOST_OF_LOAD
    )
    dismissed = tuple(one for one in load.culprits if (one.ops_share or 0.0) < MOST_OF_LOAD)
    fact = replace(load, culprits=kept, together=False, dismissed=dismissed)
    return found(fact) if kept else ruled_out(fact)


def _weaker(word: Confidence) -> Confidence:
    return Confidence.PROBABLE if word is Confidence.MOST else word


def _judged(answer: BlameAnswer, *, of_peers: bool) -> Link[LoadEvidence]:
    done, fit = answer.found.shares, answer.found.found
    if fit is None:
        slow = answer.factor is not None and answer.factor >= SLOW
        return not_known(Gap.FEW_SLOTS if slow or answer.factor is None else Gap.NO_COURSE)
    culprits = tuple(_culprit(one, answer) for one in _named(answer.found))
    if fit.together and not _stand_out(culprits):
        culprits = ()
    fact = _evidence(answer, fit, culprits, of_peers=of_peers)
    if culprits:
        return found(fact)
    if fact.together and not _may_be_alone(answer.found.ranked):
        return found(fact)
    if any(one.alike for one in answer.found.ranked):
        return not_known(Gap.ALIKE)
    if done.covered < COVERED or answer.load.without:
        return not_known(Gap.PART_OF_RECORDS)
    return ruled_out(fact)


def _of_group(answer: BlameAnswer, *, of_peers: bool) -> Link[LoadEvidence] | None:
    """Users, else accounts, that stand out from others by what came with the slowdown; None: none does.

    A large account has the course of the sum of all jobs: that alone says nothing of it.
    """
    for by in GROUPS:
        grouped = answer.grouped(by)
        fit, others = grouped.found, sum(1 for one in grouped.shares.ranked if one.ops > 0)
        culprits = tuple(_group(one, by) for one in grouped.ranked if one.suspect.stands_out)
        if fit is not None and others > len(culprits) > 0 and _stand_out(culprits):
            return found(_evidence(answer, fit, culprits, of_peers=of_peers))
    return None


def _named(of: Blame) -> list[NamedLoad]:
    return [one for one in of.ranked if one.suspect.confidence is not Confidence.ACTIVE]


def _evidence(
    answer: BlameAnswer, fit: Culprits, culprits: tuple[Culprit, ...], *, of_peers: bool
) -> LoadEvidence:
    done = answer.found.shares
    per_s = done.total / max((done.end_ns - done.begin_ns) / 1e9, 1e-9)
    jobs = sum(1 for one in done.ranked if one.ops > 0)
    return LoadEvidence(culprits, fit.together and not culprits, per_s, jobs, fit.p, of_peers)


def _stand_out(culprits: Sequence[Culprit]) -> bool:
    """Where the sum of all loads explains it as well: whether one is sure and large, or they did most."""
    sure = any(
        one.confidence is Confidence.MOST
        and (one.ops_share is None or one.ops_share >= PART_OF_LOAD)
        for one in culprits
    )
    return sure or sum(one.ops_share or 0.0 for one in culprits) >= MOST_OF_LOAD


def _may_be_alone(ranked: Sequence[NamedLoad]) -> bool:
    """Whether one of several jobs of the same course did so much that it may be the load of one after all."""
    alike = [one for one in ranked if one.alike]
    return any(one.did is not None and one.did.share >= MOST_OF_LOAD for one in alike)


def _culprit(one: NamedLoad, answer: BlameAnswer) -> Culprit:
    run, suspect = answer.runs.get(one.who), one.suspect
    return Culprit(
        job=one.who,
        user=run.user if run else "",
        began_ns=run.began_ns if run else None,
        confidence=suspect.confidence,
        share=_share(suspect),
        ops_share=None if one.did is None else one.did.share,
    )


def _group(one: NamedLoad, by: Grouping) -> Culprit:
    return Culprit(
        job="",
        user=one.who if by == "user" else "",
        began_ns=None,
        confidence=one.suspect.confidence,
        share=_share(one.suspect),
        ops_share=None if one.did is None else one.did.share,
        by=by,
        account=one.who if by == "account" else "",
    )


def _share(suspect: Suspect) -> Ratio | None:
    return Ratio(suspect.share, suspect.lower, suspect.upper) if isfinite(suspect.share) else None
