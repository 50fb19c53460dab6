"""Dips: spans of a phase in which the whole storage, or one server, moved much less than before and after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.bench.locate.robust import mad
from iosonde.model.transfers import BIN_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.transfers import Transfers

DROP = 0.25
"""Least share of the rate that a dip lacks."""
CHANCE = 0.0025
"""Probability of any false dip in a healthy run."""
MOST_FREEDOM = 20.0
"""Most degrees of freedom: rates over time have heavier tails than a normal distribution."""
LEAST_SCALE = 0.01
RESTLESS = 2.0
"""Ratio to the scatter of all servers above which a server's own scatter is used."""
LENGTHS = (2, 4, 8, 16, 32)
"""Lengths of dips, in bins; at most a third of the phase."""
LEAST_BINS, MOST_BINS = 24, 100_000
"""Least and most bins of a phase for the search."""
LEAST_SERVERS = 4
"""Least number of servers for a typical rate at an instant."""
_WHOLE = -1
_UPPER = ((0.95, 1.645), (0.99, 2.326))
"""Upper quantiles of the standard normal distribution."""


@dataclass(frozen=True)
class Dip:
    """``server``: number, or -1 for all. ``factor``: rate in it over the rate outside. ``chance``: probability of any
    dip as deep in a healthy run.
    """

    server: int
    repetition: int
    direction: int
    begin_ns: int
    end_ns: int
    factor: float
    since_s: tuple[float, float]
    chance: float


class LowStretch(NamedTuple):
    """First bin, end, mean and chance of a dip in a row of rates."""

    first: int
    end: int
    factor: float
    chance: float


class _Phase(NamedTuple):
    """``start_ns``: start of the first transfer; ``full_ns``: time from which all ranks are busy."""

    repetition: int
    direction: int
    start_ns: int
    full_ns: int

    def dip(self, server: int, stretch: LowStretch) -> Dip:
        """A span of bins as a dip."""
        begin, end = (self.full_ns + place * BIN_NS for place in stretch[:2])
        since = ((begin - self.start_ns) / 1e9, (end - self.start_ns) / 1e9)
        factor, chance = stretch.factor, stretch.chance
        return Dip(server, self.repetition, self.direction, begin, end, factor, since, chance)


def dips_of(transfers: Transfers, servers: Ints, count: int) -> list[Dip]:
    """Dips of all phases, none without rates. ``servers``: of each target (targets,), -1 unknown; ``count`` of them."""
    if transfers.rates is None:
        return []
    usable = transfers.usable()
    keys = np.unique(
        np.stack([transfers.repetition[usable], transfers.direction[usable]], axis=1), axis=0
    )
    found: list[Dip] = []
    for repetition, direction in keys.tolist():
        table = _table(transfers, servers, count, repetition, direction)
        if table is not None:
            found += _of_phase(*table, len(keys))
    return found


def _table(
    transfers: Transfers, servers: Ints, count: int, repetition: int, direction: int
) -> tuple[_Phase, Floats] | None:
    """Bytes of each server in each bin, shape (1 + servers, bins), unknown servers first; None for too few bins."""
    rates = transfers.rates
    assert rates is not None
    rows = np.flatnonzero(
        transfers.usable()
        & (transfers.repetition == repetition)
        & (transfers.direction == direction)
    )
    start = int(transfers.transfer_begin_ns[rows].min())
    full = int(transfers.transfer_begin_ns[rows].max())
    bins = int((transfers.transfer_end_ns[rows].min() - full) // BIN_NS) - 1
    if not LEAST_BINS <= bins <= MOST_BINS:
        return None
    ranks, server = _server_of_rank(transfers, rows, servers)
    here = (rates.repetition == repetition) & (rates.direction == direction)
    rank = np.searchsorted(ranks, rates.rank[here]).clip(0, len(ranks) - 1)
    place = (rates.begin_ns[here] - full) // BIN_NS
    inside = (place >= 0) & (place < bins) & (ranks[rank] == rates.rank[here])
    size = rates.bytes[here][inside].astype(np.float64)
    cell = (server[rank[inside]] + 1) * bins + place[inside]
    table = np.asarray(np.bincount(cell, size, (count + 1) * bins), dtype=np.float64)
    return _Phase(repetition, direction, start, full), table.reshape(count + 1, bins)


def _of_phase(where: _Phase, table: Floats, phases: int) -> list[Dip]:
    """Dips of the total, then of servers against the total."""
    whole = table.sum(0)
    if np.median(whole) <= 0:
        return []
    relative = whole[None] / np.median(whole)
    found = [where.dip(_WHOLE, one) for one in _stretches(relative, phases)[0]]
    used = np.flatnonzero(np.median(table[1:], axis=1) > 0)
    if len(used) >= LEAST_SERVERS:
        relative = table[1:][used] / np.median(table[1:][used], axis=1, keepdims=True)
        relative /= np.maximum(np.median(relative, axis=0), 1e-9)
        for at, stretches in enumerate(_stretches(relative, phases)):
            found += [where.dip(int(used[at]), one) for one in stretches]
    return found


def _server_of_rank(transfers: Transfers, rows: Ints, servers: Ints) -> tuple[Ints, Ints]:
    """Ranks in order, and the server of each one's files; -1 for several servers or an unknown one."""
    single = transfers.stripes.counts()[rows] == 1
    target = np.full(len(rows), -1, dtype=np.int64)
    target[single] = transfers.stripes.target[transfers.stripes.first[:-1][rows[single]]]
    server = np.where(target >= 0, np.append(servers, -1)[target], -1)
    ranks, number = np.unique(transfers.rank[rows], return_inverse=True)
    low, high = np.full(len(ranks), np.iinfo(np.int64).max), np.full(len(ranks), -1)
    np.minimum.at(low, number, server)
    np.maximum.at(high, number, server)
    return ranks, np.where(low == high, low, -1)


def _stretches(relative: Floats, phases: int) -> list[list[LowStretch]]:
    """Dips of each row of ``relative`` (rows, bins), whose typical value is 1."""
    chance = _chances(relative, phases)
    low = (chance < CHANCE) & (relative < 1 - DROP / 2)
    out: list[list[LowStretch]] = []
    for row, least in zip(low, chance, strict=True):
        found = []
        edges = np.flatnonzero(np.diff(np.r_[0, row.astype(np.int8), 0]))
        for first, end in _joined(edges.reshape(-1, 2).tolist()):
            factor = float(relative[len(out), first:end].mean())
            if end - first >= 2 and factor < 1 - DROP:
                found.append(LowStretch(first, end, factor, float(least[first:end].min())))
        out.append(found)
    return out


def _chances(relative: Floats, phases: int) -> Floats:
    """Probability of any window as low as the lowest over each bin, in a healthy run; shape (rows, bins), 1 for none.

    Windows of every row, length and phase count as tests, and the whole and its servers as two families.
    """
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    rows, bins = relative.shape
    chance = np.ones((rows, bins))
    for length in LENGTHS:
        if length > bins // 3:
            break
        sums = np.cumsum(np.pad(relative, ((0, 0), (1, 0))), axis=1)
        means = (sums[:, length:] - sums[:, :-length]) / length
        away = means - np.median(means, axis=1, keepdims=True)
        own, alike = np.array([[mad(row)] for row in away]), max(_spread(away), LEAST_SCALE)
        scale = np.where(own > RESTLESS * alike, own, alike)
        freedom = min(MOST_FREEDOM, max(rows * (bins // length) - 1.0, 2.0))
        # Windows that share more than half of their bins are one test.
        tests = 2 * rows * (2 * bins // length) * len(LENGTHS) * phases
        p = special.stdtr(freedom, away / scale) * tests
        hit, at = np.nonzero((p < CHANCE) & (away < -DROP))
        for step in range(length):
            np.minimum.at(chance, (hit, at + step), p[hit, at])
    return chance


def _spread(away: Floats) -> float:
    """Standard deviation of all rows together; also from the upper tail, which has no dips."""
    return max(mad(away), *(float(np.quantile(away, q)) / z for q, z in _UPPER))


def _joined(edges: list[list[int]]) -> list[tuple[int, int]]:
    """Merge spans with at most one bin between them."""
    out: list[tuple[int, int]] = []
    for first, end in edges:
        if out and first - out[-1][1] <= 1:
            out[-1] = out[-1][0], end
        else:
            out.append((first, end))
    return out


def without(transfers: Transfers, found: list[Dip], servers: Ints) -> Transfers:
    """Transfers corrected for the dips: a server's dip is no slow server."""
    end = transfers.transfer_end_ns.copy()
    count = transfers.stripes.counts()
    target = np.full(len(transfers), -1, dtype=np.int64)
    target[count == 1] = transfers.stripes.target[transfers.stripes.first[:-1][count == 1]]
    server = np.where(target >= 0, servers[target], -1)
    for dip in found:
        rows = (transfers.repetition == dip.repetition) & (transfers.direction == dip.direction)
        if dip.server != _WHOLE:
            rows &= server == dip.server
        inside = np.clip(transfers.transfer_end_ns, dip.begin_ns, dip.end_ns)
        inside = inside - np.clip(transfers.transfer_begin_ns, dip.begin_ns, dip.end_ns)
        end -= np.where(rows, (inside * (1 - dip.factor)).astype(np.int64), 0)
    return replace(transfers, transfer_end_ns=end)
