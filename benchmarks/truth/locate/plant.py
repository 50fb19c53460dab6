"""One fault, or two, planted in a system, and what they should be called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.truth.locate.simulate import Fault, healthy, with_ost
from benchmarks.truth.locate.systems import System, ost, server
from iosonde.bench.locate.findings import Fault as Kind

QDR, DDR, SDR = 2.7, 2.0, 1.0
"""GB/s of a server and of a link."""
ROUTER = 0.93
Expected = frozenset[tuple[Kind, frozenset[str]]]


@dataclass(frozen=True)
class Truth:
    """The planted fault and what it should be called: (kind, components)."""

    fault: Fault
    expected: Expected


@dataclass(frozen=True)
class Site:
    """A server in a router group of three, drawn for a fault, and a factor."""

    machine: System
    chosen: int
    factor: float
    files_per_ost: int
    rng: np.random.Generator

    def targets(self) -> np.ndarray:
        """Those of the server."""
        return np.flatnonzero(self.machine.oss == self.chosen)

    def group(self) -> np.ndarray:
        """Those of its router group."""
        return np.flatnonzero(self.machine.groups() == self.machine.group[self.chosen])


def plant(machine: System, name: str, rng: np.random.Generator, files_per_ost: int = 8) -> Truth:
    """One fault of ``FAULTS``, or two joined by ``+``."""
    fault, expected = healthy(machine), set()
    three = np.flatnonzero(np.bincount(machine.group)[machine.group] == 3)
    for part in name.split("+"):
        site = Site(
            machine, int(rng.choice(three)), float(rng.uniform(0.5, 0.85)), files_per_ost, rng
        )
        if part != "none":
            fault, kind, names = FAULTS[part](site, fault)
            expected.add((kind, frozenset(names)))
    return Truth(fault, frozenset(expected))


Planted = tuple[Fault, Kind, set[str]]


def _ost(site: Site, fault: Fault) -> Planted:
    one = np.array([site.rng.integers(site.machine.osts)])
    return with_ost(fault, one, site.factor), Kind.OST, {ost(int(one[0]))}


def _oss(site: Site, fault: Fault) -> Planted:
    return with_ost(fault, site.targets(), site.factor), Kind.SERVER, {server(site.chosen)}


def _link(rate: float) -> Callable[[Site, Fault], Planted]:
    def planted(site: Site, fault: Fault) -> Planted:
        fault = with_ost(fault, site.targets(), rate / QDR, (1,))
        fault = with_ost(fault, site.group(), rate / QDR, (0,))
        return fault, Kind.LINK, {server(site.chosen)}

    return planted


def _router(site: Site, fault: Fault) -> Planted:
    name = f"group{site.machine.group[site.chosen]:02d}"
    return with_ost(fault, site.group(), ROUTER), Kind.ROUTER, {name}


def _failover(site: Site, fault: Fault) -> Planted:
    both = np.flatnonzero(site.machine.pair == site.machine.pair[site.chosen])
    targets = np.flatnonzero(np.isin(site.machine.oss, both))
    return with_ost(fault, targets, 0.5), Kind.FAILOVER, {server(int(s)) for s in both}


def _host(site: Site, fault: Fault) -> Planted:
    host = int(site.rng.integers(site.machine.osts * site.files_per_ost // 4))
    return replace(fault, host={host: site.factor}), Kind.HOST, {f"nid{host:05d}"}


def _dip(everywhere: bool) -> Callable[[Site, Fault], Planted]:
    def planted(site: Site, fault: Fault) -> Planted:
        begin, length = float(site.rng.uniform(5, 25)), float(site.rng.uniform(3, 6))
        dip = (-1 if everywhere else site.chosen, begin, length, 0.3)
        return replace(fault, dip=dip), Kind.DIP, set() if everywhere else {server(site.chosen)}

    return planted


FAULTS: dict[str, Callable[[Site, Fault], Planted]] = {
    "ost": _ost,
    "oss": _oss,
    "SDR link": _link(SDR),
    "DDR link": _link(DDR),
    "router": _router,
    "fail-over": _failover,
    "host": _host,
    "dip": _dip(True),
    "oss dip": _dip(False),
}
