"""Shares of a generated week against what its jobs did."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.truth.load.load_weeks import judge
from benchmarks.truth.load.week import BEGIN_NS, Cluster, S, generate
from iosonde.jobs.attribution.clock import clock_offset
from iosonde.jobs.attribution.join import divide, join
from iosonde.jobs.attribution.shares import shares

SMALL = Cluster(exclusive=24, shared=10, jobs=1200, days=2.0)


@pytest.fixture(scope="module")
def small():
    return generate(SMALL, 5)


def test_the_reference_week_is_attributed():
    verdict = judge(generate(Cluster(), 1))
    exclusive, shared = verdict.exclusive, verdict.shared
    assert exclusive.error <= 0.11
    assert exclusive.recall == 1.0
    assert shared.error <= 0.40
    assert shared.recall >= 0.9
    assert exclusive.bounded >= 0.9
    assert shared.bounded >= 0.85


def test_parts_add_up_to_what_was_recorded(small):
    joined = join(small.recorded, small.allocations)
    rng = np.random.default_rng(2)
    for _ in range(5):
        begin, end = np.sort(rng.integers(0, int(SMALL.days * 86_400), 2)) * S + BEGIN_NS
        divided = divide(joined, int(begin), int(end))
        found = divided.pieces.sum_of(divided.part) + divided.nobody
        np.testing.assert_allclose(found, divided.pieces.ops, rtol=1e-9, atol=1e-6)
        assert (divided.nobody >= -1e-6).all()
        assert (divided.least <= divided.part + 1e-9).all()
        assert (divided.part <= divided.most + 1e-9).all()


def test_intervals_add_up(small):
    joined = join(small.recorded, small.allocations)
    cuts = [BEGIN_NS + h * 3600 * S + 7 * S for h in (0, 5, 11, 30)]
    parts = [shares(joined, a, b).total for a, b in pairwise(cuts)]
    whole = shares(joined, cuts[0], cuts[-1])
    assert sum(parts) == pytest.approx(whole.total)
    assert whole.nobody + sum(one.ops for one in whole.ranked) == pytest.approx(whole.total)
    by_user = shares(joined, cuts[0], cuts[-1], "user")
    assert sum(one.ops for one in by_user.ranked) == pytest.approx(
        sum(one.ops for one in whole.ranked)
    )


@pytest.mark.parametrize("ahead_s", [0, 60, -47])
def test_the_offset_of_clocks_is_found(small, ahead_s):
    found = clock_offset(small.recorded, small.allocations.shifted(-ahead_s * S))
    assert found.lower - 5 <= ahead_s <= found.upper + 5
    assert found.upper - found.lower < 30


def test_no_offset_is_claimed_where_nothing_changes_with_jobs(small):
    rng = np.random.default_rng(1)
    idle = rng.standard_gamma(2.0, small.recorded.ops.shape).astype(np.float32)
    still = type(small.recorded)(
        small.recorded.grid, small.recorded.nodes, idle, small.recorded.covered
    )
    assert clock_offset(still, small.allocations).seconds is None
