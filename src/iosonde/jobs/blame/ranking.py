"""Who is in the answer, in which order: suspects by what they caused, then others by what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.jobs.attribution.culprits import Confidence

if TYPE_CHECKING:
    from iosonde.jobs.attribution.blame import NamedLoad
    from iosonde.jobs.attribution.shares import Share
    from iosonde.jobs.blame.answers import BlameAnswer, RunInfo

_ORDER = list(Confidence)


class Ranked(NamedTuple):
    """One job, user, account, name or node. ``load`` None: its course was not chosen as an explanation."""

    who: str
    done: Share | None
    load: NamedLoad | None
    run: RunInfo | None
    bytes: float | None


def ranked(answer: BlameAnswer, top: int | None = None) -> list[Ranked]:
    """Those with operations in the interval, at most ``top`` of them."""
    loads = {one.who: one for one in answer.found.ranked}
    done = {one.who: one for one in answer.found.shares.ranked if one.ops > 0 or one.who in loads}
    names = sorted(
        {*loads, *done}, key=lambda who: (_confidence(loads.get(who)), *_size(who, loads, done))
    )
    return [
        Ranked(who, done.get(who), loads.get(who), answer.runs.get(who), answer.bytes_of.get(who))
        for who in names[:top]
    ]


def _confidence(load: NamedLoad | None) -> int:
    """Suspects that cannot be named stand among the others: by their operations."""
    at = len(_ORDER) if load is None else _ORDER.index(load.suspect.confidence)
    return min(at, _ORDER.index(Confidence.ACTIVE))


def _size(
    who: str, loads: dict[str, NamedLoad], done: dict[str, Share]
) -> tuple[float, float, str]:
    by_share = (Confidence.MOST, Confidence.PROBABLE)
    named = who in loads and loads[who].suspect.confidence in by_share
    caused = loads[who].suspect.share if named else 0.0
    return -caused, -(done[who].ops if who in done else 0.0), who
