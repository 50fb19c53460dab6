"""Slow components as findings: names, factors with intervals, repetitions that show them, rivals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.findings import Fault, Slow, TimeFactor
from iosonde.bench.locate.hypotheses import members
from iosonde.model.transfers import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.bench.locate.cells import Rows
    from iosonde.bench.locate.clients import SlowHost
    from iosonde.bench.locate.dips import Dip
    from iosonde.bench.locate.effects import Effects
    from iosonde.bench.locate.generations import Generations
    from iosonde.bench.locate.search import Found
    from iosonde.bench.locate.tree import Named
    from iosonde.model.arrays import Flags, Floats
    from iosonde.model.transfers import Transfers

FAULTS = {
    "ost": Fault.OST,
    "oss": Fault.SERVER,
    "group": Fault.ROUTER,
    "pair": Fault.FAILOVER,
    "link": Fault.LINK,
}
"""Fault of each kind of hypothesis."""
LEAST_SIBLINGS = 3
"""Least number of other targets of a server that show what is usual on it."""
EQUALLY = 1.25
"""Largest ratio of the factors of equally slow targets."""
_Z95 = 1.96


def slow_component(
    one: Found,
    effects: Effects,
    named: Named,
    kinds: Generations | None,
    directions: tuple[int, ...],
) -> Slow:
    """A component of the topology. ``kinds``: of its targets, if there are two."""
    kind, place = one.hypothesis.kind, one.hypothesis.place
    levels, names = named.levels, named.names
    components: tuple[str, ...] = (names[kind][place],)
    also: tuple[str, ...] = ()
    if kind == "pair":
        components = tuple(names["oss"][server] for server in levels.pairs[place])
    if kind == "link":
        also = (names["group"][levels.tree.group[place]],)
    if kind == "group":
        inside = np.flatnonzero(levels.tree.group == place).tolist()
        also = tuple(names["oss"][server] for server in inside if server < len(names["oss"]))
    level = {"link": "oss", "pair": "oss"}.get(kind, kind)
    alike = {
        "ost": int(np.isfinite(effects.y).any(axis=1).sum()),
        "oss": len(levels.real_server),
        "group": len(levels.real_group),
    }
    return Slow(
        fault=FAULTS[kind],
        level=level,
        components=components,
        effects=tuple(effect(d, e, s) for d, e, s in by_direction(one, directions)),
        chance=one.chance,
        repetitions=_repetitions(one, effects, named, kinds, directions),
        of_repetitions=len(effects.by_repetition),
        peers=alike[level] - len(components),
        rivals=tuple(
            dict.fromkeys((FAULTS[r.kind].value, names[r.kind][r.place]) for r in one.rivals)
        ),
        also=also,
    )


def effect(direction: int, log: float, error: float) -> TimeFactor:
    """A factor with its 95% interval from a logarithm and its standard error."""
    factor, lower, upper = np.exp([log, log - _Z95 * error, log + _Z95 * error]).tolist()
    return TimeFactor(DIRECTIONS[direction], factor, lower, upper)


def by_direction(one: Found, directions: tuple[int, ...]) -> list[tuple[int, float, float]]:
    """(direction, effect, standard error) of the directions that are slow."""
    variant, log, error = one.hypothesis.variant, one.effect, one.error
    if variant in DIRECTIONS:
        return [(DIRECTIONS.index(variant), log[0], error[0])]
    if len(log) == 1:
        return [(d, log[0], error[0]) for d in directions]
    return [(d, log[i], error[i]) for i, d in enumerate(directions)]


def _repetitions(
    one: Found,
    effects: Effects,
    named: Named,
    kinds: Generations | None,
    directions: tuple[int, ...],
) -> int:
    """Repetitions in which the component is slow by at least a third of the effect, over all its directions."""
    first, last = members(named.levels, one.hypothesis.kind, one.hypothesis.place)
    mask = np.stack([first, last], axis=1)[:, : len(directions)] > 0
    alike = _alike(one, named, kinds)
    usual = [_above(effects.y[:, k], mask[:, k], alike) for k in range(len(directions))]
    shown = 0
    for table in effects.by_repetition:
        shares = []
        for direction, log, _ in by_direction(one, directions):
            k = directions.index(direction)
            mine, others = table[mask[:, k], k], table[~mask[:, k], k]
            if np.isfinite(mine).any():
                away = float(np.nanmedian(mine) - np.nanmedian(others)) - usual[k]
                shares.append(away / log)
        shown += bool(shares) and float(np.mean(shares)) > 1 / 3
    return shown


def _alike(one: Found, named: Named, kinds: Generations | None) -> Flags:
    """(targets,) Targets whose usual slowness a component has: those of its server, if known, else of its kind."""
    server = named.levels.tree.server
    if one.hypothesis.kind == "ost" and named.known[0]:
        siblings: Flags = server == server[one.hypothesis.place]
        if np.count_nonzero(siblings) > LEAST_SIBLINGS:
            return siblings
    if kinds is None:
        return np.ones(len(server), dtype=np.bool_)
    mine = one.hypothesis.columns.any(axis=(1, 2))
    slower = 2 * np.count_nonzero(kinds.slower[mine]) > np.count_nonzero(mine)
    return kinds.slower if slower else ~kinds.slower


def _above(y: Floats, mine: Flags, alike: Flags) -> float:
    """How far others that are ``alike`` lie above all others; 0 without any."""
    some, every = y[alike & ~mine], y[~mine]
    if not np.isfinite(some).any():
        return 0.0
    return float(np.nanmedian(some) - np.nanmedian(every))


def together(slow: Sequence[Slow]) -> list[Slow]:
    """Merge equally slow targets into one finding if their common parent is unknown.

    Factors of a finding differ by ``EQUALLY`` at most, and no interval lies above another's.
    """
    order = sorted(slow, key=lambda one: (_ways(one), one.effects[0].factor))
    merged: list[Slow] = []
    least = highest = 0.0
    for one in order:
        last, first = merged[-1] if merged else None, one.effects[0]
        if (
            last is None
            or _ways(one) != _ways(last)
            or first.factor > EQUALLY * least
            or first.lower > highest
        ):
            merged.append(one)
            least, highest = first.factor, first.upper
            continue
        highest = min(highest, first.upper)
        times = tuple(
            TimeFactor(
                a.direction,
                float(np.sqrt(a.factor * b.factor)),
                min(a.lower, b.lower),
                max(a.upper, b.upper),
            )
            for a, b in zip(last.effects, one.effects, strict=True)
        )
        merged[-1] = replace(
            last,
            components=tuple(sorted((*last.components, *one.components))),
            effects=times,
            chance=max(last.chance, one.chance),
            repetitions=min(last.repetitions, one.repetitions),
        )
    return [replace(one, peers=one.peers + 1 - len(one.components)) for one in merged]


def _ways(one: Slow) -> tuple[str, ...]:
    return tuple(effect.direction for effect in one.effects)


def slow_client(one: SlowHost, transfers: Transfers, rows: Rows) -> Slow:
    """A client host."""
    phases = np.unique(rows.phase[rows.host == one.host]) // len(rows.directions)
    repetitions = len(np.unique(phases))
    times = tuple(effect(direction, one.effect, one.error) for direction in rows.directions)
    peers = len(np.unique(rows.host[rows.host >= 0])) - 1
    name = transfers.hosts[one.host]
    return Slow(Fault.HOST, "host", (name,), times, one.p, repetitions, repetitions, peers)


def slow_while(one: Dip, servers: tuple[str, ...], repetitions: int) -> Slow:
    """Finding of a dip, of a server or of all: its factor has no interval."""
    factor = 1 / max(one.factor, 1e-3)
    times = (TimeFactor(DIRECTIONS[one.direction], factor, factor, factor),)
    names = () if one.server < 0 else (servers[one.server],)
    return Slow(
        fault=Fault.DIP,
        level="oss" if names else "all",
        components=names,
        effects=times,
        chance=one.chance,
        repetitions=1,
        of_repetitions=repetitions,
        peers=max(len(servers) - 1, 0),
        span_s=one.since_s,
    )
