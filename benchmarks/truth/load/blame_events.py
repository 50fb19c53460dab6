"""Culprits of slow events in slots of five minutes.

    python -m benchmarks blame_events [--seeds 50]

26 h. Jobs begin at any time, their lengths and loads are lognormal, 70% of them go on and off. Culprits run in the
middle; the slowdown follows their load by none or one slot, in proportion ("add") or as in a queue (1 / (1 - load)).
An operation costs the same, whose it is; "costly": in proportion, but those of culprits cost e^1.5 more or less.
Null events are unrelated to jobs. Printed: how often the first suspect is a culprit, how often "caused most of
it" is said and right, and how often a null event has an accused.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.shares import shares, show
from iosonde.jobs.attribution.culprits import Confidence, culprits

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats

SLOTS = 312
ANSWERS = ("add", "queue", "costly")


class Event(NamedTuple):
    """``truth``: places of culprits, none for a null event."""

    loads: Floats
    slowdown: Floats
    event: Flags
    truth: tuple[int, ...]


def make(jobs: int, many: int, answer: str, seed: int) -> Event:
    """``many`` culprits among ``jobs``; 0: a slowdown that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    while True:
        loads = _loads(jobs, many, rng)
        excess = _excess(loads, many, answer, rng)
        slow = (1 + excess) * np.exp(wander(rng) + 0.05 * rng.standard_normal(SLOTS))
        event = longest(slow >= 2)
        if event.sum() >= 3:
            order = rng.permutation(jobs)
            places = np.argsort(order)[:many]
            return Event(loads[order], slow, event, tuple(places.tolist()))


def _loads(jobs: int, many: int, rng: np.random.Generator) -> Floats:
    loads = np.zeros((jobs, SLOTS))
    for job in range(jobs):
        if job < many:
            length = int(rng.integers(6, 91))
            begin = int(rng.integers(SLOTS // 2 - length, SLOTS // 2 - 5))
            begin = int(np.clip(begin, SLOTS // 3, SLOTS - length))
        else:
            length = int(np.clip(24 * np.exp(rng.standard_normal()), 2, SLOTS))
            begin = int(rng.integers(-length + 1, SLOTS))
        level = np.ones(length)
        if rng.random() < 0.7:
            level = _on_off(length, rng)
        level *= np.exp(1.5 * rng.standard_normal())
        first, last = max(begin, 0), min(begin + length, SLOTS)
        loads[job, first:last] = level[first - begin : last - begin]
    return loads


def _on_off(length: int, rng: np.random.Generator) -> Floats:
    level, at = np.zeros(length), 0
    while at < length:
        on = 1 + int(rng.exponential(3))
        level[at : at + on] = rng.uniform(0.5, 1.5)
        at += on + 1 + int(rng.exponential(6))
    return level


def _excess(loads: Floats, many: int, answer: str, rng: np.random.Generator) -> Floats:
    """What load adds to the slowdown; the culprits' loads are scaled to what they cost."""
    usual = 0.15 / max(loads[many:].sum(axis=0).mean(), 1e-9)
    others = usual * loads[many:].sum(axis=0)
    if not many:
        length, begin = int(rng.integers(6, 49)), int(rng.integers(80, 200))
        fault = np.zeros(SLOTS)
        fault[begin : begin + length] = rng.uniform(3, 12) - 1
        return fault + others
    size = rng.uniform(3, 15)
    caused = np.zeros(SLOTS)
    for place in range(many):
        late = np.roll(loads[place], int(rng.integers(0, 2)))
        each = size / many / late[late > 0].mean()
        caused += late * each
        loads[place] *= each / usual
    if answer == "costly":
        loads[:many] /= np.exp(1.5 * rng.standard_normal((many, 1)))
    if answer != "queue":
        return caused + others
    busy = caused + others
    busy *= rng.uniform(0.82, 0.97) / busy.max()
    return busy / (1 - busy)


def wander(rng: np.random.Generator) -> Floats:
    """Logarithm of slow changes: 0.15 over half an hour."""
    keep = np.exp(-1 / 6)
    wander = np.zeros(SLOTS)
    for slot in range(1, SLOTS):
        wander[slot] = keep * wander[slot - 1] + 0.15 * np.sqrt(1 - keep**2) * rng.standard_normal()
    return wander


def longest(slow: Flags) -> Flags:
    """The largest run of slow slots; gaps of half an hour belong to it."""
    places = np.flatnonzero(slow)
    event = np.zeros(SLOTS, bool)
    if len(places):
        runs = np.split(places, np.flatnonzero(np.diff(places) > 7) + 1)
        run = max(runs, key=len)
        event[run[0] : run[-1] + 1] = True
    return event


def verdict(jobs: int, many: int, answer: str, seed: int) -> tuple[int, ...]:
    """The first suspect is a culprit; suspects that "caused most of it"; those of them that did; whether any."""
    made = make(jobs, many, answer, seed)
    found = culprits(made.loads, made.slowdown, made.event).suspects
    most = [one.place in made.truth for one in found if one.confidence is Confidence.MOST]
    return bool(found) and found[0].place in made.truth, len(most), sum(most), bool(most)


def _row(jobs: int, many: int, answer: str, seeds: int, first: int) -> tuple[object, ...]:
    right, said, true, accused = shares(partial(verdict, jobs, many, answer), seeds, first)
    of_said = float(true / said) if said else "-"
    head = (jobs, many, answer if many else "none")
    return (*head, right, round(said * seeds), of_said, accused)


def main(seeds: int = 50, first: int = 5000) -> None:
    """Print a row a size and answer."""
    show(
        (
            "jobs",
            "culprits",
            "answer",
            "first is right",
            "said 'most'",
            "of these right",
            "accused",
        ),
        (
            _row(jobs, many, answer, seeds, first)
            for jobs in (50, 200, 500)
            for many in (0, 1, 2, 3)
            for answer in (ANSWERS if many else ANSWERS[:1])
        ),
    )
