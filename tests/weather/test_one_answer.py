"""The same stretch of a store gives the same factor, begin and end behind every door.

Stores are generated: a probe on simulated clocks writes spool, states and windows, and the sealer seals a part of them.
Faults are 2.5 to 50 times, of a minute to hours, of one or several operations, in the first hour and after.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pytest

from iosonde.model.ops import op_word
from iosonde.model.units import format_slowdown
from iosonde.weather.seal import seal
from tests.kit.doors import TARGET, Doors, Told
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.stores import MINUTE, SECOND, simulate, target

OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
_QUIET_S = 420
"""Before the first fault: five windows are learnt from."""


class Fault(NamedTuple):
    """``factor`` times slower for ``length_s`` from ``at_s`` on."""

    op: str
    at_s: int
    length_s: int
    factor: float

    @property
    def config(self) -> dict:
        times = {"after": f"{self.at_s}s", "for": f"{self.length_s}s"}
        return {"op": self.op, **times, "multiply": self.factor}


def generated(seed: int) -> tuple[int, list[Fault]]:
    """Length of a store in s, and its faults."""
    random = np.random.default_rng(seed)
    young = seed % 2 == 0
    at = int(random.integers(_QUIET_S, 1500) if young else random.integers(4000, 5000))
    length = int(np.exp(random.uniform(np.log(60), np.log(1500 if young else 5000))))
    factor = float(np.round(np.exp(random.uniform(np.log(2.5), np.log(50))), 2))
    ops = random.choice(OPS, int(random.integers(1, 4)), replace=False)
    faults = [Fault(str(op), at, length, factor) for op in ops]
    goes_on = seed % 3 == 0
    return at + (length - 20 if goes_on and length > 200 else length + 600), faults


@pytest.fixture(params=range(6))
def store(request, tmp_path):
    """A store that ends now, and what is true of it."""
    seconds, faults = generated(request.param)
    end_ns = time.time_ns() // SECOND * SECOND
    named = target(TARGET, [fault.config for fault in faults])
    simulate(tmp_path, seconds * SECOND, named, end_ns=end_ns)
    if request.param % 2:
        seal(tmp_path)
    return tmp_path, end_ns - seconds * SECOND, end_ns, faults


def test_every_door_says_the_same(store, capsys):
    root, start_ns, end_ns, faults = store
    doors = Doors(root, capsys)
    every = doors.all()
    told = every["events"]
    for door, said in every.items():
        assert said == told, door
    holds_to_truth(told, faults, start_ns, end_ns)
    # The range cuts what is shown: never a begin, an end or a factor.
    middle = (told[0].start_ns + told[0].end_ns) // 2 // SECOND
    later = doors.all(since=f"{np.datetime64(middle, 's')}Z")
    inside = [one for one in told if one.end_ns > middle * SECOND]
    for door, said in later.items():
        assert said == inside, f"{door} since the middle"
    assert all(one.goes_on != "still" for one in told), "its probe was stopped"
    shaded = doors.figure(start_ns // SECOND * SECOND, end_ns)
    for op in {one.op for one in told}:
        mine = [one for one in told if one.op == op]
        stretches, note = shaded[op_word(op)]
        assert stretches == [(one.start_ns / 1e9, one.end_ns / 1e9) for one in mine]
        worst = max(mine, key=lambda one: one.factor)
        assert format_slowdown(worst.factor, worst.lower, worst.upper) in note


def holds_to_truth(told: list[Told], faults: list[Fault], start_ns: int, end_ns: int) -> None:
    assert {one.op for one in told} == {fault.op for fault in faults}
    for one in told:
        (fault,) = [fault for fault in faults if fault.op == one.op]
        begin = start_ns + fault.at_s * SECOND
        end = min(end_ns, begin + fault.length_s * SECOND)
        assert abs(one.start_ns - begin) <= 5 * SECOND
        assert abs(one.end_ns - end) <= 10 * SECOND
        assert one.factor == pytest.approx(fault.factor, rel=0.25)
        assert one.lower <= one.factor <= one.upper


def test_the_live_probe_says_what_the_store_says(store, capsys):
    """Begin within a window; factor of the last window and of the stretch within each other's intervals."""
    root, _, end_ns, faults = store
    doors = Doors(root, capsys)
    live = doors.live(end_ns)
    slow = [op for op in live.ops if op.state == "slow"]
    told = {one.op: one for one in doors.all()["events"] if one.goes_on == "still"}
    if not told:
        assert not slow, "a stretch that is over is not slow now"
        return
    assert {op.op for op in slow} == set(told) == {fault.op for fault in faults}
    for op in slow:
        stretch = told[op.op]
        assert abs(op.since_ns - stretch.start_ns) <= MINUTE
        assert op.lower <= stretch.upper
        assert stretch.lower <= op.upper


NOISE = {
    "heavy tail": lambda random, n: (
        np.exp(0.3 * random.normal(size=n))
        * np.where(random.random(n) < 0.03, random.pareto(1.1, n) * 10 + 1, 1.0)
    ),
    "bimodal": lambda random, n: (
        np.where(random.random(n) < 0.3, 0.05, 1.0) * np.exp(0.25 * random.normal(size=n))
    ),
    "autocorrelated": lambda random, n: np.exp(_walk(random, n) + 0.25 * random.normal(size=n)),
}


def _walk(random: np.random.Generator, n: int) -> np.ndarray:
    """An Ornstein-Uhlenbeck load with a memory of two minutes."""
    keep = np.exp(-1 / 120)
    steps = random.normal(size=n) * 0.15 * np.sqrt(1 - keep**2)
    load = np.empty(n)
    at = 0.0
    for place, step in enumerate(steps):
        load[place] = at = keep * at + step
    return load


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("at_s", "length_s"), [(1500, 900), (5000, 900)])
def test_latencies_of_other_kinds(noise, at_s, length_s, tmp_path, capsys):
    """What is no lognormal: the doors agree, and eight times slower for a quarter of an hour is found."""
    seconds, fault = 7200, Trouble("md_read", at_s, at_s + length_s, 8.0)
    start_ns = (time.time_ns() // SECOND - seconds) * SECOND
    random = np.random.default_rng(5)
    ops = ("md_read", "md_create")
    made(tmp_path, random, start_ns, seconds, [fault], ops=ops, noise=NOISE[noise])
    every = Doors(tmp_path, capsys).all()
    told = every["events"]
    for door, said in every.items():
        assert said == told, door
    found = [one for one in told if one.op == "md_read" and one.end_ns > start_ns + at_s * SECOND]
    assert len(told) == len(found) == 1, told
    assert abs(found[0].start_ns - start_ns - at_s * SECOND) <= 60 * SECOND
    assert abs(found[0].end_ns - start_ns - (at_s + length_s) * SECOND) <= 60 * SECOND
    assert found[0].factor == pytest.approx(8.0, rel=0.35)
