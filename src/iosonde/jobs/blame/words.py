"""Sentences and table of ``iosonde blame``. A sentence has at most 25 words and no full stop at its end."""

from __future__ import annotations

from math import isfinite, isinf
from typing import TYPE_CHECKING

from iosonde.jobs.attribution.blame import COVERED
from iosonde.jobs.attribution.culprits import Confidence
from iosonde.jobs.attribution.words import verdict
from iosonde.jobs.blame.answers import SLOW
from iosonde.jobs.blame.ranking import Ranked, ranked
from iosonde.model.ops import op_word
from iosonde.model.units import (
    format_duration,
    format_factor,
    format_option,
    format_percent,
    format_size,
    format_time,
)

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.bands import Each, OpsBand

TEXTS = ("job", "user", "account", "name", "node", "how sure", "began")
"""Columns of the table that are no numbers."""
_FEW_NAMES = 3
_GUESSED = 0.2


def sentences(answer: BlameAnswer, now_ns: int, zone: tzinfo | None = None) -> list[str]:
    """The verdict, what was slow, the band, then what is missing and what was assumed."""
    found, load, noun = answer.found, answer.load, answer.question.by
    said = [verdict(found, noun), _when(answer, now_ns, zone)]
    if answer.band is not None:
        said += _band(answer.band, noun)
    if found.shares.covered < COVERED:
        covered = format_percent(found.shares.covered)
        said.append(f"records cover {covered} of the nodes' time")
    if load.without:
        said.append(f"{_listed(load.without)} had jobs and no records")
    if load.unnamed:
        said.append(f"{load.unnamed} series without a node do not count")
    if answer.factor is None and answer.span.target is not None:
        said.append(
            f"no probe of {answer.span.target} has samples then, so the slowdown is unknown"
        )
    elif answer.span.target is not None and found.found is None and (answer.factor or 0) >= SLOW:
        slot = format_duration(found.slot_ns)
        said.append(
            f"too few slots of {slot} have probe and records: the slowdown was not compared"
        )
    said += _clock(answer)
    guessed = sum(one.guessed for one in found.shares.ranked)
    if guessed > _GUESSED * max(found.shares.total, 1e-300):
        part = format_percent(guessed / found.shares.total)
        said.append(f"{part} of the operations are of jobs that share nodes: divided by guess")
    said += [
        f"skipping {one.n} jobs in and around it: {one.why}"
        for one in load.joined.allocations.left_out
    ]
    return said


def _when(answer: BlameAnswer, now_ns: int, zone: tzinfo | None) -> str:
    span, shares = answer.span, answer.found.shares
    begin, end = (
        format_time(ns, now_ns, zone, seconds=_short(answer)) for ns in (span.begin_ns, span.end_ns)
    )
    rate = shares.total / max((shares.end_ns - shares.begin_ns) / 1e9, 1e-9)
    text = f"from {begin} to {end} {rate:,.0f} operations per second were recorded"
    if answer.op is None or answer.factor is None:
        return text
    if answer.found.found is None and answer.factor < SLOW:
        return f"{text}, {op_word(answer.op)} on {span.target} were as usual"
    slow = f"{op_word(answer.op)} on {span.target} were {format_factor(answer.factor)}x slower"
    return f"{text}, {slow} than usual"


def _short(answer: BlameAnswer) -> bool:
    return answer.span.end_ns - answer.span.begin_ns < 600_000_000_000


def _band(band: OpsBand, noun: str) -> list[str]:
    step = format_option(band.step_ns)
    what = "jobs" if noun == "node" else f"{noun}s"
    edges = (
        f"{band.low:,.0f} or more" if isinf(band.high) else f"{band.low:,.0f} to {band.high:,.0f}"
    )
    many, few = _many(len(band.nodes.of), "nodes"), _many(len(band.jobs.of), what)
    half = f"{_each(band.nodes_each, 'nodes')} made more than half"
    return [
        f"{band.moments} of {band.of} moments of {step} had {edges} operations per second",
        f"in a moment {half}, and of theirs {_each(band.jobs_each, what)} did",
        f"one or two {what} did in {format_percent(band.few)} of the moments",
        f"of all these moments together, {many} and {few} made more than half",
    ]


def _each(each: Each, noun: str) -> str:
    if each.least == each.most:
        return _many(each.most, noun)
    return f"{each.middle:g} {noun} ({each.least} to {each.most})"


def _many(n: int, noun: str) -> str:
    return f"{n} {noun[:-1] if n == 1 else noun}"


def _clock(answer: BlameAnswer) -> list[str]:
    clock = answer.clock
    if clock.seconds is None or clock.lower is None or clock.upper is None:
        return []
    if not answer.shifted:
        return []
    way = "ahead of" if clock.seconds > 0 else "behind"
    low, high = sorted((abs(clock.lower), abs(clock.upper)))
    text = f"the nodes' clocks are {abs(clock.seconds):.0f} s ({low:.0f}-{high:.0f}) {way} the scheduler's"
    return [f"{text}: its times were moved"]


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_FEW_NAMES])
    more = len(names) - _FEW_NAMES
    return f"nodes {shown}" + (f" and {more} more" if more > 0 else "")


def head(answer: BlameAnswer) -> tuple[str, ...]:
    """Of the table; the first columns are text."""
    noun = answer.question.by
    whose = ("user", "began") if noun == "job" else ()
    numbers = ("nodes", "operations", "per second", "bytes", "of the slowdown")
    return (noun, "how sure", *whose, *numbers)


def worth_showing(
    names: tuple[str, ...], cells: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The same without columns in which nothing stands."""
    keep = [place for place in range(len(names)) if any(row[place] for row in cells)]
    return tuple(names[place] for place in keep), [
        tuple(row[place] for place in keep) for row in cells
    ]


def rows(answer: BlameAnswer, top: int, now_ns: int) -> list[tuple[str, ...]]:
    """A row each, the surest and then the largest first."""
    return [_row(one, answer, now_ns) for one in ranked(answer, top)]


def _row(one: Ranked, answer: BlameAnswer, now_ns: int) -> tuple[str, ...]:
    shares = answer.found.shares
    seconds = max((shares.end_ns - shares.begin_ns) / 1e9, 1e-9)
    ops = one.done.ops if one.done else 0.0
    cells = [one.who or "(no name)", _sure(one, answer)]
    if answer.question.by == "job":
        began = one.run.began_ns if one.run else None
        cells += [
            one.run.user if one.run else "",
            "" if began is None else format_time(began, now_ns, seconds=True),
        ]
    suspect = None if one.load is None else one.load.suspect
    effect = ""
    if suspect is not None and isfinite(suspect.share):
        low, high = (format_percent(part) for part in (suspect.lower, suspect.upper))
        effect = f"{format_percent(suspect.share)} ({low}-{high})"
    return (
        *cells,
        str(one.done.nodes) if one.done else "",
        format_percent(ops / shares.total if shares.total else 0.0),
        f"{ops / seconds:,.0f}",
        "" if one.bytes is None else format_size(one.bytes),
        effect,
    )


def _sure(one: Ranked, answer: BlameAnswer) -> str:
    if one.load is None:
        return "active at the time" if answer.found.found is not None else ""
    if one.load.alike and one.load.suspect.confidence is Confidence.ACTIVE:
        return f"not identifiable: {len(one.load.alike)} more alike"
    suspect = one.load.suspect
    lead = abs(suspect.lead) * answer.found.slot_ns
    when = ""
    if suspect.confidence is not Confidence.ACTIVE and suspect.lead > 0:
        when = f", {format_duration(lead)} before it"
    if suspect.follows:
        when = f", {format_duration(lead)} behind it"
    return f"{suspect.confidence}{when}"
