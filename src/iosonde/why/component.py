"""Which part of the storage: probed components side by side, other targets, runs' transfers, servers' records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.verdicts import Verdict
from iosonde.weather.events.judgement import judgement
from iosonde.why.links import (
    Gap,
    Link,
    Parts,
    PartSource,
    Ratio,
    SlowPart,
    found,
    not_known,
    ruled_out,
)
from iosonde.why.located import located_parts
from iosonde.why.servers import server_parts
from iosonde.why.windows import typ_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from iosonde.model.frames import Frame
    from iosonde.why.links import StretchFacts
    from iosonde.why.question import Scene, Weather

AT = 2.0
"""A part is slow beside its peers from this ratio on, the lower end of the interval from ``LOWER`` on."""
LOWER = 1.5
EVERYTHING = 2
"""Least number of other targets that were all slow, too."""
USUAL = 1.5
"""Other targets below this are as usual."""
CEILING = 1e6


def component_link(scene: Scene) -> Link[Parts]:
    """Parts that are slow beside others, the most precise first. Raises StoreError."""
    weather, slow, windows, *_ = scene
    names = weather.targets(slow.host)
    whole = {name: weather.component(slow.host, name)[0] for name in names}
    siblings = [n for n in names if n != slow.target and whole[n] == slow.whole]
    others = [n for n in names if whole[n] != slow.whole]
    beside = [
        _beside_peers(slow, windows, siblings if slow.component else [], PartSource.PROBED),
        located_parts(weather, slow),
        server_parts(weather, slow),
        _beside_peers(slow, windows, others, PartSource.BESIDE, _slow_too(weather, slow)),
    ]
    if _usual_elsewhere(weather, slow):
        beside[-1] = [], beside[-1][1]
    parts = [part for some, _ in beside for part in some]
    looked = tuple(
        (source, n)
        for source, (_, n) in zip(
            (PartSource.PROBED, PartSource.LOCATED, PartSource.SERVERS, PartSource.BESIDE),
            beside,
            strict=True,
        )
        if n
    )
    if parts:
        return found(Parts(tuple(parts), looked))
    if looked:
        return ruled_out(Parts((), looked, _all_slow(weather, slow, others)))
    return not_known(Gap.PEERS_UNKNOWN if siblings or others else Gap.NOTHING_BESIDE)


def _usual_elsewhere(weather: Weather, slow: StretchFacts) -> bool:
    """Whether another host sees the target as usual in the stretch: then it is not the target that is slow."""
    span = (slow.begin_ns, slow.end_ns or slow.seen_until_ns)
    happened = weather.happened
    others = [ref for ref in weather.refs if ref.target == slow.target and ref.host != slow.host]
    return any(judgement(happened, ref, span)[0] is Verdict.USUAL for ref in others)


def _slow_too(weather: Weather, slow: StretchFacts) -> set[str]:
    """Other targets that the host saw slow in the stretch, whatever operation was."""
    end = slow.end_ns or slow.seen_until_ns
    return {
        one.target
        for one in weather.happened.slow
        if one.host == slow.host and one.kind != "change" and one.overlaps(slow.begin_ns, end)
    }


def _all_slow(weather: Weather, slow: StretchFacts, others: Collection[str]) -> int:
    """Other targets, if there are enough and all of them were slow for most of the stretch."""
    begin, end = slow.begin_ns, slow.end_ns or slow.seen_until_ns
    mostly = {
        one.target
        for one in weather.happened.slow
        if one.host == slow.host
        and one.kind != "change"
        and 2 * (min(one.seen_until_ns, end) - max(one.start_ns, begin)) >= end - begin
    }
    return len(others) if len(others) >= EVERYTHING and mostly >= set(others) else 0


def _beside_peers(
    slow: StretchFacts,
    windows: Frame,
    names: list[str],
    source: PartSource,
    slow_too: Collection[str] = (),
) -> tuple[list[SlowPart], int]:
    """The target of the stretch beside ``names`` in the same windows; and how many of these are judged.

    ``slow_too``: those that were slow in the stretch.
    """
    mine = typ_of(windows, slow.target, slow.op)
    if mine is None and slow.kind in ("hang", "failing", "lost"):
        mine = Ratio(CEILING, CEILING, CEILING)
    too = [name for name in names if name in slow_too]
    names = [name for name in names if name not in slow_too]
    judged = [one for name in names if (one := typ_of(windows, name, slow.op)) is not None]
    if mine is None or not judged:
        # That some are slow, too, rules nothing out while others are not judged.
        return [], 0 if names else len(too)
    peers = float(np.median([min(one.value, CEILING) for one in judged]))
    if source is PartSource.BESIDE and (peers >= USUAL or len(too) >= len(judged)):
        return [], len(judged)
    ratio = Ratio(*(min(end, CEILING) / max(peers, 1.0) for end in mine))
    lower = ratio.lower if np.isfinite(ratio.lower) else ratio.value
    if ratio.value < AT or lower < LOWER:
        return [], len(judged)
    name = slow.component if source is PartSource.PROBED else slow.whole
    part = SlowPart(source, name or slow.target, ratio, len(judged), peers, peers_too=len(too))
    return [part], len(judged)
