"""A slow drift is no row of dated changes: steps that a straight line explains as well are marked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iosonde.jobs.climate.climate import climate
from iosonde.jobs.climate.data import climate_data
from iosonde.jobs.climate.words import GRADUAL, say_change, say_event
from iosonde.jobs.table.derived import with_derived
from iosonde.stats.change_points import ChangePoint, shifts
from tests.kit.jobs.jobs_made import table

N = 300
DAYS = np.arange(N, dtype=np.float64)


def noisy(seed: int, level: np.ndarray) -> np.ndarray:
    """Around a level (in deviations of 10%), days a bit like the days before."""
    e = np.random.default_rng(seed).normal(size=N)
    for day in range(1, N):
        e[day] = 0.4 * e[day - 1] + np.sqrt(1 - 0.16) * e[day]
    return 1 + 0.1 * (e + level)


def found(level: np.ndarray, seeds: int = 12) -> list[ChangePoint]:
    return [one for s in range(seeds) for one in shifts(DAYS, noisy(s, level)).found]


def test_most_changes_in_a_drift_are_called_gradual():
    changes = found(8 * DAYS / N)
    assert len(changes) > 24
    assert sum(one.gradual for one in changes) > 0.8 * len(changes)


@pytest.mark.parametrize("level", [2.0 * (DAYS > 150), -2.0 * (DAYS > 60), 4.0 * (DAYS // 50)])
def test_sudden_steps_are_not(level):
    changes = found(level)
    assert len(changes) >= 12
    assert sum(one.gradual for one in changes) <= 0.05 * len(changes)


def test_it_is_said_and_written():
    rate = 1e9 * np.array([noisy(1, 8 * DAYS / N), noisy(1, -4.0 * (DAYS > 150))])
    both = table(
        {"performance_bytes_per_s": rate.T.ravel()},
        motif=["drifts", "falls"] * N,
        start_s=np.repeat(1_791_676_800 + 86_400 * DAYS, 2).tolist(),
    )
    result = climate(with_derived(both).table)
    said = {change.motif: say_change(change) for change in result.changes}
    assert GRADUAL in said["drifts"]
    assert GRADUAL not in said["falls"]
    data = json.loads(json.dumps(climate_data(result)))
    assert {one["motif"] for one in data["changes"] if one["gradual"]} == {"drifts"}
    alone = [event for event in result.events if all(c.gradual for c in event.changes)]
    assert alone
    assert all(GRADUAL in say_event(event) for event in alone)
