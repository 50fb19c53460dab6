"""Each fault planted in each system under each noise, and whether ``locate`` names it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.locate_truth.simulate import Fault, Noise, healthy, run, with_ost
from benchmarks.locate_truth.systems import System, ost, server, system
from iosonde.bench.locate import findings
from iosonde.bench.locate.findings import Cause, Findings
from iosonde.bench.locate.locate import locate
from iosonde.model.transfers import Topology

NOISES: dict[str, Noise] = {
    "5 %/2 %": Noise(),
    "15 %/3 %, 3 runs": Noise(0.15, 0.03, 3),
    "15 %/3 %": Noise(0.15, 0.03),
    "stragglers": Noise(0.10, 0.02, 3, stragglers=0.03),
    "load of others": Noise(0.05, 0.02, 3, load=True),
    "load of others, 5 runs": Noise(0.05, 0.02, 5, load=True),
    "two generations": Noise(0.05, 0.02, 2, old_share=0.4),
    "2 files an OST": Noise(0.05, 0.02, 3, files_per_ost=2),
    "disk position": Noise(slope=0.25),
    "position unknown": Noise(slope=0.25, position_known=False),
    "no topology": Noise(topology=False),
    "unbalanced": Noise(balanced=False),
    "unbalanced, clients limit": Noise(balanced=False, client_limited=True),
    "heavy-tailed OSTs": Noise(0.05, 0.02, 3, tails=True),
}
FAULTS = (
    "none",
    "ost",
    "oss",
    "SDR link",
    "DDR link",
    "router",
    "fail-over",
    "host",
    "dip",
    "oss dip",
    "ost+router",
    "ost+host",
)
QDR, DDR, SDR = 2.7, 2.0, 1.0
"""GB/s of an OSS and of a link."""


@dataclass(frozen=True)
class Truth:
    """The planted fault and what it should be called: (kind, components)."""

    fault: Fault
    expected: frozenset[tuple[str, frozenset[str]]]


def plant(machine: System, name: str, rng: np.random.Generator, files_per_ost: int = 8) -> Truth:
    """One fault, or two joined by ``+``."""
    fault, expected = healthy(machine), set()
    for part in name.split("+"):
        fault, names = _one(machine, part, fault, rng, files_per_ost)
        expected |= names
    return Truth(fault, frozenset(expected))


def _one(machine: System, name: str, fault: Fault, rng: np.random.Generator, files: int):
    size = np.bincount(machine.group)
    chosen = int(rng.choice(np.flatnonzero(size[machine.group] == 3)))
    mine = np.flatnonzero(machine.oss == chosen)
    group = np.flatnonzero(machine.groups() == machine.group[chosen])
    factor = float(rng.uniform(0.5, 0.85))
    kind = findings.Fault
    match name:
        case "none":
            return fault, set()
        case "ost":
            one = int(rng.integers(machine.osts))
            return with_ost(fault, one, factor), {(kind.OST, frozenset([ost(one)]))}
        case "oss":
            return with_ost(fault, mine, factor), {(kind.SERVER, frozenset([server(chosen)]))}
        case "SDR link" | "DDR link":
            factor = (SDR if name == "SDR link" else DDR) / QDR
            fault = with_ost(with_ost(fault, mine, factor, (1,)), group, factor, (0,))
            return fault, {(kind.LINK, frozenset([server(chosen)]))}
        case "router":
            return with_ost(fault, group, 0.93), {
                (kind.ROUTER, frozenset([f"group{machine.group[chosen]:02d}"]))
            }
        case "fail-over":
            both = np.flatnonzero(machine.pair == machine.pair[chosen])
            held = np.flatnonzero(np.isin(machine.oss, both))
            return with_ost(fault, held, 0.5), {
                (kind.FAILOVER, frozenset(server(int(s)) for s in both))
            }
        case "host":
            host = int(rng.integers(machine.osts * files // 4))
            return replace(fault, host={host: factor}), {(kind.HOST, frozenset([f"nid{host:05d}"]))}
        case "dip":
            return replace(
                fault, dip=(-1, float(rng.uniform(5, 25)), float(rng.uniform(3, 6)), 0.3)
            ), {(kind.DIP, frozenset())}
        case "oss dip":
            dip = (chosen, float(rng.uniform(5, 25)), float(rng.uniform(3, 6)), 0.3)
            return replace(fault, dip=dip), {(kind.DIP, frozenset([server(chosen)]))}
    raise ValueError(name)


@dataclass(frozen=True)
class Verdict:
    """``right``: exactly the planted components and kinds; ``false``: any that was not planted; ``generations`` seen."""

    right: bool
    false: bool
    found: Findings


def judge(osts: int, noise: Noise, name: str, seed: int) -> Verdict:
    """One run. Without topology the slow targets count."""
    rng = np.random.default_rng([seed, osts, FAULTS.index(name)])
    machine = system(osts)
    truth = plant(machine, name, rng, noise.files_per_ost)
    topology = machine.topology() if noise.topology else Topology()
    found = locate(run(machine, noise, truth.fault, rng), topology)
    if not noise.topology:
        return _by_targets(truth, machine, found)
    named = {(one.fault, frozenset(one.components)) for one in found.slow}
    return Verdict(named == truth.expected, bool(named - truth.expected), found)


def _by_targets(truth: Truth, machine: System, found: Findings) -> Verdict:
    named = {c for one in found.slow if one.level == "ost" for c in one.components}
    slow = {ost(int(o)) for o in np.flatnonzero(truth.fault.ost.min(axis=0) < 1)}
    hosts = {c for one in found.slow if one.level == "host" for c in one.components}
    wanted = {c for kind, names in truth.expected if kind is findings.Fault.HOST for c in names}
    missed = len(slow - named)
    return Verdict(
        hosts == wanted and named <= slow and missed <= 0.2 * len(slow),
        bool(named - slow or hosts - wanted),
        found,
    )


def generations_seen(found: Findings) -> bool:
    """Whether two generations were named."""
    return any(one.cause is Cause.GENERATIONS for one in found.uneven)
