"""Slow events of which only begin and end of jobs are known.

    python -m benchmarks blame_presence [--seeds 100]

Printed: how often the culprit is the first, among the first three and five of one event, and how often its program, one
of 60, is the first over 1, 3 and 5 events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.load.blame_events import ANSWERS, SLOTS, make
from benchmarks.truth.shares import show
from iosonde.jobs.attribution.active import over_events, presence_match

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

PROGRAMS = 60
EVENTS = 5


class Presence(NamedTuple):
    """Places of the culprit among the jobs of each event; of its program over the first 1, 2 ... events; from 0."""

    jobs: list[int]
    programs: list[int]


def present(loads: Floats) -> Floats:
    """(M, K) 1 from a load's first slot to its last one."""
    seen = loads > 0
    first = np.argmax(seen, axis=1)
    last = SLOTS - np.argmax(seen[:, ::-1], axis=1)
    slot = np.arange(SLOTS)
    there = (slot >= first[:, None]) & (slot < last[:, None]) & seen.any(axis=1)[:, None]
    return there.astype(np.float64)


def presence(jobs: int, seed: int) -> Presence:
    """Events of one culprit program, and where it stands."""
    rng = np.random.default_rng(30_000 + seed)
    events: list[tuple[list[str], Floats]] = []
    places, programs = [], []
    for number in range(EVENTS):
        made = make(jobs, 1, ANSWERS[number % 2], int(rng.integers(1 << 30)))
        match = presence_match(present(made.loads), made.slowdown, made.event)
        places.append(int((match > match[made.truth[0]]).sum()))
        names = [f"app{one}" for one in rng.integers(1, PROGRAMS, jobs)]
        names[made.truth[0]] = "app0"
        events.append((names, match))
        ranked = [name for name, _ in over_events(events)]
        programs.append(ranked.index("app0"))
    return Presence(places, programs)


def _row(jobs: int, seeds: int) -> list[object]:
    found = [presence(jobs, seed) for seed in range(seeds)]
    places = np.array([one.jobs for one in found])
    programs = np.array([one.programs for one in found])
    tops = [float((places < top).mean()) for top in (1, 3, 5)]
    return [jobs, *tops, *(float((programs[:, many - 1] == 0).mean()) for many in (1, 3, 5))]


def main(seeds: int = 100) -> None:
    """Print a row a number of jobs."""
    print(f"{seeds} seeds of {EVENTS} events\n")
    show(
        ("jobs", "top 1", "top 3", "top 5", "program, 1 event", "3 events", "5 events"),
        (_row(jobs, seeds) for jobs in (50, 200, 500)),
    )
