"""The verdict of a matrix, held to made ones; the whole table: ``python -m benchmarks truth --only fleet``."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.weather import fleets
from iosonde.weather.fleet.shapes import FleetShape, slow_part

TIMES = 25


CELLS = (fleets.lognormal, fleets.heavy)
"""Noise that makes no such cells itself: in other noise little is said of one."""
MADE = [
    pytest.param(kind, noise, id=f"{kind}-{noise.__name__}")
    for kind in fleets.KINDS
    for noise in (CELLS if kind == "cell" else fleets.NOISES)
]


@pytest.mark.parametrize(("kind", "noise"), MADE)
def test_a_made_matrix_has_the_shape_that_it_was_made_with(kind, noise):
    least = 0.8 if kind == "cell" else 0.87
    random = np.random.default_rng(7)
    right = places = 0
    for _ in range(TIMES):
        slowdown, (rows, columns) = fleets.matrix(random, (20, 4), kind, noise)
        part = slow_part(slowdown)
        right += part.shape in fleets.wanted(kind, (20, 4))
        places += part.hosts == tuple(sorted(rows)) and part.targets == tuple(columns)
    assert right >= least * TIMES
    assert kind == "block" or places >= least * TIMES


def test_the_interval_of_a_slow_target_holds_its_factor():
    random = np.random.default_rng(3)
    held = 0
    for _ in range(40):
        log = 0.15 * random.standard_normal((30, 3))
        log[:, 1] += np.log(3.0)
        part = slow_part(np.exp(log))
        assert (part.shape, part.targets) == (FleetShape.TARGET, (1,))
        held += part.lower <= 3.0 <= part.upper
    assert held >= 34


def test_two_hosts_do_not_tell_whose_fault_it_is():
    assert slow_part(np.array([[3.0, 1.0], [1.0, 1.0]])).shape is FleetShape.FEW
    assert slow_part(np.array([[1.1, 1.0], [1.0, 1.0]])).shape is FleetShape.NOTHING
    assert slow_part(np.full((3, 2), np.nan)).shape is FleetShape.NOTHING
    assert slow_part(np.zeros((0, 0))).shape is FleetShape.NOTHING


def test_what_hangs_everywhere_is_the_target():
    slowdown = np.ones((6, 3))
    slowdown[:, 2] = np.inf
    part = slow_part(slowdown)
    assert (part.shape, part.targets, len(part.hosts)) == (FleetShape.TARGET, (2,), 6)


def test_a_small_shift_of_everything_is_no_verdict():
    random = np.random.default_rng(5)
    slow = [slow_part(1.4 * np.exp(0.1 * random.standard_normal((10, 3)))) for _ in range(20)]
    assert {part.shape for part in slow} == {FleetShape.NOTHING}


def test_a_host_without_cells_is_no_healthy_host():
    slowdown = np.ones((6, 2))
    slowdown[0], slowdown[4:] = 4.0, np.nan
    part = slow_part(slowdown)
    assert (part.shape, part.hosts) == (FleetShape.HOST, (0,))
