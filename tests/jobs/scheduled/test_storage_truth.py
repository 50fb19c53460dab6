"""Slow minutes of a job on streams that are not lognormal: bounds hold the truth, quiet jobs get no claim."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import kinds
from benchmarks.truth.scheduled import DAYS, holds, made_jobs, told


@pytest.mark.parametrize("name", ["floor and tail", "Pareto stragglers", "short bursts"])
def test_the_truth_lies_within_the_bounds_and_quiet_jobs_get_no_claim(name: str) -> None:
    random = np.random.default_rng(17)
    quiet = kinds.MADE[name](random, DAYS * 86_400)
    jobs = made_jobs(random, faults=True)[::2]
    between = made_jobs(random)[1::4]
    found = told(quiet, [*jobs, *between], 4.0)
    slow = [(job, one) for job, one in found if job.slow]
    assert sum(holds(job, one) for job, one in slow) >= len(slow) - 1
    assert np.median([abs(one.slow_ns / 60e9 - job.minutes) for job, one in slow]) <= 1.0
    assert all(one.slow_ns == 0 for job, one in found if not job.slow)
