"""Which components may be slow, and how well each explains what is left: likelihood ratios by closed forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.nested import NestedPrecision, Tree, sums
from iosonde.model.transfers import READ, WRITE

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

LEAST = 0.04
"""Least slowness, in logarithms, that counts."""
FAILOVER = float(np.log(2.0))
NEAR = 0.25
"""How far from half the rate a failed-over pair may be, and how far apart reads and writes of a slow link."""
ODD = 12.0
"""What a score loses beyond that."""


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
    ratio: float = 0.0
    effect: tuple[float, ...] = ()


@dataclass(frozen=True)
class Levels:
    """The tree, and what of it may be named. ``real_server``/``real_group``: known ones with more than one child.

    ``pairs``: servers of each failover pair.
    """

    tree: Tree
    directions: tuple[int, ...]
    real_server: Ints
    real_group: Ints
    pairs: tuple[tuple[int, ...], ...]


def penalty(effects: int, components: int) -> float:
    """What a signature must explain for the number of its effects and of components like it."""
    return effects * np.log(2 * components) + 2 * np.log(components) + 2 * np.log(5)


def best(y: Floats, precision: NestedPrecision, levels: Levels, found: list[Hypothesis], most: int) -> list[Hypothesis]:
    """The signatures that explain most of what ``found`` leaves, best first; those with a negative effect are no use."""
    left, weighted, project = residual(y, precision, found)
    candidates: list[tuple[float, float, str, int, str, tuple[float, ...]]] = []
    for kind, info, z, places, cross in _blocks(levels, precision, left, weighted):
        reduced = info - cross @ project @ cross.transpose(0, 2, 1)
        for variant, maps in _variants(kind, levels.directions):
            candidates += _scored(kind, variant, reduced, z, maps, places)
    candidates.sort(key=lambda one: -one[0])
    taken = {(one.kind, one.place) for one in found}
    chosen = [one for one in candidates[: most + len(taken)] if (one[2], one[3]) not in taken][:most]
    return [
        Hypothesis(kind, place, variant, columns(levels, kind, place, variant), score, ratio, effect)
        for score, ratio, kind, place, variant, effect in chosen
    ]


def residual(y: Floats, precision: NestedPrecision, found: list[Hypothesis]) -> tuple[Floats, Floats, Floats]:
    """Inverse covariance times what is left, shape (targets, K); times the design; inverse of its information."""
    n, k = y.shape
    mean = np.broadcast_to(np.eye(k), (n, k, k))
    design = np.concatenate([mean, *(one.columns for one in found)], axis=2)
    weighted = precision.solve(design)
    flat, flat_w = design.reshape(n * k, -1), weighted.reshape(n * k, -1)
    project = np.linalg.pinv(flat.T @ flat_w, hermitian=True)
    given = np.where(np.isfinite(y), y, 0.0)
    beta = project @ (flat_w.T @ given.reshape(-1))
    left = precision.solve(given[:, :, None])[:, :, 0] - weighted @ beta
    return left, weighted, project


def estimates(y: Floats, precision: NestedPrecision, found: list[Hypothesis]) -> tuple[Floats, Floats]:
    """Effects of all signatures together and their standard errors, shape (effects,)."""
    _, weighted, project = residual(y, precision, found)
    given, k = np.where(np.isfinite(y), y, 0.0), y.shape[1]
    beta = project @ (weighted.reshape(-1, weighted.shape[2]).T @ given.reshape(-1))
    return beta[k:], np.sqrt(np.maximum(np.diag(project)[k:], 0.0))


def _blocks(levels: Levels, precision: NestedPrecision, left: Floats, weighted: Floats):  # type: ignore[no-untyped-def]
    """kind, information (m, K, K), score vector (m, K), places (m,), products with the design (m, K, p)."""
    tree, k = levels.tree, left.shape[1]
    yield "ost", precision.target_info(), left, np.arange(len(left)), weighted
    by_server, w_server = (sums(v, tree.server, len(tree.group)) for v in (left, weighted))
    info = precision.server_info()
    real = levels.real_server
    if len(real) > 1:
        yield "oss", info[real], by_server[real], real, w_server[real]
    groups = int(tree.group.max()) + 1
    by_group, w_group = (sums(v, tree.group, groups) for v in (by_server, w_server))
    which = levels.real_group
    if len(which) > 2:
        yield "group", precision.group_info()[which], by_group[which], which, w_group[which]
    if len(which) > 1:
        if WRITE in levels.directions and READ in levels.directions and k == 2:
            servers = real[np.isin(tree.group[real], which)]
            of = tree.group[servers]
            block = precision.group_info()[of].copy()
            block[:, 1, 1] = info[servers, 1, 1]
            shared = precision.server_with_group()[servers]
            block[:, 0, 1] = block[:, 1, 0] = shared[:, 1, 0]
            z = np.stack([by_group[of, 0], by_server[servers, 1]], axis=1)
            w = np.stack([w_group[of, 0], w_server[servers, 1]], axis=1)
            yield "link", block, z, servers, w
    if levels.pairs:
        members = levels.pairs
        yield "pair", *_pair_block(members, precision, info, by_server, w_server)


def _pair_block(members, precision, info, by_server, w_server):  # type: ignore[no-untyped-def]
    total = np.stack([info[list(pair)].sum(0) for pair in members])
    for place, pair in enumerate(members):
        for i, one in enumerate(pair):
            for other in pair[i + 1 :]:
                cross = precision.between_servers(np.array([one]), np.array([other]))[0]
                total[place] += cross + cross.T
    z = np.stack([by_server[list(pair)].sum(0) for pair in members])
    w = np.stack([w_server[list(pair)].sum(0) for pair in members])
    return total, z, np.arange(len(members)), w


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
    return [shared, ("write", np.array([[1.0], [0.0]])), ("read", np.array([[0.0], [1.0]])), ("apart", np.eye(2))]


def _scored(kind, variant, info, z, maps, places):  # type: ignore[no-untyped-def]
    q = maps.shape[1]
    inner = maps.T @ info @ maps
    score = z @ maps
    usable = np.linalg.det(inner) > 1e-9
    effect = np.zeros((len(z), q))
    if usable.any():
        effect[usable] = np.linalg.solve(inner[usable], score[usable][:, :, None])[:, :, 0]
    ratio = (effect * score).sum(1)
    cost = penalty(q, max(len(places), 2)) + (2 * np.log(2) if variant in ("write", "read") else 0.0)
    value = ratio - cost
    if kind == "pair":
        value = value - ODD * (np.abs(effect[:, 0] - FAILOVER) > NEAR)
    if kind == "link":
        value = value - ODD * (np.abs(effect[:, 0] - effect[:, 1]) > NEAR)
    good = usable & (effect >= LEAST).all(axis=1) & (value > 0)
    return [
        (float(value[i]), float(ratio[i]), kind, int(places[i]), variant, tuple(effect[i].tolist()))
        for i in np.flatnonzero(good).tolist()
    ]


def members(levels: Levels, kind: str, place: int) -> tuple[Floats, Floats]:
    """Targets that an effect is on, as 0 and 1, shape (targets,): the first direction's and the last one's."""
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
