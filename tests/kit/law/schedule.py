"""Schedules: so many steps of a world, drawn from a seed; readers look at each, and any process may die at each."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from tests.kit.law.model import Law, ViolationError
from tests.kit.law.operations import operations
from tests.kit.law.readers import check
from tests.kit.law.world import KilledError, MemoryStore, World

STORES = ("own", "shared", "bucket", "copy")
DEEP = 2
"""So many processes work within a step of another."""
_KILL, _OTHERS = 0.04, 0.08


class Outcome(NamedTuple):
    """What became of a schedule."""

    seed: int
    steps: int
    kills: int
    violation: str
    """"" if the law held."""
    log: list[str]
    met: Counter[str]
    """How often readers met files that share rows."""


def run(seed: int, steps: int) -> Outcome:
    """One schedule."""
    world = World(random.Random(seed), {name: MemoryStore(Law(name)) for name in STORES})
    schedule = _Schedule(world, steps)
    try:
        while world.steps < steps:
            schedule.work()
    except ViolationError as error:
        return Outcome(seed, world.steps, schedule.kills, str(error), world.log, world.met)
    return Outcome(seed, world.steps, schedule.kills, "", world.log, world.met)


class _Schedule:
    def __init__(self, world: World, steps: int) -> None:
        self.world, self.steps, self.kills, self._depth = world, steps, 0, 0
        self._works = operations(world)
        self._seen: dict[tuple[str, ...], object] = {}
        world.meanwhile = self.meanwhile

    def work(self) -> None:
        """One process, from its begin to its end or its death."""
        weights = [weight for weight, _, _ in self._works]
        _, name, work = self.world.dice.choices(self._works, weights)[0]
        self.world.log.append(f"{'  ' * self._depth}{name}:")
        self._depth += 1
        try:
            work()
        except KilledError:
            self.kills += 1
            self.world.log.append(f"{'  ' * (self._depth - 1)}killed")
        finally:
            self._depth -= 1

    def meanwhile(self) -> None:
        """Readers, others, death."""
        stores = self.world.stores
        for names in (*((name,) for name in STORES), ("own", "shared")):
            seen = [stores[name].seen() for name in names]
            if self._seen.get(names) != seen:
                check(self.world, [stores[name] for name in names])
                self._seen[names] = seen
        if self._depth <= DEEP and self.world.dice.random() < _OTHERS:
            self.work()
        if self.world.dice.random() < _KILL:
            raise KilledError
