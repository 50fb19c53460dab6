"""Faults planted in systems of OSTs under several noises, and the components that `locate` names.

python -m benchmarks locate_faults [--seeds N] [--first N] [--osts 144] [--noise "5%/2%"] [--fault ost]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.truth.locate.plant import Truth, plant
from benchmarks.truth.locate.simulate import Noise, run
from benchmarks.truth.locate.systems import SIZES, ost, system
from benchmarks.truth.shares import shares, show
from iosonde.bench.locate.findings import Cause, ComponentFindings, Fault
from iosonde.bench.locate.locate import locate
from iosonde.model.transfers import Topology

NOISES: dict[str, Noise] = {
    "5%/2%": Noise(),
    "15%/3%, 3 runs": Noise(0.15, 0.03, 3),
    "15%/3%": Noise(0.15, 0.03),
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
    "rates": Noise(rates=True),
    "restless rates": Noise(0.10, 0.03, 2, rates=True, restless=0.10),
    "heavy-tailed OSTs": Noise(0.05, 0.02, 3, tails=True),
}
KINDS = (
    *("none", "ost", "oss", "SDR link", "DDR link", "router", "fail-over", "host"),
    *("dip", "oss dip", "ost+router", "ost+host"),
)
"""Faults of the table."""
LEAST_GROUPS = 3
"""Of so few router groups none can be told to be slow; without topology neither can a few percent of a group."""


def tellable(osts: int, noise: Noise, name: str) -> bool:
    """Whether the fault leaves a trace that is its own."""
    groups = system(osts).group[-1] + 1
    if "router" in name and (groups < LEAST_GROUPS or not noise.topology):
        return False
    if "dip" in name and noise.repetitions > 1 and not noise.rates:
        return False
    return noise.topology or name == "none" or (name != "oss dip" and osts > MANY)


MANY = 18
"""Of so few targets without servers half may be slow."""


@dataclass(frozen=True)
class Verdict:
    """``right``: exactly the planted components and kinds; ``false``: any that was not planted."""

    right: bool
    false: bool
    found: ComponentFindings


def judge(osts: int, noise: Noise, name: str, seed: int) -> Verdict:
    """One run. Without topology the slow targets count."""
    rng = np.random.default_rng([seed, osts, KINDS.index(name)])
    machine = system(osts)
    truth = plant(machine, name, rng, noise.files_per_ost)
    topology = machine.topology() if noise.topology else Topology()
    found = locate(run(machine, noise, truth.fault, rng), topology)
    if not noise.topology:
        return _by_targets(truth, found)
    named = {(one.fault, frozenset(one.components)) for one in found.slow}
    return Verdict(named == truth.expected, bool(named - truth.expected), found)


def _by_targets(truth: Truth, found: ComponentFindings) -> Verdict:
    named = {c for one in found.slow if one.level == "ost" for c in one.components}
    slow = {ost(int(o)) for o in np.flatnonzero(truth.fault.ost.min(axis=0) < 1)}
    hosts = {c for one in found.slow if one.level == "host" for c in one.components}
    wanted = {c for kind, names in truth.expected if kind is Fault.HOST for c in names}
    missed = len(slow - named)
    return Verdict(
        hosts == wanted and named <= slow and missed <= 0.2 * len(slow),
        bool(named - slow or hosts - wanted),
        found,
    )


def generations_seen(found: ComponentFindings) -> bool:
    """Whether two generations were named."""
    return any(one.cause is Cause.GENERATIONS for one in found.uneven)


def main(
    seeds: int = 200,
    first: int = 0,
    osts: Sequence[int] = (),
    noise: Sequence[str] = (),
    fault: Sequence[str] = (),
) -> None:
    """A row a noise and size; a column a fault: right component and kind / any false finding."""
    faults = fault or KINDS
    print(f"{seeds} seeds from {first}; right component and kind / runs with a false finding\n")
    show(
        ("noise", "OSTs", *faults),
        (
            (name, n, *(_cell(n, name, one, seeds, first) for one in faults))
            for name in noise or NOISES
            for n in osts or SIZES
        ),
    )


def _cell(osts: int, noise: str, fault: str, seeds: int, first: int) -> str:
    if not tellable(osts, NOISES[noise], fault):
        return "-"

    def verdict(seed: int) -> tuple[bool, bool]:
        found = judge(osts, NOISES[noise], fault, seed)
        return found.right, found.false

    right, false = shares(verdict, seeds, first)
    return f"{right:.2f} / {false:.2f}"
