"""Slow minutes that a scheduler's job is told, against minutes that were made slow; and jobs without any fault.

Each kind of stream (``kinds``) is written to a store as a probe would and read back through ``storage_during``: 1 Hz,
one op, five days, jobs of 2 h from 78 h on, when a baseline is reliable. In a job with a fault all operations take
``factor`` times as long in one stretch of 5 to 60 minutes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather import kinds
from benchmarks.truth.weather.latency import Floats
from iosonde.jobs.scheduled.storage import storage_during
from iosonde.jobs.scheduled.storage_time import StorageTime
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.slowdown.slowdown import learned
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, probed

TARGET = "scheduled"
START = 1_790_035_200 * SECOND
"""2026-09-22, a Tuesday, 00:00 UTC."""
DAYS, FIRST_S, LENGTH_S = 5, 280_800, 7_200
FACTORS = (3.0, 4.0, 8.0)
MOST_NULLS = 0.03


class MadeJob(NamedTuple):
    """Seconds since ``START``; ``slow``: [begin, end), None where nothing was wrong."""

    begin_s: int
    slow: tuple[int, int] | None

    @property
    def minutes(self) -> float:
        """For how long it was slow."""
        return 0.0 if self.slow is None else (self.slow[1] - self.slow[0]) / 60


def scheduled(seed: int, scale: float = 1.0) -> list[Row]:
    """False claims, errors of slow minutes, and how often the truth lies within the bounds that are told."""
    streams = max(1, round(4 * scale))
    rows: list[Row] = []
    every: list[bool] = []
    for place, (name, draw) in enumerate(kinds.MADE.items()):
        claims: list[bool] = []
        errors: list[float] = []
        inside: list[bool] = []
        for number in range(streams):
            random = np.random.default_rng((seed, place, number))
            quiet = draw(random, DAYS * 86_400)
            claims += [one.slow_ns > 0 for _, one in told(quiet, made_jobs(random), 1.0)]
            factor = FACTORS[number % len(FACTORS)]
            for job, one in told(quiet, made_jobs(random, faults=True), factor):
                errors.append(abs(one.slow_ns / 60e9 - job.minutes))
                inside.append(holds(job, one))
        every += claims
        rows += [
            Row(TARGET, f"{name}: claims of nothing", *_share(claims, 0.0, 1.0)),
            Row(TARGET, f"{name}: error, min, median", float(np.median(errors)), 0.0, 1.0, "", ""),
            Row(TARGET, f"{name}: error, min, 9 of 10", float(np.quantile(errors, 0.9)), 0.0,
                float("inf"), "", ""),
            Row(TARGET, f"{name}: truth within bounds", *_share(inside, 0.9, 1.0)),
        ]  # fmt: skip
    return [*rows, Row(TARGET, "all kinds: claims of nothing", *_share(every, 0.0, MOST_NULLS))]


def holds(job: MadeJob, one: StorageTime) -> bool:
    """Whether the minutes that were made slow lie within the bounds."""
    return one.at[0].least_ns / 60e9 <= job.minutes <= one.at[0].most_ns / 60e9


def _share(
    flags: list[bool], low: float, high: float
) -> tuple[float, float, float, str, str, float]:
    rate, error = share(sum(flags), len(flags))
    return rate, low, high, "", "", error


def made_jobs(random: np.random.Generator, *, faults: bool = False) -> list[MadeJob]:
    """Jobs one after the other; each second one has a fault, so that what is usual stays so."""
    begins = range(FIRST_S, DAYS * 86_400 - LENGTH_S, LENGTH_S)
    if not faults:
        return [MadeJob(begin, None) for begin in begins]
    jobs = []
    for begin in list(begins)[::2]:
        long = int(random.integers(300, 3_600))
        first = begin + int(random.integers(600, LENGTH_S - long - 300))
        jobs.append(MadeJob(begin, (first, first + long)))
    return jobs


def told(
    service_s: Floats, jobs: list[MadeJob], factor: float
) -> list[tuple[MadeJob, StorageTime]]:
    seconds = service_s.copy()
    for job in jobs:
        if job.slow is not None:
            seconds[job.slow[0] : job.slow[1]] *= factor
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        probed(root, seconds, START)
        store = Store(root)
        known = learned(store, SlowdownQuery())
        found = []
        for job in jobs:
            begin = START + job.begin_s * SECOND
            (one,) = storage_during(store, begin, begin + LENGTH_S * SECOND, known)
            found.append((job, one))
        return found
