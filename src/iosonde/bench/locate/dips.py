"""Stretches of a phase in which the whole storage, or one server, moved much less than before and after."""

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
"""Share of the rate that a dip lacks, at least."""
SIGMAS = 7.0
"""Scaled median absolute deviations below the median: of means over as many bins."""
LENGTHS = (2, 4, 8, 16, 32)
"""Bins that a dip is looked for in; at most a third of the phase."""
LEAST_BINS, MOST_BINS = 24, 100_000
"""Bins of a phase in which dips are looked for."""
_WHOLE = -1


@dataclass(frozen=True)
class Dip:
    """``server``: number, or -1 for all. ``factor``: rate in it over the rate outside."""

    server: int
    repetition: int
    direction: int
    begin_ns: int
    end_ns: int
    factor: float
    since_s: tuple[float, float]


class _Phase(NamedTuple):
    """``start_ns``: its first begin; ``full_ns``: from when on all ranks are busy."""

    repetition: int
    direction: int
    start_ns: int
    full_ns: int

    def dip(self, server: int, stretch: tuple[int, int, float]) -> Dip:
        """A dip from its first and last bin and its factor."""
        begin, end = (self.full_ns + place * BIN_NS for place in stretch[:2])
        since = ((begin - self.start_ns) / 1e9, (end - self.start_ns) / 1e9)
        return Dip(server, self.repetition, self.direction, begin, end, stretch[2], since)


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
        found += _phase(transfers, servers, count, repetition, direction)
    return found


def _phase(
    transfers: Transfers, servers: Ints, count: int, repetition: int, direction: int
) -> list[Dip]:
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
        return []
    ranks, server = _server_of_rank(transfers, rows, servers)
    here = (rates.repetition == repetition) & (rates.direction == direction)
    rank = np.searchsorted(ranks, rates.rank[here]).clip(0, len(ranks) - 1)
    place = (rates.begin_ns[here] - full) // BIN_NS
    inside = (place >= 0) & (place < bins) & (ranks[rank] == rates.rank[here])
    size = rates.bytes[here][inside].astype(np.float64)
    cell = (server[rank[inside]] + 1) * bins + place[inside]
    table = np.bincount(cell, size, (count + 1) * bins).reshape(count + 1, bins)
    where = _Phase(repetition, direction, start, full)
    whole = table.sum(0)
    if np.median(whole) <= 0:
        return []
    found = []
    for first, last, factor in _stretches(whole[None] / np.median(whole))[0]:
        found.append(where.dip(_WHOLE, (first, last, factor)))
    used = np.flatnonzero(np.median(table[1:], axis=1) > 0)
    if len(used) >= 4:
        relative = table[1:][used] / np.median(table[1:][used], axis=1, keepdims=True)
        relative /= np.maximum(np.median(relative, axis=0), 1e-9)
        for at, stretches in enumerate(_stretches(relative)):
            found += [where.dip(int(used[at]), one) for one in stretches]
    return found


def _server_of_rank(transfers: Transfers, rows: Ints, servers: Ints) -> tuple[Ints, Ints]:
    """Ranks in order, and the server of each one's files; -1 where they lie on several, or nobody knows."""
    single = transfers.stripes.counts()[rows] == 1
    target = np.full(len(rows), -1, dtype=np.int64)
    target[single] = transfers.stripes.target[transfers.stripes.first[:-1][rows[single]]]
    server = np.where(target >= 0, np.append(servers, -1)[target], -1)
    ranks, number = np.unique(transfers.rank[rows], return_inverse=True)
    low, high = np.full(len(ranks), np.iinfo(np.int64).max), np.full(len(ranks), -1)
    np.minimum.at(low, number, server)
    np.maximum.at(high, number, server)
    return ranks, np.where(low == high, low, -1)


def _stretches(relative: Floats) -> list[list[tuple[int, int, float]]]:
    """(first, end, factor) of the dips of each row of ``relative`` (rows, bins), whose usual value is 1."""
    rows, bins = relative.shape
    low = np.zeros((rows, bins), dtype=bool)
    for length in LENGTHS:
        if length > bins // 3:
            break
        sums = np.cumsum(np.pad(relative, ((0, 0), (1, 0))), axis=1)
        means = (sums[:, length:] - sums[:, :-length]) / length
        away = means - np.median(means, axis=1, keepdims=True)
        scale = max(mad(away), 0.01)
        hit, at = np.nonzero((away < -SIGMAS * scale) & (away < -DROP))
        for step in range(length):
            low[hit, at + step] = True
    low &= relative < 1 - DROP / 2
    out: list[list[tuple[int, int, float]]] = []
    for row in range(rows):
        found = []
        edges = np.flatnonzero(np.diff(np.r_[0, low[row].astype(np.int8), 0]))
        for first, end in _joined(edges.reshape(-1, 2).tolist()):
            factor = float(relative[row, first:end].mean())
            if end - first >= 2 and factor < 1 - DROP:
                found.append((first, end, factor))
        out.append(found)
    return out


def _joined(edges: list[list[int]]) -> list[tuple[int, int]]:
    """Stretches with at most one bin between them are one."""
    out: list[tuple[int, int]] = []
    for first, end in edges:
        if out and first - out[-1][1] <= 1:
            out[-1] = out[-1][0], end
        else:
            out.append((first, end))
    return out


def without(transfers: Transfers, found: list[Dip], servers: Ints) -> Transfers:
    """The transfers as they would have ended without the dips: a server's dip is no slow server."""
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
