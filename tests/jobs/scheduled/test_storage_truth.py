"""Slow minutes of a job on streams that are not lognormal: bounds hold the truth, quiet jobs get no claim."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.jobs.scheduled import DAYS, START, holds, made_jobs, told
from benchmarks.truth.weather import kinds
from iosonde.jobs.scheduled.storage import storage_during
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, probed


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


def test_another_mix_of_cached_reads_is_no_slowdown_before_the_baseline_is_reliable(
    tmp_path,
) -> None:
    random = np.random.default_rng((1701, list(kinds.MADE).index("two modes, drifting"), 0))
    drifting = kinds.MADE["two modes, drifting"](random, 2 * 86_400)
    probed(tmp_path, drifting[: 20 * 3600], START, op="data_read")
    begin = START + 12 * 3600 * SECOND
    (one,) = storage_during(Store(tmp_path), begin, begin + 6 * 3600 * SECOND)
    assert one.slow_ns == 0
    assert one.unknown_ns == 6 * 3600 * SECOND
