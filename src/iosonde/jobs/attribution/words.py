"""Sentences about the causes of a slow event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.jobs.attribution.culprits import Confidence

if TYPE_CHECKING:
    from iosonde.jobs.attribution.blame import Blame, Majority, NamedLoad

_MOST_NAMED = 3


def verdict(found: Blame, noun: str = "job") -> str:
    """Verdict in one line: the cause, or the largest contributor, or that none is identifiable; without a full stop.

    ``noun``: what is ranked: job, user, account.
    """
    sure = [one for one in found.ranked if one.suspect.confidence is not Confidence.ACTIVE]
    if sure:
        said = "; ".join(suspect(one, noun) for one in sure[:_MOST_NAMED])
        open_ = sure[0].suspect.confidence is Confidence.OPERATIONS
        return f"{said}; that this is the cause is not certain" if open_ else said
    tied = next((one for one in found.ranked if one.alike), None)
    if tied is not None:
        names = _names((tied.who, *tied.alike))
        return f"not identifiable: {noun}s {names} have the same course of load"
    if found.found is not None and found.found.together:
        return (
            f"no single {noun} explains it, all of them together do; {most(found.majority, noun)}"
        )
    if found.found is not None and found.found.harmless and found.ranked:
        return f"no {noun} explains it; as many operations were harmless at other times"
    if found.found is not None:
        return f"no {noun} explains it; {most(found.majority, noun)}"
    return most(found.majority, noun)


def suspect(one: NamedLoad, noun: str = "job") -> str:
    """``job 4711 caused most of it: 71% (55-80%), 64% of the operations``."""
    text = f"{noun} {one.who}"
    if one.suspect.confidence is Confidence.OPERATIONS:
        return f"{text} made {100 * one.did.share if one.did else 0:.0f}% of the operations"
    share, low, high = (
        f"{100 * part:.0f}" for part in (one.suspect.share, one.suspect.lower, one.suspect.upper)
    )
    if one.suspect.confidence is Confidence.MOST:
        text += f" caused most of it: {share}% ({low}-{high}%)"
    elif one.suspect.confidence is Confidence.PROBABLE:
        text += f" was probably involved: {share}% ({low}-{high}%)"
    else:
        text += " was active at the time"
        text += ", its load followed the slowdown" if one.suspect.follows else ""
    if one.did is not None:
        text += f", {100 * one.did.share:.0f}% of the operations"
    return text


def most(found: Majority, noun: str = "job") -> str:
    """Contributors of more than half of the operations, or that none stands out."""
    count = len(found.of)
    if not count:
        return f"no {noun}s made up half of the operations"
    part = f"{100 * found.share:.0f}% of the operations"
    if found.alike:
        return f"not identifiable: these {count} {noun}s contribute alike ({part})"
    if count > _MOST_NAMED:
        return f"{count} {noun}s made {part}, the first {100 * found.of[0].share:.0f}%"
    return f"{noun}{'s' if count > 1 else ''} {_names([one.who for one in found.of])} made {part}"


def _names(names: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
