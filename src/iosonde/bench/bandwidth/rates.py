"""Bandwidth of a phase: while all ranks were busy, until the first finished, until the last finished.

Bytes at an instant are known at ends of bins; in between a rank moves them evenly. Processes agree on the instants
first (``edges``), then each adds up its own ranks' bytes (``moved``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.bench.runtime.histogram import Counts
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import BIN_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class RankSeries:
    """File of one rank: instants (ns, UTC), and bytes per bin from number ``first_bin`` since the epoch on."""

    open_begin_ns: int
    transfer_begin_ns: int
    transfer_end_ns: int
    close_end_ns: int
    first_bin: int
    bins: Counts
    bin_ns: int = BIN_NS

    def moved(self, at_ns: int) -> float:
        """Bytes moved until an instant."""
        ends = (self.first_bin + np.arange(len(self.bins) + 1)) * self.bin_ns
        known = np.clip(ends, self.transfer_begin_ns, self.transfer_end_ns)
        total: Floats = np.concatenate([[0.0], np.cumsum(self.bins, dtype=np.float64)])
        # Relative to the beginning: doubles hold no nanoseconds since the epoch.
        since = (known - self.transfer_begin_ns).astype(np.float64)
        return float(np.interp(float(at_ns - self.transfer_begin_ns), since, total))


def rank_series(columns: Mapping[str, Counts]) -> RankSeries | None:
    """Series from a rank's records; None for a rank that never transferred."""
    named = ("open_begin_ns", "transfer_begin_ns", "transfer_end_ns", "close_end_ns")
    begin, first, last, end = (int(columns[name][0]) for name in named)
    if NULL_NS in (begin, first, last):
        return None
    end = last if end == NULL_NS else end
    return RankSeries(begin, first, last, end, int(columns["first_bin"][0]), columns["bins"])


class Edges(NamedTuple):
    """Instants of a phase over ranks, ns, UTC."""

    begin_ns: int
    """The first open begins."""
    busy_from_ns: int
    """The last rank begins to transfer."""
    busy_to_ns: int
    """The first rank's transfers have ended."""
    first_ns: int
    """The first rank has closed its file."""
    last_ns: int
    """The last one has."""


def edges(ranks: Iterable[RankSeries]) -> Edges | None:
    """Edges over some ranks; None without ranks."""
    every = list(ranks)
    if not every:
        return None
    return Edges(
        min(one.open_begin_ns for one in every),
        max(one.transfer_begin_ns for one in every),
        min(one.transfer_end_ns for one in every),
        min(one.close_end_ns for one in every),
        max(one.close_end_ns for one in every),
    )


def merged_edges(parts: Iterable[Edges | None]) -> Edges | None:
    """Edges over all processes."""
    every = [part for part in parts if part is not None]
    if not every:
        return None
    begin, busy_from, busy_to, first, last = zip(*every, strict=True)
    return Edges(min(begin), max(busy_from), min(busy_to), min(first), max(last))


class Moved(NamedTuple):
    """Bytes of some ranks at the instants of ``Edges``."""

    busy_from: float
    busy_to: float
    first: float
    last: float


def moved(ranks: Sequence[RankSeries], at: Edges) -> Moved:
    """Bytes that ranks have moved at the instants of ``Edges``."""
    instants = (at.busy_from_ns, at.busy_to_ns, at.first_ns, at.last_ns)
    return Moved(*(sum(one.moved(ns) for one in ranks) for ns in instants))


@dataclass(frozen=True, slots=True)
class BandwidthRates:
    """Bytes per second. None: unknown, as for ranks that were never all busy at once."""

    sustained: float | None
    first: float | None
    last: float | None

    @property
    def tail_loss(self) -> float | None:
        """Share of the sustained rate lost by waiting for the last rank."""
        if not self.sustained or self.last is None:
            return None
        return 1 - self.last / self.sustained


def phase_rates(at: Edges, parts: Iterable[Moved]) -> BandwidthRates:
    """Rates from the bytes of all processes' ranks."""
    busy_from, busy_to, first, last = (sum(part) for part in zip(*parts, strict=True))
    return BandwidthRates(
        _rate(busy_to - busy_from, at.busy_to_ns - at.busy_from_ns),
        _rate(first, at.first_ns - at.begin_ns),
        _rate(last, at.last_ns - at.begin_ns),
    )


def _rate(bytes_moved: float, ns: int) -> float | None:
    return bytes_moved * 1e9 / ns if ns > 0 else None
