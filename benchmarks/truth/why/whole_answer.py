"""What ``iosonde why`` makes of incidents with a known cause: the kind, the component, the job, and what is withheld.

python -m benchmarks truth --only incidents            40 incidents a kind, 10 a distribution
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from benchmarks.truth.target import Row, share
from benchmarks.truth.why.incident_draws import DRAWS
from benchmarks.truth.why.incidents import LINKS, Incident, incident
from iosonde.why.answers import why
from iosonde.why.evidence import lines
from iosonde.why.links import Kind, LinkStanding, Why
from iosonde.why.question import WhyQuestion
from iosonde.why.words import MOST_WORDS, say

KINDS = (
    *(Kind.SLOW_COMPONENT, Kind.ONE_JOB, Kind.LASTING_CHANGE, Kind.THIS_HOST),
    *(Kind.RECURRING, Kind.OVERLOAD, Kind.SEVERAL, Kind.NOTHING_SLOW, Kind.EVERYTHING),
)
WITHHELD = {
    "component": Kind.SLOW_COMPONENT,
    "load": Kind.ONE_JOB,
    "host": Kind.ONE_JOB,
    "recurrence": Kind.SLOW_COMPONENT,
}
"""Whose data are left out of which kind."""
assert set(WITHHELD) == set(LINKS)


class Case(NamedTuple):
    """One incident to make and ask about."""

    kind: Kind
    draw: str
    seed: int
    withheld: str = ""


class Judged(NamedTuple):
    """``kind``: what ``why`` said; ``named``: the right component and jobs, and no others; None: there is none.

    ``told``: a link whose data were withheld is named as not known; ``guessed``: it has a name all the same.
    ``holds``: the factor's interval has the true one of the stretch that is told, ``whole``: of the incident from its
    begin to its end; None: no factor is said, or none is known.
    """

    case: Case
    kind: Kind
    named: bool | None
    told: bool
    guessed: bool
    words: int
    sentence: str
    holds: bool | None
    whole: bool | None

    @property
    def honest(self) -> bool:
        """The right kind, a part of it, or no cause."""
        parts = {Kind.SEVERAL: (Kind.ONE_JOB, Kind.SLOW_COMPONENT)}.get(self.case.kind, ())
        return self.kind in (self.case.kind, Kind.NO_CAUSE, Kind.NOTHING_SLOW, *parts)


def judge(case: Case) -> Judged:
    """Make the incident, ask, compare."""
    with tempfile.TemporaryDirectory() as folder:
        made = incident(case.kind, case.seed, Path(folder), case.draw, case.withheld)
        question = WhyQuestion(made.targets, made.at_ns, model=False)
        found = why(made.root, question, made.now_ns)
        text = say(found, made.now_ns)
        every = " ".join([text, *lines(found, made.now_ns)])
    named = None
    if made.component or made.jobs:
        named = _component(found) == made.component and _jobs(found) == made.jobs
    told = guessed = False
    if case.withheld:
        link = getattr(found.links, case.withheld)
        told = (
            link.standing is LinkStanding.UNKNOWN and case.withheld in text.split("not known:")[-1]
        )
        guessed = link.fact is not None or _names_withheld(case.withheld, text, every)
    holds = _holds(found, made)
    return Judged(case, found.kind, named, told, guessed, len(text.split()), text, *holds)


def _holds(found: Why, made: Incident) -> tuple[bool | None, bool | None]:
    """Whether the factor's interval has the true one of the told stretch, and of the whole incident."""
    slow = found.links.slowness.found
    if slow is None or slow.factor is None or slow.target not in made.courses:
        return None, None
    course = made.courses[slow.target]
    true = [course.slowdown(*span) for span in ((slow.begin_ns, slow.seen_until_ns), made.span_ns)]
    told, whole = (bool(slow.factor.lower <= one <= slow.factor.upper) for one in true)
    return told, whole


def _component(found: Why) -> str | None:
    parts = found.links.component.found
    return parts.precise.name if parts and parts.precise else None


def _jobs(found: Why) -> tuple[str, ...]:
    load = found.links.load.found
    return tuple(one.job for one in load.culprits) if load else ()


def _names_withheld(link: str, text: str, every: str) -> bool:
    """Whether an answer names what it cannot know; without the host's control a job did not cause "most"."""
    return {
        "component": "OST" in every,
        "load": "job " in text or "900001" in every,
        "host": "caused most" in text,
        "recurrence": "recurs" in text or "daily" in every,
    }[link]


def _cases(seed: int, scale: float) -> list[Case]:
    """Kinds and distributions in turn, so that a run that ends early has as many of each."""
    cases = []
    for number in range(max(1, round(10 * scale))):
        cases += [Case(kind, draw, seed + number) for draw in DRAWS for kind in KINDS]
        if number < max(1, round(3 * scale)):
            cases += [
                Case(kind, draw, seed + number, link)
                for draw in DRAWS
                for link, kind in WITHHELD.items()
            ]
    return cases


def incidents(seed: int, scale: float = 1.0) -> list[Row]:
    """A line a kind, a column a distribution of latencies."""
    every = []
    workers = int(os.environ.get("IOSONDE_WORKERS", "2"))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        cases = _cases(seed, scale)
        try:
            for one in pool.map(judge, cases):
                every.append(one)
                _print_wrong(one)
                print(f"  {len(every)} of {len(cases)} incidents", end="\r", file=sys.stderr)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print(f"  stopped after {len(every)} incidents", flush=True)
    rows = []
    for draw in DRAWS:
        some = [one for one in every if one.case.draw == draw]
        rows += _rows(some, draw)
    rows += _rows(every, "all")
    longest = max(one.words for one in every)
    rows.append(Row("why", "longest sentence, words", longest, 0, MOST_WORDS, "-", "-", 0, "all"))
    return rows


def _print_wrong(one: Judged) -> None:
    missed = one.kind is not one.case.kind and not one.case.withheld
    if missed or one.named is False or (one.case.withheld and (one.guessed or not one.told)):
        without = f", without {one.case.withheld}" if one.case.withheld else ""
        what = f"{one.case.kind}, {one.case.draw}, seed {one.case.seed}{without}"
        print(f"  {what}: {one.sentence}", flush=True)


def _rows(some: list[Judged], column: str) -> list[Row]:
    rows = []
    for kind in KINDS:
        mine = [one for one in some if one.case.kind is kind and not one.case.withheld]
        low = 0.97 if kind is Kind.NOTHING_SLOW else 0.95
        what = "no cause where nothing is" if kind is Kind.NOTHING_SLOW else f"{kind}: right kind"
        rows.append(_row(what, sum(one.kind is kind for one in mine), len(mine), low, column))
    named = [one for one in some if one.named is not None and not one.case.withheld]
    hits = sum(bool(one.named) for one in named)
    rows.append(_row("right component or job, no other", hits, len(named), 0.9, column))
    for link in WITHHELD:
        mine = [one for one in some if one.case.withheld == link]
        told = sum(one.told and not one.guessed for one in mine)
        rows.append(_row(f"{link} withheld: said, not guessed", told, len(mine), 1.0, column))
    honest = sum(one.honest for one in some)
    rows.append(_row("right, or no cause; with all withheld", honest, len(some), 0.95, column))
    rows.append(_row("a false cause", len(some) - honest, len(some), 0.0, column, high=0.01))
    told = [one.holds for one in some if one.holds is not None]
    whole = [one.whole for one in some if one.whole is not None]
    rows.append(_row("interval holds the true factor", sum(told), len(told), 0.9, column))
    rows.append(_row("interval holds that of all of it", sum(whole), len(whole), 0.0, column))
    return rows


def _row(what: str, hits: int, of: int, low: float, column: str, *, high: float = 1.0) -> Row:
    p, error = share(hits, max(1, of))
    return Row("why", what, p, low, high, "-", "-", error, column, f"{hits}/{of}")
