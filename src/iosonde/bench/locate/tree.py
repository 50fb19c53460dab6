"""Targets, servers, router groups and failover pairs of a run, from its topology."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.hypotheses import Levels
from iosonde.bench.locate.nested import Tree

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import Rows
    from iosonde.model.arrays import Ints
    from iosonde.model.transfers import Topology, Transfers


FEWEST = 4
"""Least number of targets for a typical one."""
LEAST_TRANSFERS = 3
"""Least number of transfers of a target in a direction, over all repetitions, to name it alone."""

LEAST_FILES = 2
"""Least number of files of a target in a repetition to name it alone, if a typical one has so many."""


@dataclass(frozen=True)
class Named:
    """``levels`` with the names of their components by kind; ``known``: True for known servers, and groups."""

    levels: Levels
    known: tuple[bool, bool]
    names: dict[str, tuple[str, ...]]

    def servers(self) -> Ints | None:
        """Server of each target, None without any."""
        return self.levels.tree.server if self.known[0] else None


def named_levels(transfers: Transfers, topology: Topology, rows: Rows) -> Named:
    """Tree of targets with known parents, or single parents for unknown ones."""
    server, servers = topology.of("ost", transfers.targets)
    server, every = _alone(server, len(servers))
    group, groups = topology.of("oss", servers)
    unknown = np.full(every - len(servers), -1, dtype=np.int64)
    group, _ = _alone(np.concatenate([group, unknown]), len(groups))
    used = np.unique(rows.target)
    children = np.bincount(server[used], minlength=every)[: len(servers)]
    real = np.flatnonzero(children >= 2)
    in_group = np.bincount(group[real], minlength=len(groups) + 1)[: len(groups)]
    real_group = np.flatnonzero(in_group >= 2)
    pair, pairs = topology.of("pair", servers)
    held = [
        tuple(s for s in np.flatnonzero(pair == p).tolist() if children[s])
        for p in range(len(pairs))
    ]
    usable = [p for p, one in enumerate(held) if len(one) > 1]
    levels = Levels(
        Tree(server, group),
        rows.directions,
        real,
        real_group,
        tuple(held[p] for p in usable),
        _namable(rows),
    )
    names = {
        "ost": transfers.targets,
        "oss": servers,
        "link": servers,
        "group": groups,
        "pair": tuple(pairs[p] for p in usable),
    }
    return Named(levels, (len(real) >= 2, len(real_group) >= 2), names)


def _namable(rows: Rows) -> Ints:
    """Targets that may be named alone: with enough transfers, and no single file where others have more.

    How long one file takes that has a target for itself, others that share theirs do not say.
    """
    count = transfers_of(rows)
    files = count / max(len(rows.repetitions), 1)
    typical = float(np.median(files[count > 0])) if count.any() else 0.0
    single = (files < LEAST_FILES) & (typical >= LEAST_FILES)
    return np.flatnonzero((count >= LEAST_TRANSFERS) & ~single)


def transfers_of(rows: Rows) -> Ints:
    """Transfers of each target in the direction that has fewer, shape (targets,)."""
    ways = len(rows.directions)
    if not ways:
        return np.zeros(rows.targets, dtype=np.int64)
    count = np.bincount(rows.target * ways + rows.phase % ways, minlength=rows.targets * ways)
    return np.asarray(count.reshape(-1, ways).min(axis=1), dtype=np.int64)


def _alone(number: Ints, count: int) -> tuple[Ints, int]:
    """Replace unknown parents (-1) by individual ones."""
    out, missing = number.copy(), np.flatnonzero(number < 0)
    out[missing] = count + np.arange(len(missing))
    return out, count + len(missing)
