"""Localisation of slow components: transfers and topology in, findings out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.cells import Rows, rows_of
from iosonde.bench.locate.dips import dips_of, without
from iosonde.bench.locate.effects import effects_of
from iosonde.bench.locate.findings import CannotTell, ComponentFindings, Counts
from iosonde.bench.locate.generations import Generations, generations
from iosonde.bench.locate.scatter import noise_of
from iosonde.bench.locate.search import Found, search
from iosonde.bench.locate.slow import slow_client, slow_component, slow_while, together
from iosonde.bench.locate.tree import FEWEST, Named, named_levels, transfers_of
from iosonde.bench.locate.uneven import limits, uneven
from iosonde.model.transfers import DIRECTIONS, Topology, Transfers, with_hosts, with_targets

if TYPE_CHECKING:
    from iosonde.bench.locate.effects import Effects
    from iosonde.model.arrays import Flags

PERSISTENT = 0.8
"""Share of repetitions that must show a slow component: load of others moves."""
FEW_FILES = 2
"""Transfers of a typical target, over all repetitions, that do not tell two kinds of targets apart."""
WIDE = 0.5
"""Share of the targets under a typical file above which its time identifies no target."""


def locate(transfers: Transfers, topology: Topology) -> ComponentFindings:
    """Slow components and causes of uneven times. Never raises for missing data: ``limits`` names them."""
    transfers = with_targets(with_hosts(transfers, topology), topology)
    server, servers = topology.of("ost", transfers.targets)
    dips = dips_of(transfers, server, len(servers))
    rows = rows_of(without(transfers, dips, server) if dips else transfers)
    named = named_levels(transfers, topology, rows)
    counts = _counts(transfers, rows, named)
    obstacle = _obstacle(transfers, rows)
    if obstacle is not None:
        return ComponentFindings((), (), (obstacle,), counts)
    slow_hosts, effects, explained = effects_of(rows, named.servers())
    files = transfers_of(rows)[np.unique(rows.target)]
    kinds = generations(effects.y, named.levels) if np.median(files) > FEW_FILES else None
    found = _searched(effects, kinds, named)
    slow = [slow_component(one, effects, named, kinds, rows.directions) for one in found]
    slow = [one for one in slow if one.repetitions >= PERSISTENT * one.of_repetitions]
    if not named.known[0]:
        slow = together(slow)
    slow += [slow_client(one, transfers, rows) for one in slow_hosts]
    slow += [slow_while(one, servers, len(rows.repetitions)) for one in dips]
    causes = uneven(rows, explained, kinds, transfers.targets)
    return ComponentFindings(tuple(slow), causes, limits(transfers, rows, named), counts)


def _counts(transfers: Transfers, rows: Rows, named: Named) -> Counts:
    return Counts(
        targets=len(np.unique(rows.target)),
        servers=len(named.levels.real_server),
        groups=len(named.levels.real_group),
        files=len(np.unique(transfers.file)),
        transfers=len(transfers),
        repetitions=len(rows.repetitions),
        directions=tuple(DIRECTIONS[d] for d in rows.directions),
    )


def _obstacle(transfers: Transfers, rows: Rows) -> CannotTell | None:
    """Reason why components are indistinguishable."""
    targets = len(np.unique(rows.target))
    if not targets:
        return CannotTell.NO_TARGETS
    if np.median(transfers.stripes.counts()) > WIDE * targets:
        return CannotTell.STRIPED
    return CannotTell.FEW_TARGETS if targets < FEWEST else None


def _searched(effects: Effects, kinds: Generations | None, named: Named) -> list[Found]:
    """Slow components among targets of the same kind. A slow server may have been assigned the other kind: its
    kind is changed if that reduces the findings.
    """
    y = effects.y - np.nanmedian(effects.y, axis=0)
    noise = noise_of(effects.by_repetition, effects.file_variance, named.levels.tree)
    if kinds is None:
        return search(y, noise, named.levels, named.known)

    def against(slower: Flags) -> list[Found]:
        left = y.copy()
        for kind in (slower, ~slower):
            left[kind] -= np.nanmedian(left[kind], axis=0)
        return search(left, noise, named.levels, named.known)

    found = against(kinds.slower)
    for one in found if len(found) > 1 else []:
        mine = one.hypothesis.columns.any(axis=(1, 2))
        if one.hypothesis.kind == "link":
            mine = named.levels.tree.server == one.hypothesis.place
        other = against(np.where(mine, ~kinds.slower, kinds.slower))
        found = min(found, other, key=len)
    return found
