"""The sentences of a fleet: is it the node, or the storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from iosonde.host.clocks import ClockOffset
from iosonde.model.units import format_factor, format_seconds
from iosonde.weather.fleet.matrix import FleetMatrix
from iosonde.weather.fleet.shapes import ENOUGH_HOSTS, FleetPart, FleetShape

_STUCK = 20.0
_NAMES = 2
"""So many names a sentence has; more are counted."""


def say(part: FleetPart, matrix: FleetMatrix) -> str:
    """The verdict in one line, without a full stop, at most 25 words."""
    return _SAY[part.shape](part, matrix)


def _nothing(_: FleetPart, matrix: FleetMatrix) -> str:
    seen = ~np.isnan(matrix.slowdown)
    hosts, targets = int(seen.any(axis=1).sum()), int(seen.any(axis=0).sum())
    if not hosts:
        return "nothing was judged: no host has a baseline or enough operations"
    dark = len(matrix.hosts) * len(matrix.targets) - int(seen.sum())
    missing = f"; {dark} of {seen.size} pairs not judged" if dark else ""
    return f"no slow part: {_many(hosts, 'host')}, {_many(targets, 'target')}{missing}"


def _cell(part: FleetPart, matrix: FleetMatrix) -> str:
    host, target = _one(part.hosts, matrix.hosts), _one(part.targets, matrix.targets)
    return (
        f"only {host} sees {target} slow ({_factor(part)}): its path to {target}, not the storage"
    )


def _host(part: FleetPart, matrix: FleetMatrix) -> str:
    host = _one(part.hosts, matrix.hosts)
    others = len(matrix.hosts) - 1
    return (
        f"{host} is slow on all {len(matrix.targets)} targets ({_factor(part)}), "
        f"{_many(others, 'other host')} {_are(others)} not: this node, not the storage"
    )


def _hosts(part: FleetPart, matrix: FleetMatrix) -> str:
    return (
        f"{_of(part, matrix)} are slow on all {len(matrix.targets)} targets ({_factor(part)}): "
        "these nodes or their network, not the storage"
    )


def _target(part: FleetPart, matrix: FleetMatrix) -> str:
    hosts = _many(len(part.hosts), "host")
    return f"{_listed(part.targets, matrix.targets)} is slow on {hosts} ({_factor(part)}): the storage, not one node"


def _targets(part: FleetPart, matrix: FleetMatrix) -> str:
    hosts = _many(len(part.hosts), "host")
    return (
        f"{_listed(part.targets, matrix.targets)} are slow on {hosts} ({_factor(part)}): "
        "the storage or a server that they share"
    )


def _block(part: FleetPart, matrix: FleetMatrix) -> str:
    targets = _listed(part.targets, matrix.targets)
    if len(part.hosts) == 1:
        host = _one(part.hosts, matrix.hosts)
        return f"only {host} sees {targets} slow ({_factor(part)}): its path, not the storage"
    return (
        f"{_of(part, matrix)} see {targets} slow ({_factor(part)}): what these nodes share, "
        "such as a rack or network"
    )


def _everything(part: FleetPart, matrix: FleetMatrix) -> str:
    hosts, targets = len(matrix.hosts), len(matrix.targets)
    return (
        f"all {targets} targets are slow on {_many(hosts, 'host')} ({_factor(part)}): "
        "what all share, such as the network"
    )


def _undecided(part: FleetPart, _: FleetMatrix) -> str:
    return f"something is slow ({_factor(part)}), but the hosts do not tell node from storage yet"


def _few(part: FleetPart, matrix: FleetMatrix) -> str:
    hosts, targets = (
        _listed(part.hosts, matrix.hosts),
        _listed(part.targets, matrix.targets),
    )
    return f"{targets} slow on {hosts}: {ENOUGH_HOSTS} hosts are needed to tell node from storage"


def seen(age_ns: int) -> str:
    """What a verdict from shipped copies says of their age, the oldest's."""
    return f"states are up to {format_seconds(age_ns)} old"


def clock(offset: ClockOffset) -> str:
    """What is said of a host whose clock is wrong."""
    way = "ahead of" if offset.offset_ns > 0 else "behind"
    return (
        f"the clock of {offset.host} is {format_seconds(abs(offset.offset_ns))} {way} the {offset.against}'s, "
        f"give or take {format_seconds(offset.error_ns)}"
    )


_SAY: dict[FleetShape, Callable[[FleetPart, FleetMatrix], str]] = {
    FleetShape.NOTHING: _nothing,
    FleetShape.CELL: _cell,
    FleetShape.HOST: _host,
    FleetShape.HOSTS: _hosts,
    FleetShape.TARGET: _target,
    FleetShape.TARGETS: _targets,
    FleetShape.BLOCK: _block,
    FleetShape.EVERYTHING: _everything,
    FleetShape.UNDECIDED: _undecided,
    FleetShape.FEW: _few,
}


def _factor(part: FleetPart) -> str:
    """``3.1x, 2.8-3.4``; what hangs has no number."""
    if part.factor is None or part.factor >= _STUCK:
        return "it hangs or fails"
    if part.lower is None or part.upper is None or part.lower == part.upper:
        return f"{format_factor(part.factor)}x"
    return f"{format_factor(part.factor)}x, {part.lower:.1f}-{part.upper:.1f}"


def _of(part: FleetPart, matrix: FleetMatrix) -> str:
    return f"{len(part.hosts)} of {len(matrix.hosts)} hosts"


def _one(places: Sequence[int], names: Sequence[str]) -> str:
    return names[places[0]]


def _listed(places: Sequence[int], names: Sequence[str]) -> str:
    if len(places) > _NAMES:
        return f"{len(places)} of {len(names)} targets"
    return " and ".join(names[place] for place in places)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
