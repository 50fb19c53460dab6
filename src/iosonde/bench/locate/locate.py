"""Which component is slow: transfers and topology in, findings out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate import cells as cells_of
from iosonde.bench.locate import clients, covariates
from iosonde.bench.locate import dips as dips_of
from iosonde.bench.locate.findings import Cause, Effect, Fault, Findings, Limit, Slow, Uneven
from iosonde.bench.locate.generations import Generations, generations
from iosonde.bench.locate.hypotheses import Levels, members
from iosonde.bench.locate.nested import Tree
from iosonde.bench.locate.search import Found, search
from iosonde.model.transfers import DIRECTIONS, Topology, Transfers, with_hosts

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import Cells, Rows
    from iosonde.bench.locate.covariates import Covariates
    from iosonde.model.arrays import Flags, Floats, Ints

FAULTS = {"ost": Fault.OST, "oss": Fault.SERVER, "group": Fault.ROUTER, "pair": Fault.FAILOVER, "link": Fault.LINK}
IMBALANCE_LOSS = 0.10
"""Share of the rate that uneven files cost before they are named."""
POSITION_Z, POSITION_LEAST = 4.0, 0.05
"""Standard errors, and least ln factor, of disk position."""
PERSISTENT = 0.8
"""Share of the repetitions that must show a slow component: what others load moves."""
WIDE = 0.5
"""Share of the targets that a typical file lies on, above which its time says nothing of one."""
FEWEST = 6
"""Targets below which nothing is usual."""
_Z95 = 1.96


@dataclass(frozen=True)
class Effects:
    """Slowness of targets: ``y`` (targets, K), its files' variance, and ``by_repetition`` (repetitions, targets, K)."""

    y: Floats
    file_variance: Floats
    by_repetition: Floats


def locate(transfers: Transfers, topology: Topology) -> Findings:
    """Slow components and causes of uneven times. Never raises for missing parts: ``limits`` names them."""
    transfers = with_hosts(transfers, topology)
    server, server_names = topology.of("ost", transfers.targets)
    dips = dips_of.dips(transfers, server, len(server_names))
    rows = cells_of.rows_of(dips_of.without(transfers, dips, server) if dips else transfers)
    used = np.unique(rows.target)
    if len(used) < FEWEST:
        none_named = Limit.NO_TARGETS if not len(used) else Limit.FEW_TARGETS
        return _findings(transfers, rows, (), (), [none_named], None)
    if np.median(transfers.stripes.counts()) > WIDE * len(used):
        return _findings(transfers, rows, (), (), [Limit.STRIPED], None)
    levels, known, names = _levels(transfers, topology, rows)
    servers = levels.tree.server if known[0] else None
    slow_hosts, effects, explained = _effects(rows, servers)
    kinds = generations(effects.y, levels)
    y, found = _by_kind(effects, kinds, levels, known)
    slow = [_slow(one, y, effects, levels, names, rows) for one in found]
    slow = [one for one in slow if one.repetitions >= np.ceil(PERSISTENT * one.of_repetitions)]
    if not known[0]:
        slow = _together(slow)
    slow += [_slow_host(one, transfers, rows) for one in slow_hosts]
    slow += [_slow_dip(one, server_names, len(rows.repetitions)) for one in dips]
    uneven = _uneven(rows, explained, kinds, transfers)
    limits = _limits(transfers, rows, levels, known)
    return _findings(transfers, rows, tuple(slow), uneven, limits, levels)


def _by_kind(
    effects: Effects, kinds: Generations | None, levels: Levels, known: tuple[bool, bool]
) -> tuple[Floats, list[Found]]:
    """Slowness against targets of the same kind, and the search. A slow server may have been taken for the other
    kind: its kind is changed where that leaves fewer findings.
    """
    y = effects.y - np.nanmedian(effects.y, axis=0)
    if kinds is None:
        return y, search(y, effects.file_variance, levels, known)
    slower = kinds.slower

    def against(slower: Flags) -> tuple[Floats, list[Found]]:
        left = y.copy()
        for kind in (slower, ~slower):
            left[kind] -= np.nanmedian(left[kind], axis=0)
        return left, search(left, effects.file_variance, levels, known)

    found = against(slower)
    for one in found[1]:
        if len(found[1]) < 2:
            break
        mine = one.hypothesis.columns.any(axis=(1, 2)) if one.hypothesis.kind != "link" else None
        mine = levels.tree.server == one.hypothesis.place if mine is None else mine
        other = against(np.where(mine, ~slower, slower))
        if len(other[1]) < len(found[1]):
            found = other
    return found


def _effects(rows: Rows, servers: Ints | None) -> tuple[list[clients.SlowHost], Effects, Covariates]:
    """Slow hosts, targets without their files, and what bytes and positions explain."""
    slowness, use = rows.slowness, np.ones(len(rows.slowness))
    every: list[clients.SlowHost] = []
    for _ in range(4):
        cells = cells_of.locations(rows, rows.slowness, use)
        explained = covariates.fit(rows, cells.centre, servers)
        slowness = rows.slowness - explained.explained[rows.cell()]
        cells = cells_of.locations(rows, slowness, use)
        out = {one.host for one in every}
        more = clients.slow_hosts(rows, cells, slowness, out)
        if not more:
            break
        # The slowest may make others on its targets look slow or fast: one at a time where few are found.
        every += more if len(more) > 8 else more[:1]
        use = np.where(np.isin(rows.host, [one.host for one in every]), 0.0, 1.0)
    return every, _combined(rows, cells), explained


def _combined(rows: Rows, cells: Cells) -> Effects:
    """One value a target and direction from all repetitions: Huber over them where there are three."""
    table = rows.table(cells.centre)
    files = rows.table(cells.files.astype(np.float64))
    table = table - np.nanmedian(table, axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a target without files has no slowness
        centre = np.nanmedian(table, axis=0) if len(table) > 2 else np.nanmean(table, axis=0)
    if len(table) > 2:
        scale = np.nanmedian(np.abs(np.diff(table, axis=0)), axis=(0, 1)) / (0.6745 * np.sqrt(2))
        for _ in range(3):
            weight = np.fmin(1.0, 1.345 * scale / np.maximum(np.abs(table - centre), 1e-9))
            weight = np.where(np.isfinite(table), weight, 0.0)
            total = weight.sum(0)
            mean = (weight * np.nan_to_num(table)).sum(0) / np.maximum(total, 1e-12)
            centre = np.where(total > 0, mean, np.nan)
    count = np.maximum(files.sum(0), 1)
    return Effects(centre, cells.file_scale**2 / count, table)


def _levels(transfers: Transfers, topology: Topology, rows: Rows) -> tuple[Levels, tuple[bool, bool], dict[str, tuple[str, ...]]]:
    """The tree of targets with parents where they are known; alone where not."""
    server, servers = topology.of("ost", transfers.targets)
    server, every = _alone(server, len(servers))
    group, groups = topology.of("oss", servers)
    group = np.concatenate([group, np.full(every - len(servers), -1, dtype=np.int64)])
    group, _ = _alone(group, len(groups))
    has_files = np.isin(np.arange(len(server)), rows.target)
    children = np.bincount(server[has_files], minlength=every)[: len(servers)]
    real = np.flatnonzero(children >= 2)
    in_group = np.bincount(group[real], minlength=max(len(groups), 1))[: len(groups)]
    pair, pairs = topology.of("pair", servers)
    held = [tuple(s for s in np.flatnonzero(pair == p).tolist() if children[s]) for p in range(len(pairs))]
    usable = [p for p, one in enumerate(held) if len(one) > 1]
    levels = Levels(
        Tree(server, group), rows.directions, real, np.flatnonzero(in_group >= 2), tuple(held[p] for p in usable)
    )
    names = {
        "ost": transfers.targets,
        "oss": servers,
        "link": servers,
        "group": groups,
        "pair": tuple(pairs[p] for p in usable),
    }
    return levels, (len(real) >= 2, len(levels.real_group) >= 2), names


def _alone(number: Ints, count: int) -> tuple[Ints, int]:
    """Unknown parents (-1) become parents of their own."""
    out, missing = number.copy(), np.flatnonzero(number < 0)
    out[missing] = count + np.arange(len(missing))
    return out, count + len(missing)


def _slow(one: Found, y: Floats, effects: Effects, levels: Levels, names: dict[str, tuple[str, ...]], rows: Rows) -> Slow:
    hypothesis = one.hypothesis
    per_direction = _by_direction(one, rows.directions)
    times = tuple(
        Effect(DIRECTIONS[d], *(float(np.exp(v)) for v in (e, e - _Z95 * s, e + _Z95 * s))) for d, e, s in per_direction
    )
    shown = _repetitions(one, effects, levels, rows)
    level = {"link": "oss", "pair": "oss"}.get(hypothesis.kind, hypothesis.kind)
    if hypothesis.kind == "pair":
        components = tuple(names["oss"][s] for s in levels.pairs[hypothesis.place])
    else:
        components = (names[hypothesis.kind][hypothesis.place],)
    also = (names["group"][levels.tree.group[hypothesis.place]],) if hypothesis.kind == "link" else ()
    if hypothesis.kind == "group":
        also = tuple(names["oss"][s] for s in np.flatnonzero(levels.tree.group == hypothesis.place).tolist() if s < len(names["oss"]))
    peers = {"ost": np.isfinite(y).any(axis=1).sum(), "group": len(levels.real_group)}.get(level, len(levels.real_server))
    rivals = tuple((FAULTS[r.kind].value, names[r.kind][r.place]) for r in one.rivals)
    return Slow(
        FAULTS[hypothesis.kind], level, components, times, one.chance, shown, len(effects.by_repetition),
        int(peers) - len(components), rivals, also,
    )


def _by_direction(one: Found, directions: tuple[int, ...]) -> list[tuple[int, float, float]]:
    """(direction, effect, standard error) of the directions that are slow."""
    variant, effect, error = one.hypothesis.variant, one.effect, one.error
    if variant == "write":
        return [(0, effect[0], error[0])]
    if variant == "read":
        return [(1, effect[0], error[0])]
    if len(effect) == 1:
        return [(d, effect[0], error[0]) for d in directions]
    return [(d, effect[i], error[i]) for i, d in enumerate(directions)]


def _repetitions(one: Found, effects: Effects, levels: Levels, rows: Rows) -> int:
    """Repetitions in which the component is slow by a third of the effect at least, in all its directions."""
    first, last = members(levels, one.hypothesis.kind, one.hypothesis.place)
    mask = np.stack([first, last], axis=1)[:, : len(rows.directions)] > 0
    shown = 0
    for table in effects.by_repetition:
        good = []
        for direction, effect, _ in _by_direction(one, rows.directions):
            k = rows.directions.index(direction)
            mine, others = table[mask[:, k], k], table[~mask[:, k], k]
            good.append(np.nanmedian(mine) - np.nanmedian(others) > effect / 3 if np.isfinite(mine).any() else False)
        shown += all(good)
    return shown


def _together(slow: list[Slow]) -> list[Slow]:
    """Targets that are slow alike, as one finding, where nothing says what they share."""
    left = sorted(slow, key=lambda one: ([effect.direction for effect in one.effects], one.effects[0].factor))
    merged: list[Slow] = []
    for one in left:
        last = merged[-1] if merged else None
        ways = tuple(effect.direction for effect in one.effects)
        if last is not None and ways == tuple(e.direction for e in last.effects) and one.effects[0].lower <= last.effects[0].upper:
            times = tuple(
                Effect(a.direction, float(np.sqrt(a.factor * b.factor)), min(a.lower, b.lower), max(a.upper, b.upper))
                for a, b in zip(last.effects, one.effects, strict=True)
            )
            merged[-1] = Slow(
                Fault.OST, "ost", (*last.components, *one.components), times, max(last.chance, one.chance),
                min(last.repetitions, one.repetitions), one.of_repetitions, one.peers,
            )
        else:
            merged.append(one)
    return merged


def _slow_host(one: clients.SlowHost, transfers: Transfers, rows: Rows) -> Slow:
    mine = rows.host == one.host
    repetitions = {int(p) // len(rows.directions) for p in np.unique(rows.phase[mine]).tolist()}
    times = tuple(
        Effect(DIRECTIONS[d], *(float(np.exp(v)) for v in (one.effect, one.effect - _Z95 * one.error, one.effect + _Z95 * one.error)))
        for d in rows.directions
    )
    peers = len(np.unique(rows.host[rows.host >= 0])) - 1
    return Slow(Fault.HOST, "host", (transfers.hosts[one.host],), times, one.p, len(repetitions), len(repetitions), peers)


def _slow_dip(one: dips_of.Dip, servers: tuple[str, ...], repetitions: int) -> Slow:
    times = (Effect(DIRECTIONS[one.direction], *(1 / max(one.factor, 1e-3),) * 3),)
    names = () if one.server < 0 else (servers[one.server],)
    level = "oss" if names else "all"
    return Slow(Fault.DIP, level, names, times, 0.0, 1, repetitions, max(len(servers) - 1, 0), span_s=one.since_s)


def _uneven(rows: Rows, explained: Covariates, kinds, transfers: Transfers) -> tuple[Uneven, ...]:  # type: ignore[no-untyped-def]
    out = []
    load = np.bincount(rows.target, rows.bytes, rows.targets)
    loss = 1 - load.mean() / load.max()
    if loss >= IMBALANCE_LOSS:
        factor = float(load.max() / load.mean())
        most = tuple(transfers.targets[t] for t in np.argsort(-load)[:3].tolist())
        out.append(Uneven(Cause.IMBALANCE, factor, factor, factor, float(loss), most, rows.targets))
    known = np.isfinite(explained.position)
    if known.any():
        k = int(np.argmax(np.where(known, explained.position, -np.inf)))
        slope, error = float(explained.position[k]), float(explained.position_se[k])
        if slope >= POSITION_LEAST and slope >= POSITION_Z * error:
            out.append(Uneven(Cause.POSITION, *(float(np.exp(v)) for v in (slope, slope - _Z95 * error, slope + _Z95 * error))))
    if kinds is not None:
        names = tuple(transfers.targets[t] for t in np.flatnonzero(kinds.slower).tolist())
        out.append(Uneven(Cause.GENERATIONS, kinds.factor, kinds.factor, kinds.factor, None, names, rows.targets))
    return tuple(out)


def _limits(transfers: Transfers, rows: Rows, levels: Levels, known: tuple[bool, bool]) -> list[Limit]:
    limits = []
    if not known[0]:
        limits.append(Limit.NO_SERVERS)
    elif not known[1]:
        limits.append(Limit.NO_GROUPS)
    elif len(levels.real_group) < 4:
        limits.append(Limit.FEW_GROUPS)
    if known[0] and not levels.pairs:
        limits.append(Limit.NO_PAIRS)
    if (rows.host < 0).any():
        limits.append(Limit.NO_HOSTS)
    elif len(np.unique(rows.host)) < clients.LEAST_HOSTS:
        limits.append(Limit.FEW_HOSTS)
    clients_of = np.unique(rows.target * (len(transfers.hosts) + 1) + rows.host + 1) // (len(transfers.hosts) + 1)
    if (np.bincount(clients_of)[np.unique(rows.target)] == 1).mean() > 0.5:
        limits.append(Limit.ONE_HOST_A_TARGET)
    if transfers.rates is None:
        limits.append(Limit.NO_RATES)
    if not np.isfinite(rows.position).any():
        limits.append(Limit.NO_POSITION)
    if len(rows.repetitions) == 1:
        limits.append(Limit.ONE_REPETITION)
    return limits


def _findings(transfers, rows, slow, uneven, limits, levels) -> Findings:  # type: ignore[no-untyped-def]
    return Findings(
        slow, uneven, tuple(limits), rows.targets,
        0 if levels is None else len(levels.real_server), 0 if levels is None else len(levels.real_group),
        len(np.unique(transfers.file)), len(transfers), len(rows.repetitions), tuple(DIRECTIONS[d] for d in rows.directions),
    )
