"""One slow OST of four to seven without topology, and the one that `locate` names.

python -m benchmarks locate_few [--seeds 100] [--first 0]
"""

from __future__ import annotations

import numpy as np

from benchmarks.truth.locate.simulate import Fault, Noise, healthy, run, with_ost
from benchmarks.truth.locate.systems import System, ost
from benchmarks.truth.shares import shares, show
from iosonde.bench.locate.findings import ComponentFindings
from iosonde.bench.locate.locate import locate
from iosonde.model.transfers import Topology

SIZES = (4, 5, 7)
NOISES = {
    "5%/2%, 3 runs": Noise(0.05, 0.02, 3, 2),
    "30%/5%, 3 runs": Noise(0.3, 0.05, 3, 2),
    "15%/15%, 3 runs": Noise(0.15, 0.15, 3, 4),
    "stragglers, 3 runs": Noise(0.1, 0.05, 3, 2, stragglers=0.05),
    "5%/30%, 3 runs": Noise(0.05, 0.3, 3, 4),
    "heavy tails, 10%/10%": Noise(0.1, 0.1, 1, 4, tails=True),
}
SLOW = 0.4
"""Share of its rate that the planted target has left."""


def few(osts: int) -> System:
    """Targets of a server each."""
    return System(np.arange(osts), np.zeros(osts, dtype=np.int64), np.arange(osts) // 2)


def main(seeds: int = 100, first: int = 0) -> None:
    """A row a noise; a column a size: the slow one named / healthy runs with a finding."""
    show(
        ("files / OSTs", *(f"{osts} OSTs" for osts in SIZES)),
        (
            (name, *(_cell(osts, noise, seeds, first) for osts in SIZES))
            for name, noise in NOISES.items()
        ),
    )


def _cell(osts: int, noise: Noise, seeds: int, first: int) -> str:
    here = few(osts)

    def verdict(seed: int) -> tuple[bool, bool]:
        rng = np.random.default_rng([seed, osts])
        false = bool(_found(here, noise, healthy(here), rng).slow)
        slow = _found(here, noise, with_ost(healthy(here), np.array([1]), SLOW), rng).slow
        return [one.components for one in slow] == [(ost(1),)], false

    right, false = shares(verdict, seeds, first)
    return f"{right:.2f} / {false:.2f}"


def _found(here: System, noise: Noise, fault: Fault, rng: np.random.Generator) -> ComponentFindings:
    return locate(run(here, noise, fault, rng), Topology())
