"""Parts that are slow beside their peers, however long they have been so.

A part that was always slow is its own usual: what it did before does not show it, what others like it do, does. ::

    m(i, b)   log of the median service time of member i in block b (a day; of a short span an hour, ten minutes)
    r(i, b) = m(i, b) - median of m(j, b) over the other members j
    S(i)      blocks with r(i, b) > log LEAST_RATIO
    r(i)    = median of r(i, b) over S(i); its interval from order statistics (Hahn and Meeker 1991, section 5.2)
    s(i)      robust spread of the others' medians of r(j, b): 1.4826 times their median distance from their median
    p(i)      share of the others' blocks above LEAST_RATIO, Laplace's estimate
    slow      S(i) has LEAST_BLOCKS, and half of the blocks, or of those since its first where it lasts until the end;
              so many or more have a chance < CHANCE at the rate p(i) (binomial, by the number of blocks in which the
              last ones may begin); r(i) > CLEAR max(s(i), LEAST_SPREAD);
              and the slow members are at most a ``MOST`` part of the group: else its members are of several kinds

Since when is said only where a before is known: blocks in which it was like its peers, then none until the end.
"""

from __future__ import annotations

from math import comb, exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.frames import SeriesKey
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.stats.ranks import quantile_ranks
from iosonde.weather.peers.groups import LEAST, PeerGroup, groups_of
from iosonde.weather.samples.parents import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from iosonde.model.arrays import Flags, Floats, Instants
    from iosonde.model.frames import WindowTable
    from iosonde.weather.store import Store

LEAST_RATIO = 1.25
CHANCE = 1e-3
CLEAR = 2.5
LEAST_SPREAD = log(1.05)
MOST = 0.25
LEAST_BLOCKS = 3
PEER_SPAN_NS = 14 * DAY_NS
"""How far back peers are compared where no begin is given."""
BLOCKS_NS = (DAY_NS, HOUR_NS, HOUR_NS // 6)
_BEFORE = 2
"""Blocks like its peers before a change is said to be one."""


class PeerFinding(NamedTuple):
    """A part beside its ``peers`` others of ``group``. ``ratio``: of medians, with its interval.

    ``slow`` of ``blocks`` of ``block_ns`` are above ``LEAST_RATIO``. ``since_ns``: begin of the first of them where a
    before is known; None: it was so in all that is known.
    """

    key: SeriesKey
    group: PeerGroup
    peers: int
    ratio: float
    lower: float
    upper: float
    slow: int
    blocks: int
    block_ns: int
    since_ns: int | None


def against_peers(
    store: Store, since_ns: int, until_ns: int, series: Iterable[SeriesKey] | None = None
) -> list[PeerFinding]:
    """Parts that are slow beside their peers in [since, until), the slowest first.

    ``series``: all of the store, if they are at hand. Raises StoreError.
    """
    if series is None:
        series = (SeriesKey(*ref, "", 0) for ref in store.targets())
    wholes, parents = _wholes(store), parents_of(store.root)
    if not groups_of(series, wholes, parents):
        return []
    block_ns, windows, starts = _blocks(store, since_ns, until_ns)
    rows: dict[SeriesKey, Floats] = {}
    for key, part in windows.series():
        place = np.searchsorted(starts, windows["start_ns"][part])
        column = np.full(len(starts), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            column[place] = np.log(np.asarray(windows["q50_ns"][part], dtype=np.float64))
        rows[key] = np.where(np.isfinite(column), column, np.nan)
    found: dict[SeriesKey, PeerFinding] = {}
    for group, keys in groups_of(rows, wholes, parents).items():
        for one in slow_members(
            group, keys, np.array([rows[key] for key in keys]), starts, block_ns
        ):
            known = found.get(one.key)
            if known is None or known.peers < one.peers:
                found[one.key] = one
    return sorted(found.values(), key=lambda one: (-one.ratio, one.key))


def _wholes(store: Store) -> dict[tuple[str, str], str]:
    """Of what a (host, target) is a component."""
    return {
        (str(one["host"]), str(one["target"])): str(one["component"]["of"])
        for one in store.states()
        if one.get("component")
    }


def _blocks(store: Store, since_ns: int, until_ns: int) -> tuple[int, WindowTable, Instants]:
    """The longest blocks of which there are enough, their windows and begins."""
    for block_ns in BLOCKS_NS:
        if until_ns - since_ns < LEAST_BLOCKS * block_ns and block_ns != BLOCKS_NS[-1]:
            continue
        windows = store.rolled_windows(
            block_ns, since_ns=since_ns, until_ns=until_ns, statistics=["q50_ns"]
        )
        starts = np.unique(np.asarray(windows["start_ns"], dtype=np.int64))
        if len(starts) >= LEAST_BLOCKS:
            break
    return block_ns, windows, starts


def slow_members(
    group: PeerGroup, keys: Sequence[SeriesKey], level: Floats, starts: Instants, block_ns: int
) -> list[PeerFinding]:
    """Slow members of a group. ``level`` (members, blocks): log of medians, NaN = not known."""
    beside = np.array([_beside(level, member) for member in range(len(keys))])
    enough = np.count_nonzero(~np.isnan(beside), axis=1) >= LEAST_BLOCKS
    if np.count_nonzero(enough) < LEAST:
        return []
    keys, beside = [key for key, kept in zip(keys, enough, strict=True) if kept], beside[enough]
    middle = np.nanmedian(beside, axis=1)
    found = []
    above = beside > log(LEAST_RATIO)
    for member, key in enumerate(keys):
        known = ~np.isnan(beside[member])
        slow, at = above[member][known], starts[known]
        since = _since(slow, at)
        some = slow if since is None else slow[at >= since]
        n = int(np.count_nonzero(some))
        if n < LEAST_BLOCKS or 2 * n < len(some):
            continue
        size = _median(beside[member][above[member]])
        spread = max(_spread(np.delete(middle, member)), LEAST_SPREAD)
        rate = _rate(np.delete(beside, member, axis=0))
        places = 1 if since is None else len(slow)
        if size.value > CLEAR * spread and places * _chance(n, len(some), rate) < CHANCE:
            counts = (int(np.count_nonzero(slow)), len(slow), block_ns)
            ratio, lower, upper = map(exp, size)
            found.append(
                PeerFinding(key, group, len(keys) - 1, ratio, lower, upper, *counts, since)
            )
    return found if len(found) <= max(1, MOST * len(keys)) else []


def _beside(level: Floats, member: int) -> Floats:
    """(blocks,) A member beside the median of the others; NaN where fewer than ``LEAST`` - 1 of these are known."""
    others = np.delete(level, member, axis=0)
    few = np.count_nonzero(~np.isnan(others), axis=0) < LEAST - 1
    others = np.where(few, 0.0, others)
    return np.where(few, np.nan, level[member] - np.nanmedian(others, axis=0))


def _spread(values: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))


class _Median(NamedTuple):
    value: float
    lower: float
    upper: float


def _median(values: Floats) -> _Median:
    """A median and its interval by order statistics; from the least to the greatest where there are few."""
    known = np.sort(values)
    ranks = quantile_ranks(len(known), 0.5)
    low, high = (0, len(known) - 1) if ranks is None else (ranks[0] - 1, ranks[2] - 1)
    return _Median(float(np.median(known)), float(known[low]), float(known[high]))


def _rate(others: Floats) -> float:
    """Share of blocks of healthy members above the limit."""
    above = np.count_nonzero(others > log(LEAST_RATIO))
    return float(above + 1) / float(np.count_nonzero(~np.isnan(others)) + 2)


def _chance(n: int, of: int, rate: float) -> float:
    """Probability of ``n`` or more of ``of``."""
    return sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(n, of + 1))


def _since(slow: Flags, starts: Instants) -> int | None:
    """Begin of the slow blocks that last until the end, after ``_BEFORE`` others; else None."""
    calm = np.flatnonzero(~slow)
    if len(calm) < _BEFORE or calm[-1] != len(calm) - 1 or len(calm) == len(starts):
        return None
    return int(starts[len(calm)])
