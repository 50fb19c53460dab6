"""Which part of the storage: probed components side by side, other targets, runs' transfers, servers' records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    from iosonde.model.frames import Frame
    from iosonde.why.links import StretchFacts
    from iosonde.why.question import Scene

AT = 2.0
"""A part is slow beside its peers from this ratio on, the lower end of the interval from ``LOWER`` on."""
LOWER = 1.5
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
        _beside_peers(slow, windows, others, PartSource.BESIDE),
    ]
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
        return ruled_out(Parts((), looked))
    return not_known(Gap.PEERS_UNKNOWN if siblings or others else Gap.NOTHING_BESIDE)


def _beside_peers(
    slow: StretchFacts, windows: Frame, names: list[str], source: PartSource
) -> tuple[list[SlowPart], int]:
    """The target of the stretch beside ``names`` in the same windows; and how many of these are judged."""
    mine = typ_of(windows, slow.target, slow.op)
    if mine is None and slow.kind in ("hang", "failing", "lost"):
        mine = Ratio(CEILING, CEILING, CEILING)
    judged = [one for name in names if (one := typ_of(windows, name, slow.op)) is not None]
    if mine is None or not judged:
        return [], 0
    peers = float(np.median([min(one.value, CEILING) for one in judged]))
    if source is PartSource.BESIDE and peers >= USUAL:
        return [], len(judged)
    ratio = Ratio(*(min(end, CEILING) / max(peers, 1.0) for end in mine))
    lower = ratio.lower if np.isfinite(ratio.lower) else ratio.value
    if ratio.value < AT or lower < LOWER:
        return [], len(judged)
    name = slow.component if source is PartSource.PROBED else slow.whole
    return [SlowPart(source, name or slow.target, ratio, len(judged), peers)], len(judged)
