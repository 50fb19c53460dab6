"""Sums over Darshan records, in batches of any size: totals, the slowest rank, and facts of each file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.darshan.records import PLACES, Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints


_LARGEST = 1e19
_MOST_WAITING = 1 << 18


class Files(NamedTuple):
    """Known facts of files; shapes (n,), ``ids`` ascending and unique."""

    ids: NDArray[np.uint64]
    read_bytes: Floats
    written_bytes: Floats
    readers: Floats
    """Ranks that read the file; all of the job's if Darshan has reduced them to one record."""
    writers: Floats


class ModuleCounts:
    """Sums of one module of one log.

    A value below zero, not finite or beyond 1e19 is missing: it is left out of its sum, and counted.
    """

    def __init__(self, module: str, ranks: int, partial: bool) -> None:
        self.module, self.ranks, self.partial = module, ranks, partial
        self.n = 0
        self.impossible = 0
        """Records of a rank that the job does not have; left out."""
        self.shared_s = 0.0
        self._moved: float | None = None
        width = len(PLACES[module])
        self._sums, self._known = np.zeros(width), np.zeros(width)
        self._files: list[Files] = []
        self._waiting = 0
        self._by_rank: list[tuple[Ints, Floats]] = []

    def add(self, records: Records) -> None:
        """Add records of this module."""
        _, ids, ranks, values = records
        possible = (ranks >= -1) & (ranks < self.ranks)
        if not possible.all():
            self.impossible += int((~possible).sum())
            ids, ranks, values = ids[possible], ranks[possible], values[possible]
        self.n += len(ids)
        if not len(ids):
            return
        good = (values >= 0) & (values < _LARGEST)
        values = np.where(good, values, 0.0)
        self._sums += values.sum(axis=0)
        self._known += good.sum(axis=0)
        if not values.shape[1]:
            self._keep(ids, np.zeros((len(ids), 2)), ranks)
            return
        self._keep(ids, values[:, :2], ranks)
        shared = ranks < 0
        self.shared_s += float(values[shared, -1].sum())
        if not shared.all():
            own = ~shared
            self._by_rank.append((ranks[own], values[own, -4:-1].sum(axis=1)))

    def take_totals(
        self, totals: Mapping[str, float], moved_bytes: float | None, slowest_s: float | None
    ) -> None:
        """Take precomputed sums, without facts of files and ranks."""
        for name, column in PLACES[self.module].items():
            value = totals.get(name)
            if value is not None and 0 <= value < _LARGEST:
                self._sums[column], self._known[column] = value, 1
        self.n = max(self.n, 1)
        self._moved = moved_bytes if moved_bytes is not None and moved_bytes < _LARGEST else None
        self.shared_s = slowest_s or 0.0

    def _keep(self, ids: NDArray[np.uint64], moved: Floats, ranks: Ints) -> None:
        each = np.where(ranks < 0, float(self.ranks), 1.0)
        used = moved > 0
        # Copies, for slices would keep every column of every record.
        self._files.append(
            Files(ids, moved[:, 0].copy(), moved[:, 1].copy(), each * used[:, 0], each * used[:, 1])
        )
        self._waiting += len(ids)
        if self._waiting > _MOST_WAITING:
            self._files = [self.files()]
            self._by_rank = [self._ranks()]
            self._waiting = 0

    def _ranks(self) -> tuple[Ints, Floats]:
        if not self._by_rank:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        if len(self._by_rank) == 1 and len(self._by_rank[0][0]) == 1:
            return self._by_rank[0]
        ranks = np.concatenate([part for part, _ in self._by_rank])
        seconds = np.concatenate([part for _, part in self._by_rank])
        some, place = np.unique(ranks, return_inverse=True)
        return some, np.bincount(place, weights=seconds).astype(np.float64)

    def files(self) -> Files:
        """All files of the module."""
        return merged(self._files, self.ranks)

    def total(self, *counters: str) -> float:
        """Sum of these counters over all records, missing values left out."""
        place = PLACES[self.module]
        return float(sum(self._sums[place[name]] for name in counters))

    def known(self, *counters: str) -> int:
        """Number of values in these sums."""
        place = PLACES[self.module]
        return int(sum(self._known[place[name]] for name in counters))

    @property
    def moved_bytes(self) -> float:
        """Bytes read and written."""
        return float(self._sums[0] + self._sums[1]) if self._moved is None else self._moved

    @property
    def slowest_s(self) -> float:
        """Time of the slowest rank over its own files, plus the slowest rank's time of each shared file.

        Darshan's ``agg_time_by_slowest``: what ``agg_perf_by_slowest`` divides by.
        """
        seconds = self._ranks()[1]
        return self.shared_s + (float(seconds.max()) if len(seconds) else 0.0)


def merged(parts: list[Files], ranks: int) -> Files:
    """Merge files of several batches: bytes and ranks add up, the latter to at most ``ranks``."""
    if not parts:
        nothing = np.zeros(0)
        return Files(np.zeros(0, dtype=np.uint64), nothing, nothing, nothing, nothing)
    if len(parts) == 1 and len(parts[0].ids) == 1:
        return parts[0]
    ids, place = np.unique(np.concatenate([part.ids for part in parts]), return_inverse=True)
    read, written, readers, writers = (
        np.bincount(place, weights=np.concatenate(column)).astype(np.float64)
        for column in list(zip(*parts, strict=True))[1:]
    )
    most = float(ranks)
    return Files(ids, read, written, np.minimum(readers, most), np.minimum(writers, most))
