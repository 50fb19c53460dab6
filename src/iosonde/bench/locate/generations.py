"""Two generations of targets in one system: a bimodal population is no fault; each kind has its own typical rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.robust import mad

if TYPE_CHECKING:
    from iosonde.bench.locate.hypotheses import Levels
    from iosonde.model.arrays import Flags, Floats

LEAST_SHARE, LEAST_TARGETS = 0.15, 6
"""Least share and number of targets in the smaller kind."""
APART = 4.0
"""Least distance of the means in standard deviations; a uniform distribution gives 3.5."""
ALIKE = 0.8
"""Overlap of slower targets with a component (Jaccard) above which the component is the slow one."""
LEAST_FACTOR = 1.08
"""Least time factor for which two clusters are reported."""
OF_ONE_KIND = 0.75
"""Share of enclosures with targets of one kind only, above which enclosures decide."""
_Z95, _OF_MEDIAN = 1.96, 1.2533
"""Standard errors of a 95% interval; of a median over that of a mean."""
VALLEY = 0.04
"""Most OSTs, as a share, in the middle third between the means."""


@dataclass(frozen=True)
class Generations:
    """``slower``: shape (targets,). ``factor``: time of the slower kind over the other's, with its 95% interval."""

    slower: Flags
    factor: float
    lower: float
    upper: float


def generations(y: Floats, levels: Levels) -> Generations | None:
    """Two kinds; None if targets are of one kind, or if a single component holds all slower ones.

    ``y``: slowness, shape (targets, K), NaN unknown.
    """
    # What slows one direction only is no generation's doing.
    least = np.asarray(np.fmin.reduce(y, axis=1))
    for values in (least, *y.T):
        slower = _split(values)
        if slower is not None and not _one_component(slower, levels):
            apart, error = _apart(values[slower], values[~slower])
            if apart >= np.log(LEAST_FACTOR):
                ends = np.exp([apart, apart - _Z95 * error, apart + _Z95 * error]).tolist()
                return Generations(_by_enclosure(slower, levels), *ends)
    return None


def _apart(slower: Floats, faster: Floats) -> tuple[float, float]:
    """Difference of two medians and its standard error, by the scale of each side; NaN is left out."""
    middle, variance = [], 0.0
    for side in (slower, faster):
        known = side[np.isfinite(side)]
        middle.append(float(np.median(known)))
        variance += _OF_MEDIAN**2 * mad(known - middle[-1]) ** 2 / len(known)
    return middle[0] - middle[1], float(np.sqrt(variance))


def _split(values: Floats) -> Flags | None:
    known = np.sort(values[np.isfinite(values)])
    n = len(known)
    least = max(LEAST_TARGETS, int(np.ceil(LEAST_SHARE * n)))
    if n < 2 * least:
        return None
    # A few slow targets beyond either kind must not hide two kinds.
    for trim in (0, max(1, n // 8)):
        found = _two_means(known[: n - trim], least)
        if found is not None:
            return np.where(np.isfinite(values), values > found, False)
    return None


def _two_means(ordered: Floats, least: int) -> float | None:
    n = len(ordered)
    if n < 2 * least:
        return None
    cut = np.arange(1, n)
    total = np.cumsum(ordered)
    low, high = total[cut - 1] / cut, (total[-1] - total[cut - 1]) / (n - cut)
    between = cut * (n - cut) * (high - low) ** 2
    at = int(np.argmax(between))
    k, gap = int(cut[at]), float(high[at] - low[at])
    inside = np.sqrt(
        (np.sum((ordered[:k] - low[at]) ** 2) + np.sum((ordered[k:] - high[at]) ** 2)) / (n - 2)
    )
    third = (ordered > low[at] + gap / 3) & (ordered < high[at] - gap / 3)
    if min(k, n - k) < least or gap < APART * inside or third.mean() > VALLEY:
        return None
    return float(ordered[k - 1] + ordered[k]) / 2


def _by_enclosure(slower: Flags, levels: Levels) -> Flags:
    """Align kinds with enclosures (failover servers, or at least a server) whose targets are nearly always of one
    kind: the faster kind on a tie.
    """
    server = levels.tree.server
    pair = np.full(len(levels.tree.group), -1, dtype=np.int64)
    for number, held in enumerate(levels.pairs):
        pair[list(held)] = number
    for enclosure in (pair[server], server):
        known = enclosure >= 0
        if not known.all():
            continue
        size = np.bincount(enclosure)
        slow = np.bincount(enclosure, slower)
        used = size > 1
        if not used.any():
            continue
        share = slow / np.maximum(size, 1)
        if (used & ((share == 0) | (share == 1))).sum() >= OF_ONE_KIND * used.sum():
            return np.asarray((share > 0.5)[enclosure])
    return slower


def _one_component(slower: Flags, levels: Levels) -> bool:
    """True if all slower targets share a server, router group or failover pair."""
    tree = levels.tree
    of = tree.group_of_target()
    components = [tree.server == server for server in levels.real_server]
    components += [of == group for group in levels.real_group]
    components += [np.isin(tree.server, pair) for pair in levels.pairs]
    return any((one & slower).sum() >= ALIKE * (one | slower).sum() for one in components)
