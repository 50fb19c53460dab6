"""Transfers of a bandwidth benchmark: a row per rank, file, direction and repetition, and the file's layout.

Names of hosts, files and targets are numbers into tuples of names, so that a million rows stay small. Missing:
``NULL_NS`` for an instant, -1 for a host, NaN for a position, no stripe for an unknown target. Columns of the
table: ``schema/tables/transfers.toml`` and ``rates.toml``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats, Instants, Ints, Places

WRITE, READ = 0, 1
DIRECTIONS = ("write", "read")
"""Names of ``Transfers.direction``."""
BIN_NS = 250_000_000
"""Width of a bin of ``BinnedRates``."""


@dataclass(frozen=True)
class Stripes:
    """Targets that hold a row's bytes: row ``i`` has entries ``first[i]`` to ``first[i + 1]``.

    ``first``: shape (rows + 1,). ``target`` (number of a name) and ``share`` (of the row's bytes, sums to 1 in a row):
    shape (stripes,). A row without entries has an unknown layout.
    """

    first: Ints
    target: Ints
    share: Floats

    def row_of(self) -> Places:
        """The row of each entry, shape (stripes,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def counts(self) -> Ints:
        """Targets of each row, shape (rows,)."""
        return np.diff(self.first)

    def take(self, rows: Places) -> Stripes:
        """The stripes of some rows, in that order."""
        count = np.diff(self.first)[rows]
        first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        entry = (
            np.arange(first[-1])
            - np.repeat(first[:-1], count)
            + np.repeat(self.first[:-1][rows], count)
        )
        return Stripes(first, self.target[entry], self.share[entry])

    @staticmethod
    def single(target: Ints) -> Stripes:
        """Stripes with one target per row; -1 is unknown."""
        known = target >= 0
        first = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
        return Stripes(first, target[known].astype(np.int64), np.ones(int(known.sum())))


@dataclass(frozen=True)
class BinnedRates:
    """Bytes moved by a rank in bins of ``bin_ns``. Shapes (bins,); bins without bytes may be left out.

    ``begin_ns`` on the same clock as the instants of the transfers.
    """

    repetition: Ints
    direction: Ints
    rank: Ints
    begin_ns: Instants
    bytes: Ints
    bin_ns: int = BIN_NS


@dataclass(frozen=True)
class Transfers:
    """Transfers of one run, shape (rows,) each. Instants in ns since the epoch; a client's clock gives all six.

    ``transfer_begin_ns`` and ``transfer_end_ns`` enclose the reads or writes; those of open and close may be missing.
    ``position`` of the file on its target: 0 is the outer edge of the disks, 1 the inner one.
    """

    run: str
    repetition: Ints
    direction: Ints
    rank: Ints
    host: Ints
    file: Ints
    bytes: Ints
    transfer_begin_ns: Instants
    transfer_end_ns: Instants
    stripes: Stripes
    hosts: tuple[str, ...]
    files: tuple[str, ...]
    targets: tuple[str, ...]
    position: Floats | None = None
    open_begin_ns: Instants | None = None
    open_end_ns: Instants | None = None
    close_begin_ns: Instants | None = None
    close_end_ns: Instants | None = None
    layout: tuple[str, ...] | None = None
    """The file system's name for each row's layout, for people."""
    rates: BinnedRates | None = None

    def __len__(self) -> int:
        return len(self.bytes)

    def seconds(self) -> Floats:
        """Duration of reads or writes, shape (rows,); NaN if an end is missing or before its start."""
        known = (self.transfer_begin_ns != NULL_NS) & (self.transfer_end_ns != NULL_NS)
        ns = np.where(known, self.transfer_end_ns - self.transfer_begin_ns, 0).astype(np.float64)
        return np.where(known & (ns > 0), ns / 1e9, np.nan)

    def usable(self) -> Flags:
        """Rows with bytes and a time, shape (rows,)."""
        return np.isfinite(self.seconds()) & (self.bytes > 0)


@dataclass(frozen=True)
class Topology:
    """Tree of components: target (OST) -> server (OSS) -> router group; failover pairs of servers.

    Anything may be missing. ``parents[level]`` gives the parent of a component of ``level``: ``file`` its target (a
    file's name, the end of its path, or the number of its rank), ``ost`` its server, ``oss`` its router group, ``pair``
    the failover pair of a server, ``rank`` (a number, as text) its host.
    """

    parents: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, level: str, names: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
        """Number of each name's parent (-1: unknown), shape (names,), and the parents' names, sorted."""
        edges = self.parents.get(level, {})
        found = [edges.get(name) for name in names]
        parents = tuple(sorted({parent for parent in found if parent is not None}))
        number = {parent: place for place, parent in enumerate(parents)}
        return np.array([-1 if p is None else number[p] for p in found], dtype=np.int64), parents


LEVELS = ("file", "ost", "oss", "pair", "rank")
"""Levels that ``Topology.parents`` may hold."""


def with_targets(transfers: Transfers, topology: Topology) -> Transfers:
    """Transfers with the targets that ``topology`` gives to files or ranks, unless they have their own."""
    known = topology.parents.get("file")
    if not known or len(transfers.stripes.target):
        return transfers
    of_file = [known.get(name, known.get(name.rpartition("/")[2])) for name in transfers.files]
    targets = tuple(sorted(set(known.values())))
    number = {name: place for place, name in enumerate(targets)}
    by_file = np.array([-1 if one is None else number[one] for one in of_file], dtype=np.int64)
    ranks, place = np.unique(transfers.rank, return_inverse=True)
    of_rank = [known.get(str(rank)) for rank in ranks.tolist()]
    by_rank = np.array([-1 if one is None else number[one] for one in of_rank], dtype=np.int64)
    target = by_file[transfers.file] if len(by_file) else np.full(len(transfers), -1)
    target = np.where(target >= 0, target, by_rank[place])
    return replace(transfers, stripes=Stripes.single(target), targets=targets)


def with_hosts(transfers: Transfers, topology: Topology) -> Transfers:
    """Transfers with the hosts that ``topology`` gives to ranks, unless they have their own."""
    if "rank" not in topology.parents or (transfers.host >= 0).any():
        return transfers
    ranks, number = np.unique(transfers.rank, return_inverse=True)
    host, names = topology.of("rank", [str(rank) for rank in ranks.tolist()])
    return replace(transfers, host=host[number], hosts=names)
