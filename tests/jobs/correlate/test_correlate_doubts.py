"""What speaks against a coefficient is said beside it: drift, steps from run to run, groups without a name."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.jobs.correlate.correlate import Correlation, correlate
from iosonde.jobs.correlate.words import claimed, say_doubt, say_group
from iosonde.stats.association import associations
from tests.kit.jobs.jobs_made import table

N = 100
STEPS = np.arange(N) / 20


def one(y: np.ndarray, x: np.ndarray) -> Correlation:
    made = table({"performance_bytes_per_s": y, "concurrent_jobs": x})
    (row,) = correlate(made, "performance_bytes_per_s", ["concurrent_jobs"], by=()).rows
    return row


def test_of_what_both_drift_nothing_is_claimed_without_a_doubt():
    """Both go up over the months and have nothing else in common: a third of these were claims."""
    claims = doubted = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        row = one(STEPS + random.normal(size=N), STEPS + random.normal(size=N))
        claims += claimed(row)
        doubted += claimed(row) and "both drift" in say_doubt(row)
    assert claims > 10
    assert claims - doubted <= 3


def test_what_goes_together_beside_a_drift_is_not_doubted():
    for seed in range(20):
        random = np.random.default_rng(seed)
        x = random.normal(size=N)
        row = one(-STEPS / 3 - x + random.normal(size=N), STEPS / 3 + x)
        assert (claimed(row), say_doubt(row)) == (True, ""), row


def test_steps_against_a_coefficient_do_not_prove_it():
    """Together over the months, against each other from run to run."""
    step = 0.5 * np.random.default_rng(1).normal(size=300)
    slow = np.sin(np.arange(300) / 20)
    found = associations(slow + step, (slow - step)[:, None])
    assert found.spearman[0] > 0.3
    assert found.prewhitened_p[0] == 1.0
    assert found.p[0] == pytest.approx(min(1.0, 2 * found.levels_p[0]))


def test_what_only_steps_show_is_said():
    random = np.random.default_rng(3)
    step, walks = random.normal(size=300), random.normal(size=(2, 300))
    for run in range(1, 300):
        walks[:, run] += 0.9 * walks[:, run - 1]
    y, other = walks + step
    x = (
        other - (np.dot(other, y) / np.dot(y, y)) * y
    )  # over all runs nothing is left, and then a little
    row = one(y, x + 0.02 * y + 0.5 * step - 0.5 * np.dot(step, y) / np.dot(y, y) * y)
    assert row.from_run_to_run, row
    assert not row.drift
    assert "from one run to the next only" in say_doubt(row)


def test_groups_without_a_name_are_said_in_words():
    x = np.random.default_rng(1).normal(size=12)
    made = table({"performance_bytes_per_s": x, "concurrent_jobs": x}, motif="", file_system="")
    found = correlate(made, "performance_bytes_per_s", ["concurrent_jobs"])
    assert say_group(found.rows[0].group, found) == ("rows without the file system and what ran")
    assert say_group(("fs1", ""), found) == "fs1"
    assert say_group((), found) == "all rows together"
