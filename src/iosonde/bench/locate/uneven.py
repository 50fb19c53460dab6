"""Causes of uneven times other than slow components, and unanswerable questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate import clients
from iosonde.bench.locate.findings import CannotTell, Cause, Uneven

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import Rows
    from iosonde.bench.locate.covariates import Covariates
    from iosonde.bench.locate.generations import Generations
    from iosonde.bench.locate.tree import Named
    from iosonde.model.transfers import Transfers

IMBALANCE_LOSS = 0.10
"""Least share of the rate lost by uneven files to report them."""
POSITION_Z, POSITION_LEAST = 4.0, 0.05
"""Standard errors, and least ln factor, of disk position."""
LEAST_GROUPS = 4
_Z95 = 1.96


def uneven(
    rows: Rows, explained: Covariates, kinds: Generations | None, targets: tuple[str, ...]
) -> tuple[Uneven, ...]:
    """Causes present: uneven files, disk position, two generations."""
    found = [_files(rows, targets), _position(explained)]
    if kinds is not None:
        names = tuple(targets[t] for t in np.flatnonzero(kinds.slower).tolist())
        ends = (kinds.factor, kinds.lower, kinds.upper)
        found.append(Uneven(Cause.GENERATIONS, *ends, None, names, len(targets)))
    return tuple(one for one in found if one is not None)


def _files(rows: Rows, targets: tuple[str, ...]) -> Uneven | None:
    """Uneven bytes per target, including targets without any."""
    load = np.bincount(rows.target, rows.bytes, rows.targets)
    loss = float(1 - load.mean() / load.max())
    if loss < IMBALANCE_LOSS:
        return None
    factor = float(load.max() / load.mean())
    most = tuple(targets[t] for t in np.argsort(-load)[:3].tolist())
    return Uneven(Cause.IMBALANCE, factor, factor, factor, loss, most, rows.targets)


def _position(explained: Covariates) -> Uneven | None:
    """Effect of disk position in the direction in which it is largest."""
    if not np.isfinite(explained.position).any():
        return None
    k = int(np.nanargmax(explained.position))
    slope, error = float(explained.position[k]), float(explained.position_se[k])
    if slope < POSITION_LEAST or slope < POSITION_Z * error:
        return None
    factor, lower, upper = np.exp([slope, slope - _Z95 * error, slope + _Z95 * error]).tolist()
    return Uneven(Cause.POSITION, factor, lower, upper)


def limits(transfers: Transfers, rows: Rows, named: Named) -> tuple[CannotTell, ...]:
    """Missing data, and the faults that they hide."""
    with_servers, with_groups = named.known
    hosts = np.unique(rows.host[rows.host >= 0])
    stated = {
        CannotTell.NO_SERVERS: not with_servers,
        CannotTell.NO_GROUPS: with_servers and not with_groups,
        CannotTell.FEW_GROUPS: with_groups and len(named.levels.real_group) < LEAST_GROUPS,
        CannotTell.NO_PAIRS: with_servers and not named.levels.pairs,
        CannotTell.NO_HOSTS: bool((rows.host < 0).any()),
        CannotTell.FEW_HOSTS: 0 < len(hosts) < clients.LEAST_HOSTS,
        CannotTell.ONE_HOST_A_TARGET: _alone(rows) > 0.5,
        CannotTell.FEW_FILES: len(named.levels.real_target) < 0.5 * len(np.unique(rows.target)),
        CannotTell.NO_RATES: transfers.rates is None,
        CannotTell.NO_POSITION: not np.isfinite(rows.position).any(),
        CannotTell.ONE_REPETITION: len(rows.repetitions) == 1,
    }
    return tuple(limit for limit, holds in stated.items() if holds)


def _alone(rows: Rows) -> float:
    """Share of the targets with files of one client only; 0 if clients are unknown."""
    known = rows.host >= 0
    if not known.any():
        return 0.0
    span = int(rows.host.max()) + 1
    target = np.unique(rows.target[known] * span + rows.host[known]) // span
    count = np.bincount(target)
    return float((count[count > 0] == 1).mean())
