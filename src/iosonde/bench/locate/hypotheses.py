"""Candidates for slow components, and how well each explains the residual: likelihood ratios in closed form."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.bench.locate.nested import NestedPrecision, Tree, sums
from iosonde.model.transfers import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iosonde.model.arrays import Floats, Ints

LEAST = 0.04
"""Least slowness, in logarithms, that counts."""
FAILOVER = float(np.log(2.0))
NEAR = 0.25
"""Tolerance of a failover pair around half the rate, and between reads and writes of a slow link."""
ODD = 12.0
"""Score penalty beyond that tolerance."""
ONE_WAY = float(2 * np.log(2))
"""Score penalty of a fault in one direction only."""
ROOM = 6.0
"""Margin below its penalty at which a component is still tried: the test after the search decides."""
_SINGULAR = 1e-9


@dataclass(frozen=True)
class Hypothesis:
    """``kind`` ost, oss, group, pair or link; ``place`` of the component in its level.

    ``columns``: signature, shape (targets, K, q): 1 where an effect is. ``score``: likelihood ratio less penalty.
    """

    kind: str
    place: int
    variant: str
    columns: Floats = field(repr=False)
    score: float = 0.0
    effect: tuple[float, ...] = ()


class Trial(NamedTuple):
    """A hypothesis before its signature is built."""

    score: float
    kind: str
    place: int
    variant: str
    effect: tuple[float, ...]


class KindBlock(NamedTuple):
    """All components of a kind: ``place`` (m,), information (m, K, K), score vectors (m, K), and their products with
    the design, (m, K, columns).
    """

    kind: str
    place: Ints
    info: Floats
    z: Floats
    design: Floats


@dataclass(frozen=True)
class Levels:
    """The tree, and its nameable components. ``real_server``/``real_group``: known ones with more than one child.

    ``pairs``: servers of each failover pair. ``real_target``: targets with enough files to be named alone.
    """

    tree: Tree
    directions: tuple[int, ...]
    real_server: Ints
    real_group: Ints
    pairs: tuple[tuple[int, ...], ...]
    real_target: Ints


def penalty(effects: int, components: int) -> float:
    """Score threshold of a signature, for the number of its effects and of similar components."""
    return float(effects * np.log(2 * components) + 2 * np.log(components) + 2 * np.log(5))


def best(
    y: Floats, precision: NestedPrecision, levels: Levels, found: list[Hypothesis], most: int
) -> list[Hypothesis]:
    """Signatures that explain most of the residual of ``found``, best first, without those of ``found``."""
    left, weighted, project = residual(y, precision, found)
    candidates: list[Trial] = []
    for block in _blocks(levels, precision, left, weighted):
        reduced = block.info - block.design @ project @ block.design.transpose(0, 2, 1)
        for variant, maps in _variants(block.kind, levels.directions):
            candidates += _scored(block, variant, reduced, maps)
    candidates.sort(key=lambda one: -one.score)
    taken = {(one.kind, one.place) for one in found}
    new = [one for one in candidates[: most + 3 * len(taken)] if (one.kind, one.place) not in taken]
    return [
        Hypothesis(
            one.kind,
            one.place,
            one.variant,
            columns(levels, one.kind, one.place, one.variant),
            one.score,
            one.effect,
        )
        for one in new[:most]
    ]


def residual(
    y: Floats, precision: NestedPrecision, found: list[Hypothesis]
) -> tuple[Floats, Floats, Floats]:
    """Inverse covariance times the residual, shape (targets, K); times the design; inverse of its information."""
    n, k = y.shape
    mean: Floats = np.broadcast_to(np.eye(k), (n, k, k))
    design: Floats = np.concatenate([mean, *(one.columns for one in found)], axis=2)
    weighted = precision.solve(design)
    flat, flat_w = design.reshape(n * k, -1), weighted.reshape(n * k, -1)
    inverse = np.linalg.pinv(flat.T @ flat_w, hermitian=True)
    project = np.asarray(inverse, dtype=np.float64)
    given = np.where(np.isfinite(y), y, 0.0)
    beta = np.asarray(project @ (flat_w.T @ given.reshape(-1)))
    solved: Floats = precision.solve(given[:, :, None])[:, :, 0]
    left: Floats = solved - weighted @ beta
    return left, weighted, project


def estimates(
    y: Floats, precision: NestedPrecision, found: list[Hypothesis]
) -> tuple[Floats, Floats]:
    """Joint effects of all signatures and their standard errors, shape (effects,)."""
    _, weighted, project = residual(y, precision, found)
    given, k = np.where(np.isfinite(y), y, 0.0), y.shape[1]
    beta = project @ (weighted.reshape(-1, weighted.shape[2]).T @ given.reshape(-1))
    return beta[k:], np.sqrt(np.maximum(np.diag(project)[k:], 0.0))


def _blocks(
    levels: Levels, precision: NestedPrecision, left: Floats, weighted: Floats
) -> Iterator[KindBlock]:
    """Yield all components, kind by kind."""
    tree, k = levels.tree, left.shape[1]
    which = levels.real_target
    info = precision.target_info()
    if len(which):
        yield KindBlock("ost", which, info[which], left[which], weighted[which])
    z_server, w_server = (sums(v, tree.server, len(tree.group)) for v in (left, weighted))
    info, real = precision.server_info(), levels.real_server
    if len(real) > 1:
        yield KindBlock("oss", real, info[real], z_server[real], w_server[real])
    groups = int(tree.group.max()) + 1
    z_group, w_group = (sums(v, tree.group, groups) for v in (z_server, w_server))
    group_info, which = precision.group_info(), levels.real_group
    if len(which) > 2:
        yield KindBlock("group", which, group_info[which], z_group[which], w_group[which])
    if len(which) > 1 and k == 2:
        servers = real[np.isin(tree.group[real], which)]
        of = tree.group[servers]
        block = group_info[of].copy()
        block[:, 1, 1] = info[servers, 1, 1]
        shared = precision.server_with_group()[servers]
        block[:, 0, 1] = block[:, 1, 0] = shared[:, 1, 0]
        z = np.stack([z_group[of, 0], z_server[servers, 1]], axis=1)
        w = np.stack([w_group[of, 0], w_server[servers, 1]], axis=1)
        yield KindBlock("link", servers, block, z, w)
    if levels.pairs:
        total = np.stack([_pair_info(pair, precision, info) for pair in levels.pairs])
        z = np.stack([z_server[list(pair)].sum(0) for pair in levels.pairs])
        w = np.stack([w_server[list(pair)].sum(0) for pair in levels.pairs])
        yield KindBlock("pair", np.arange(len(levels.pairs)), total, z, w)


def _pair_info(pair: tuple[int, ...], precision: NestedPrecision, info: Floats) -> Floats:
    """Information of a common effect of several servers, shape (K, K)."""
    total = info[list(pair)].sum(axis=0)
    for one, other in itertools.combinations(pair, 2):
        cross = precision.between_servers(np.array([one]), np.array([other]))[0]
        total = total + cross + cross.T
    return np.asarray(total)


def _variants(kind: str, directions: tuple[int, ...]) -> list[tuple[str, Floats]]:
    """Names and maps (K, q) from directions to effects."""
    k = len(directions)
    if k == 1:
        return [("both", np.eye(1))]
    if kind == "link":
        return [("both", np.eye(2))]
    shared = ("both", np.ones((2, 1)))
    if kind == "pair":
        return [shared]
    if kind == "group":
        return [shared, ("apart", np.eye(2))]
    return [
        shared,
        ("write", np.array([[1.0], [0.0]])),
        ("read", np.array([[0.0], [1.0]])),
        ("apart", np.eye(2)),
    ]


def _scored(block: KindBlock, variant: str, info: Floats, maps: Floats) -> list[Trial]:
    """Trials of a block that explain more than chance, with slow effects only."""
    q = maps.shape[1]
    inner, z = maps.T @ info @ maps, block.z @ maps
    usable = np.linalg.det(inner) > _SINGULAR
    effect = np.zeros((len(z), q))
    if usable.any():
        effect[usable] = np.linalg.solve(inner[usable], z[usable][:, :, None])[:, :, 0]
    cost = penalty(q, max(len(block.place), 2)) + ONE_WAY * (variant in DIRECTIONS)
    score = (effect * z).sum(axis=1) - cost
    if block.kind == "pair":
        score = score - ODD * (np.abs(effect[:, 0] - FAILOVER) > NEAR)
    if block.kind == "link":
        score = score - ODD * (np.abs(effect[:, 0] - effect[:, 1]) > NEAR)
    good = usable & (effect >= LEAST).all(axis=1) & (score > -ROOM)
    return [
        Trial(float(score[i]), block.kind, int(block.place[i]), variant, tuple(effect[i].tolist()))
        for i in np.flatnonzero(good).tolist()
    ]


def members(levels: Levels, kind: str, place: int) -> tuple[Floats, Floats]:
    """Indicator of affected targets, shape (targets,): in the first direction and in the last one."""
    tree = levels.tree
    if kind == "ost":
        mask = np.arange(len(tree.server)) == place
    elif kind == "oss":
        mask = tree.server == place
    elif kind == "group":
        mask = tree.group_of_target() == place
    elif kind == "pair":
        mask = np.isin(tree.server, levels.pairs[place])
    else:
        group = tree.group_of_target() == tree.group[place]
        return group.astype(np.float64), (tree.server == place).astype(np.float64)
    return mask.astype(np.float64), mask.astype(np.float64)


def columns(levels: Levels, kind: str, place: int, variant: str) -> Floats:
    """The signature, shape (targets, K, q)."""
    first, last = members(levels, kind, place)
    k = len(levels.directions)
    each = np.stack([first, last], axis=1)[:, :k]
    maps = dict(_variants(kind, levels.directions))[variant]
    return each[:, :, None] * maps[None]
