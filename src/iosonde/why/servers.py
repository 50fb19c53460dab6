"""What servers' imported records say of the stretch: one that is busy beside its peers and beside its own usual."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.environment.servers import JobSpan, systems_of
from iosonde.jobs.store.scan import Passing
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.why.links import PartSource, Ratio, SlowPart

if TYPE_CHECKING:
    from iosonde.jobs.store.series import SeriesName
    from iosonde.model.arrays import Floats
    from iosonde.model.metrics import MetricBlock
    from iosonde.why.links import StretchFacts
    from iosonde.why.question import Weather

LEVELS = ("ost", "oss", "mdt", "mds", "nsd", "server")
METRICS = ("cpu_percent", "longest_wait_s", "waiting_ops")
"""Metrics that say that a server is at its limit; amounts of operations say what clients asked for."""
AT, LOWER = 2.0, 1.5
"""Times its peers, and times its own usual, from which on a server stands out."""
FEWEST = 3
"""Samples in the stretch, and servers of a level, at least."""


def server_parts(weather: Weather, slow: StretchFacts) -> tuple[list[SlowPart], int]:
    """Servers that stand out, the most so first, and how many have records. Raises StoreError."""
    end = slow.end_ns or slow.seen_until_ns
    before = min(DAY_NS, max(HOUR_NS, 4 * (end - slow.begin_ns)))
    with Passing(weather.root) as passing:
        systems = systems_of(passing, JobSpan(slow.whole, slow.begin_ns, end))
        names = [
            name
            for name in passing.series_names(slow.begin_ns, end)
            if name.system in systems and name.level in LEVELS and name.metric in METRICS
        ]
        blocks = [(name, passing.read_block(name, slow.begin_ns - before, end)) for name in names]
    parts, looked = [], 0
    for name, block in blocks:
        if block is None:
            continue
        seen = _levels(block, slow.begin_ns, end)
        looked = max(looked, int(np.isfinite(seen.during).sum()))
        parts += _standing_out(name, block, seen)
    return sorted(parts, key=lambda part: -part.against_peers.value), looked


class _Levels(NamedTuple):
    """(N,) Medians of each component in the stretch, with quartiles, and before it; NaN: too few samples."""

    during: Floats
    lower: Floats
    upper: Floats
    before: Floats


def _levels(block: MetricBlock, begin_ns: int, end_ns: int) -> _Levels:
    at_ns = block.time_ns + block.step_ns // 2
    inside = (at_ns >= begin_ns) & (at_ns < end_ns)
    during, before = block.value[inside], block.value[at_ns < begin_ns]
    middle, lower, upper = (_quantile(during, q) for q in (0.5, 0.25, 0.75))
    return _Levels(middle, lower, upper, _quantile(before, 0.5))


def _quantile(values: Floats, q: float) -> Floats:
    """Of each column with enough samples."""
    found = np.full(values.shape[1], np.nan)
    enough = np.isfinite(values).sum(axis=0) >= FEWEST
    if enough.any():
        found[enough] = np.nanquantile(values[:, enough], q, axis=0)
    return found


def _standing_out(name: SeriesName, block: MetricBlock, seen: _Levels) -> list[SlowPart]:
    known = np.isfinite(seen.during)
    if known.sum() < FEWEST:
        return []
    parts = []
    for place in np.flatnonzero(known).tolist():
        peers = known.copy()
        peers[place] = False
        usual = float(np.median(seen.during[peers]))
        own = seen.before[place]
        if usual <= 0 or not np.isfinite(own):
            continue
        ratio = Ratio(*(float(one[place]) / usual for one in (seen.during, seen.lower, seen.upper)))
        if ratio.value >= AT and ratio.lower >= LOWER and seen.during[place] >= LOWER * own:
            parts.append(
                SlowPart(
                    PartSource.SERVERS,
                    block.components[place],
                    ratio,
                    int(peers.sum()),
                    metric=name.metric,
                    value=float(seen.during[place]),
                    usual=float(own),
                )
            )
    return parts
