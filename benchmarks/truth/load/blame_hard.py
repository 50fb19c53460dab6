"""Misleading slow events: how often a wrong job is accused.

    python -m benchmarks blame_hard [--seeds 100]

phase      checkpoints of 20 jobs at the same time every hour; the storage fails at another time
victim     a job that does more when the storage is fast; the storage fails
relay      a hog that ends as an innocent job of the same size begins
clocks     the culprit's records are a minute and a half late
blind      a third of the jobs has no records, the culprit is one of them
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.truth.load.blame_events import SLOTS, Event, make
from benchmarks.truth.shares import shares, show
from iosonde.jobs.attribution.culprits import Confidence, culprits

KINDS = ("phase", "victim", "relay", "clocks", "blind")
JOBS = 100


def hard(kind: str, seed: int) -> Event:
    """One event; ``truth``: whom to accuse is right."""
    rng = np.random.default_rng(10_000 + seed)
    made = make(JOBS, 0 if kind in {"phase", "victim"} else 1, "add", seed)
    loads, truth = made.loads.copy(), made.truth
    if kind == "phase":
        beat = (np.arange(SLOTS) % 12 < 2).astype(np.float64)
        for job in range(20):
            loads[job] = beat * np.exp(0.2 * rng.standard_normal(SLOTS)) * rng.lognormal(1, 1)
    elif kind == "victim":
        loads[0] = 50 / made.slowdown * np.exp(0.1 * rng.standard_normal(SLOTS))
    elif kind == "relay":
        end = int(np.flatnonzero(loads[truth[0]])[-1]) + 1
        other = (truth[0] + 1) % JOBS
        loads[other] = 0
        loads[other, end : end + 48] = loads[truth[0]].max()
    elif kind == "clocks":
        late = loads[truth[0]]
        loads[truth[0]] = 0.7 * late + 0.3 * np.roll(late, 1)
    else:
        dark = rng.random(JOBS) < 1 / 3
        dark[truth[0]] = True
        loads[dark] = 0
        truth = ()
    return Event(loads, made.slowdown, made.event, truth)


def wrong(kind: str, seed: int) -> bool:
    """Whether somebody is accused with confidence who did not cause it."""
    made = hard(kind, seed)
    found = culprits(made.loads, made.slowdown, made.event).suspects
    return any(one.confidence is Confidence.MOST and one.place not in made.truth for one in found)


def main(seeds: int = 100, first: int = 5000) -> None:
    """Print a row a kind of event."""
    print(f"{JOBS} jobs, {seeds} seeds\n")
    show(
        ("event", "a wrong job accused"),
        ((kind, *shares(partial(wrong, kind), seeds, first)) for kind in KINDS),
    )
