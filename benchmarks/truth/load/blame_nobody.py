"""Slow events without a single culprit.

    python -m benchmarks blame_nobody [--seeds 100]

100 jobs, 26 h in slots of five minutes. Right is an answer that names no single job, neither "caused most of it" nor
"probably involved".

fault    a fault of the storage, unrelated to jobs
herd     14 jobs of one program begin together and load the storage alike, each with pauses of its own
crowd    20 jobs come and go at times of their own; the largest causes less than 15% of the event
beat     20 jobs write checkpoints in phase, and these make the storage slow
readers  8 endless readers, which the storage serves alike, beside one more that begins with the event
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.truth.load.blame_events import SLOTS, Event, longest, make, wander
from benchmarks.truth.shares import shares, show
from iosonde.jobs.attribution.culprits import Confidence, culprits

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

KINDS = ("fault", "herd", "crowd", "beat", "readers")
JOBS = 100
_MOST = 0.15


def nobody(kind: str, seed: int) -> Event:
    """One event; ``truth`` is empty: no single job made it."""
    if kind == "fault":
        return make(JOBS, 0, "add", seed)._replace(truth=())
    rng = np.random.default_rng(20_000 + seed)
    while True:
        loads = make(JOBS, 0, "add", int(rng.integers(1 << 30))).loads
        culprits_of = {"herd": _herd, "crowd": _crowd, "beat": _beat, "readers": _readers}[kind]
        caused = culprits_of(loads, rng)
        total = caused.sum(axis=0)
        each = rng.uniform(3, 15) / total[total > 0].mean()
        # An operation of the others costs as much as one of these.
        loads[len(caused) :] *= 0.15 / each / max(loads[len(caused) :].sum(axis=0).mean(), 1e-9)
        excess = each * (total + loads[len(caused) :].sum(axis=0))
        slow = (1 + excess) * np.exp(wander(rng) + 0.05 * rng.standard_normal(SLOTS))
        event = longest(slow >= 2)
        share = caused[:, event].sum(axis=1) / max(float(total[event].sum()), 1e-9)
        if event.sum() >= 3 and share.max() < _MOST:
            loads[: len(caused)] = caused
            order = rng.permutation(JOBS)
            return Event(loads[order], slow, event, ())


def _noise(length: int, rng: np.random.Generator) -> Floats:
    return np.exp(0.3 * rng.standard_normal(length))


def _herd(_: Floats, rng: np.random.Generator) -> Floats:
    length = int(rng.integers(12, 73))
    begin = int(rng.integers(SLOTS // 3, SLOTS - length - 40))
    caused = np.zeros((14, SLOTS))
    for one in caused:
        one[begin : begin + length] = _noise(length, rng) * (rng.random(length) > 0.2)
    return caused


def _crowd(_: Floats, rng: np.random.Generator) -> Floats:
    caused = np.zeros((20, SLOTS))
    for one in caused:
        length = int(rng.integers(18, 60))
        begin = int(np.clip(rng.normal(SLOTS / 2, 20) - length / 2, 0, SLOTS - length))
        one[begin : begin + length] = _noise(length, rng) * (rng.random(length) > 0.3)
    return caused


def _beat(_: Floats, rng: np.random.Generator) -> Floats:
    period = int(rng.integers(8, 19))
    beat = (np.arange(SLOTS) % period < 2).astype(np.float64)
    return beat * np.array([_noise(SLOTS, rng) for _ in range(20)])


def _readers(_: Floats, rng: np.random.Generator) -> Floats:
    caused = np.array([_noise(SLOTS, rng) for _ in range(8)])
    begin = int(rng.integers(SLOTS // 3, SLOTS // 2))
    caused[:, :begin] *= 0.1
    caused[:, begin + int(rng.integers(12, 60)) :] *= 0.1
    return caused


def names_nobody(kind: str, seed: int) -> bool:
    """Whether the answer names no single job."""
    made = nobody(kind, seed)
    found = culprits(made.loads, made.slowdown, made.event).suspects
    return all(one.confidence is Confidence.ACTIVE for one in found)


def main(seeds: int = 100, first: int = 5000) -> None:
    """Print a row a kind of event."""
    print(f"{JOBS} jobs, {seeds} seeds\n")
    show(
        ("event", "names no single job"),
        ((kind, *shares(partial(names_nobody, kind), seeds, first)) for kind in KINDS),
    )
