"""Kinds of made histories: what slows the last run, what only looks so, and what is no slowness at all.

Each takes a generator and the number of earlier runs, and gives the table with what is true of its last run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.truth.jobs.metrics import ar
from benchmarks.truth.jobs.planted import NAMES, World, chosen, drawn, values
from benchmarks.truth.weather.latency import Floats
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable


class Case(NamedTuple):
    """``causes``: metrics that slowed the last run; ``innocent``: metrics that move with it or with the cause."""

    table: JobTable
    causes: tuple[str, ...] = ()
    innocent: tuple[str, ...] = ()


Kind = Callable[[np.random.Generator, int], Case]


def _planted(random: np.random.Generator, n: int, several: int = 1) -> tuple[World, list[int]]:
    world = drawn(random, n)
    places = chosen(world, several)
    for place in places:
        world.put_out(place)
        world.slowed(place)
    return world, places


def _case(world: World, places: list[int], **more: object) -> Case:
    return Case(world.table(**more), tuple(NAMES[i] for i in places))  # type: ignore[arg-type]


def one_cause(random: np.random.Generator, n: int) -> Case:
    """One metric slowed it."""
    return _case(*_planted(random, n))


def two_causes(random: np.random.Generator, n: int) -> Case:
    """Two at once."""
    return _case(*_planted(random, n, 2))


def gaps(random: np.random.Generator, n: int) -> Case:
    """The cause is not known of 40 % of the history."""
    world, places = _planted(random, n)
    case = _case(world, places)
    case.table.metrics[NAMES[places[0]]][:-1][random.random(n) < 0.4] = np.nan
    return case


def weekend(random: np.random.Generator, n: int) -> Case:
    """The cause costs only on two days of seven, of which the last is one."""
    world = drawn(random, n)
    (place,) = chosen(world)
    world.put_out(place)
    day = (np.arange(n + 1) - n) % 7
    world.slowed(place, np.flatnonzero((day == 0) | (day == 6)))  # type: ignore[arg-type]
    return _case(world, [place])


def upgrade(random: np.random.Generator, n: int) -> Case:
    """All runs are faster from the middle on and four metrics moved with them; then the cause."""
    world, places = _planted(random, n)
    _changed(world, n // 2, float(random.uniform(1.5, 2.5)))
    return _case(world, places)


def _changed(world: World, at: int, factor: float) -> None:
    """From run ``at`` on the rate is multiplied by ``factor``, and four metrics lie two deviations elsewhere."""
    world.log_rate[at:] += np.log(factor)
    for place in chosen(world, 4):
        world.z[at:, place] += world.random.choice([-2.0, 2.0])


def slower_for_good(random: np.random.Generator, n: int) -> Case:
    """All runs of the last third are slower, and the last one is like them."""
    world = drawn(random, n)
    _no_bad_day(world)
    _changed(world, n - n // 3, float(random.uniform(0.3, 0.6)))
    return Case(world.table())


def delayed(random: np.random.Generator, n: int) -> Case:
    """The cause is the run before's: nothing of the last run itself."""
    world = drawn(random, n)
    (place,) = chosen(world)
    world.z[-2, place] = random.uniform(2.5, 4.0)
    before = np.roll(world.z[:, place], 1)
    now = world.z[:, place].copy()
    world.z[:, place] = before
    world.slowed(place)
    world.z[:, place] = now
    return _case(world, [place])


def hidden(random: np.random.Generator, n: int) -> Case:
    """The cause is not recorded; two metrics go with it (correlation .65)."""
    world, places = _planted(random, n)
    cause = world.z[:, places[0]]
    others = [i for i in range(len(NAMES)) if i != places[0]][:2]
    for place in others:
        world.z[:, place] = 0.65 * cause + 0.76 * random.standard_normal(n + 1)
    return Case(world.table(without=(NAMES[places[0]],)), (), tuple(NAMES[i] for i in others))


def twin(random: np.random.Generator, n: int) -> Case:
    """Another metric moves with the cause."""
    world = drawn(random, n)
    place, other = chosen(world, 2)
    world.put_out(place)
    world.slowed(place)
    world.z[:, other] = world.z[:, place] + 0.15 * random.standard_normal(n + 1)
    return Case(world.table(), (NAMES[place],), (NAMES[other],))


def spikes(random: np.random.Generator, n: int) -> Case:
    """3 % of the cells of the history are a million times as large."""
    return _spoilt(random, n, lambda column: column * np.where(random.random(n) < 0.03, 1e6, 1.0))


def unknown_as_minus_one(random: np.random.Generator, n: int) -> Case:
    """5 % of the cells of the history are -1."""
    return _spoilt(random, n, lambda column: np.where(random.random(n) < 0.05, -1.0, column))


def _spoilt(random: np.random.Generator, n: int, how: Callable[[Floats], Floats]) -> Case:
    case = one_cause(random, n)
    for name in NAMES:
        case.table.metrics[name][:-1] = how(case.table.metrics[name][:-1])
    return case


def wrong_units(random: np.random.Generator, n: int) -> Case:
    """1 % of the rates of the history are 1024 times too large, and as many too small."""
    case = one_cause(random, n)
    draw = random.random(n)
    factor = np.where(draw < 0.01, 1024.0, np.where(draw > 0.99, 1 / 1024, 1.0))
    case.table.metrics["performance_bytes_per_s"][:-1] *= factor
    return case


def ordinary(random: np.random.Generator, n: int) -> Case:
    """As fast as ever."""
    world = drawn(random, n)
    _no_bad_day(world)
    return Case(world.table())


def _no_bad_day(world: World) -> None:
    """The last run is within 4 % of what is usual."""
    world.log_rate[-1] = np.clip(world.log_rate[-1], -0.04, 0.04)


def of_nothing(random: np.random.Generator, n: int) -> Case:
    """A slow run that no metric has to do with, of days alike to different degrees, half of them with trends."""
    world = drawn(random, n, float(random.choice([0.0, 0.3, 0.7])))
    if random.random() < 0.5:
        trend = np.linspace(-1, 1, n + 1)
        for place in chosen(world, 4):
            world.z[:, place] += random.choice([-1, 1]) * trend
    world.log_rate[-1] = np.min(world.log_rate) - random.uniform(0.1, 0.4)
    return Case(world.table())


def growing_faster(random: np.random.Generator, n: int) -> Case:
    """The output grows by 4 % a run, and larger runs are faster; the last is as fast as its size is."""
    return _growing(random, n, 0.04, 0.35)


def growing_slower(random: np.random.Generator, n: int) -> Case:
    """The output grows by 3 % a run, and larger runs are slower."""
    return _growing(random, n, 0.03, -0.35)


def _growing(random: np.random.Generator, n: int, rate: float, power: float) -> Case:
    world = drawn(random, n)
    size = rate * np.arange(n + 1) + 0.05 * random.standard_normal(n + 1)
    _no_bad_day(world)
    world.log_rate += power * size
    world.columns["own_bytes"] = 1e11 * np.exp(size)
    return Case(world.table(), (), ("bytes",))


def inputs(random: np.random.Generator, n: int) -> Case:
    """Two inputs of equal bytes, one with 500 times the opens, which is slower; the last run has that one."""
    world = drawn(random, n)
    many = random.random(n + 1) < 0.35
    many[-1] = True
    _no_bad_day(world)
    world.log_rate[many] -= 0.7
    world.columns["own_opens"] = (
        100.0 * np.where(many, 500.0, 1.0) * np.exp(0.05 * random.standard_normal(n + 1))
    )
    return Case(world.table(), (), ("opens",))


def grown_and_slowed(random: np.random.Generator, n: int) -> Case:
    """As ``growing_slower``, and a metric slowed the last run besides."""
    world, places = _planted(random, n)
    size = 0.03 * np.arange(n + 1) + 0.05 * random.standard_normal(n + 1)
    world.log_rate -= 0.35 * size
    world.columns["own_bytes"] = 1e11 * np.exp(size)
    return _case(world, places)


def symptoms(random: np.random.Generator, n: int) -> Case:
    """The performance is given; six counters of what was done fall with it, and nobody says which side is bad."""
    return _with_symptoms(random, n, None)


def symptoms_called_bad(random: np.random.Generator, n: int) -> Case:
    """As ``symptoms``, of counters that the mapping calls good when they are low."""
    return _with_symptoms(random, n, "low")


def _with_symptoms(random: np.random.Generator, n: int, good: str | None) -> Case:
    world, places = _planted(random, n)
    names = [f"done_{i}" for i in range(6)]
    for i, name in enumerate(names):
        own = random.uniform(0.02, 0.15) * random.standard_normal(n + 1)
        world.columns[name] = 1000.0 * (i + 1) * np.exp(world.log_rate + own)
        world.abouts[name] = About("", name.replace("_", " "), good, "cause")  # type: ignore[arg-type]
    case = _case(world, places, given=True)
    return case._replace(innocent=tuple(names))


def noise(random: np.random.Generator, n: int) -> Case:
    """A slow run among 500 metrics that have nothing to do with it."""
    world = drawn(random, n)
    world.log_rate[-1] = np.min(world.log_rate) - random.uniform(0.1, 0.4)
    draws = ar(random, n + 1, 0.0, 500)
    for i in range(500):
        world.columns[f"noise_{i}"] = values("gc_pause", draws[:, i])
        world.abouts[f"noise_{i}"] = About("ms", f"noise {i}", "low", "cause")
    return Case(world.table())
