"""Rates of a phase: while all ranks are busy, until the first ends, until the last ends, and the cost of the tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.transfers import BIN_NS, DIRECTIONS

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants
    from iosonde.model.transfers import Transfers


MOST_BINS = 100_000
"""Most bins of a series."""


@dataclass(frozen=True)
class PhaseRates:
    """Bytes per second of one direction of one repetition; times in s since its first transfer started.

    ``sustained``: between the last begin and the first end of all transfers, NaN if some began after others had
    ended. ``first_finisher``: what had moved when the first transfer ended, over that time. ``last_finisher``: all
    bytes over the time until the last ended, which is what IOR reports. ``tail_loss`` = 1 - last / sustained.
    """

    repetition: int
    direction: str
    sustained: float
    first_finisher: float
    last_finisher: float
    tail_loss: float
    first_end_s: float
    last_end_s: float
    bytes: int


def rates_of(transfers: Transfers) -> list[PhaseRates]:
    """Rates of every phase, in order. From ``rates`` if the transfers have them, else at each transfer's mean rate."""
    usable = transfers.usable()
    keys = np.unique(
        np.stack([transfers.repetition[usable], transfers.direction[usable]], axis=1), axis=0
    )
    return [_phase(transfers, usable, int(rep), int(way)) for rep, way in keys]


def series(transfers: Transfers, repetition: int, direction: int) -> tuple[Instants, Floats]:
    """Aggregate bytes per second of a phase in bins: start of each (ns) and rate; shapes (bins,).

    Bins are 0.25 s, or longer in a phase of more than ``MOST_BINS`` of them.
    """
    rates = transfers.rates
    rows = _rows(transfers, transfers.usable(), repetition, direction)
    begin, end = transfers.transfer_begin_ns[rows], transfers.transfer_end_ns[rows]
    start, last = int(begin.min()), int(end.max())
    width = BIN_NS * max(1, -(-(last - start) // (BIN_NS * MOST_BINS)))
    edges = np.arange(start, last + width, width)
    if rates is not None:
        mine = (rates.repetition == repetition) & (rates.direction == direction)
        place = ((rates.begin_ns[mine] - start) // width).clip(0, len(edges) - 1)
        binned = np.bincount(place, rates.bytes[mine].astype(np.float64), len(edges))
        return edges, binned / (width / 1e9)
    size = transfers.bytes[rows].astype(np.float64)
    moved = np.diff(_moved(begin, end, size, np.append(edges, edges[-1] + width)))
    return edges, moved / (width / 1e9)


def _rows(transfers: Transfers, usable: Flags, repetition: int, direction: int) -> Flags:
    mine: Flags = usable & (transfers.repetition == repetition) & (transfers.direction == direction)
    return mine


def _phase(transfers: Transfers, usable: Flags, repetition: int, direction: int) -> PhaseRates:
    rows = _rows(transfers, usable, repetition, direction)
    begin, end = transfers.transfer_begin_ns[rows], transfers.transfer_end_ns[rows]
    size = transfers.bytes[rows].astype(np.float64)
    start, full, first, last = begin.min(), begin.max(), end.min(), end.max()
    at = np.array([full, first])
    moved = _binned(transfers, repetition, direction, at)
    if moved is None:
        moved = _moved(begin, end, size, at)
    sustained = float(moved[1] - moved[0]) / ((first - full) / 1e9) if first > full else np.nan
    until_last = float(size.sum()) / ((last - start) / 1e9)
    return PhaseRates(
        repetition,
        DIRECTIONS[direction],
        sustained,
        float(moved[1]) / ((first - start) / 1e9),
        until_last,
        1 - until_last / sustained,
        float(first - start) / 1e9,
        float(last - start) / 1e9,
        int(size.sum()),
    )


def _moved(begin: Instants, end: Instants, size: Floats, at: Instants) -> Floats:
    """Bytes moved until each instant if every transfer has a steady rate: two sorted sums, not a matrix."""
    rate = size / (end - begin)
    origin = begin.min()
    out = np.zeros(len(at))
    for instants, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(instants)
        when, slope = (instants[order] - origin).astype(np.float64), rate[order] * sign
        total, weighted = np.r_[0.0, np.cumsum(slope)], np.r_[0.0, np.cumsum(slope * when)]
        place = np.searchsorted(instants[order], at, side="right")
        out += (at - origin) * total[place] - weighted[place]
    return out


def _binned(transfers: Transfers, repetition: int, direction: int, at: Instants) -> Floats | None:
    """Bytes moved until each instant, from bins; None without them."""
    rates = transfers.rates
    if rates is None:
        return None
    mine = (rates.repetition == repetition) & (rates.direction == direction)
    if not mine.any():
        return None
    share: Floats = np.clip((at[:, None] - rates.begin_ns[mine][None, :]) / rates.bin_ns, 0, 1)
    moved: Floats = share @ rates.bytes[mine].astype(np.float64)
    return moved
