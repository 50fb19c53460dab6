"""Small clusters whose answer is plain."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.load.shared_nodes import rows
from iosonde.jobs.attribution.allocations import allocations_of
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.shares import shares
from iosonde.model.jobs import Job

S = 1_000_000_000
GRID = Grid(0, 30 * S, 480)


def recorded(rates, missing=slice(0, 0)):
    """Nodes with a rate (1/s) in each cell."""
    ops = np.array(rates, dtype=np.float32) * 30
    covered = np.ones_like(ops)
    covered[:, missing], ops[:, missing] = 0, 0
    return NodeOps(GRID, tuple(f"n{i}" for i in range(len(ops))), ops, covered)


def job(job_id, begin, end, *nodes, user="u"):
    return Job(
        source="sacct", job_id=job_id, user=user, start_ns=begin * S, end_ns=end * S,
        node_names=nodes, state="COMPLETED",
    )  # fmt: skip


def found(ops, *jobs, cpus=None, begin=None, end=None):
    of = (lambda one: cpus[one.job_id]) if cpus else (lambda _: np.nan)
    allocations = allocations_of(jobs, ops.nodes, GRID.end_ns, of)
    return shares(join(ops, allocations), begin, end)


def line(*steps):
    """Rates of cells: (how many, rate)."""
    return np.concatenate([np.full(n, rate) for n, rate in steps])


def test_a_node_of_its_own_is_exact_but_for_its_background():
    ops = recorded([line((120, 2.0), (240, 102.0), (120, 2.0))])
    (one,) = found(ops, job("7", 3600, 10_800, "n0")).ranked
    assert one.ops == pytest.approx(100 * 7200, rel=1e-4)
    assert one.least <= one.ops <= one.most
    assert (one.alone, one.guessed, one.covered) == (one.ops, 0.0, 1.0)


def test_a_border_within_a_cell_is_shared_by_time():
    ops = recorded([line((480, 10.0))])
    first, second = found(ops, job("a", 0, 7215, "n0"), job("b", 7215, 14_400, "n0")).ranked
    assert (first.who, second.who) == ("a", "b")
    assert first.ops == pytest.approx(10 * 7215)
    assert second.ops == pytest.approx(10 * 7185)


def test_runs_that_overlap_are_told_apart_by_when_they_come_and_go():
    a, b = line((240, 30.0), (240, 0.0)), line((120, 0.0), (240, 5.0), (120, 0.0))
    ops = recorded([a + b])
    by = {
        one.who: one
        for one in found(ops, job("a", 0, 7200, "n0"), job("b", 3600, 10_800, "n0")).ranked
    }
    assert by["a"].ops == pytest.approx(30 * 7200, rel=0.01)
    assert by["b"].ops == pytest.approx(5 * 7200, rel=0.01)


def test_runs_that_come_and_go_together_are_a_guess_by_processors():
    ops = recorded([line((240, 40.0), (240, 0.0))])
    jobs = job("a", 0, 7200, "n0"), job("b", 0, 7205, "n0")
    a, b = found(ops, *jobs, cpus={"a": 3.0, "b": 1.0}).ranked
    assert a.ops == pytest.approx(3 * b.ops, rel=0.01)
    assert a.guessed == pytest.approx(a.ops)
    assert (a.least, b.least) == (pytest.approx(0, abs=40 * 30), 0.0)
    assert b.most >= 0.95 * 40 * 7200


def test_time_without_records_is_not_zero():
    ops = recorded([line((240, 10.0), (240, 0.0))], missing=slice(0, 120))
    (one,) = found(ops, job("a", 0, 7200, "n0")).ranked
    assert one.covered == pytest.approx(0.5)
    assert one.ops == pytest.approx(10 * 3600, rel=0.02)


def test_an_interval_within_a_cell_has_its_part():
    ops = recorded([line((480, 10.0))])
    part = found(ops, job("a", 0, 14_400, "n0"), begin=100 * S, end=110 * S)
    assert part.total == pytest.approx(100.0)
    assert part.ranked[0].share == pytest.approx(1.0)


def test_other_nodes_than_were_recorded_are_refused():
    ops = recorded([line((480, 10.0))])
    with pytest.raises(ValueError, match="different nodes"):
        join(ops, allocations_of([job("a", 0, 60, "x")], ("x",), GRID.end_ns))


def test_bounds_hold_and_guesses_are_said_where_jobs_of_a_shared_node_come_in_bursts():
    of_exclusive, of_shared = np.mean(
        [[row[4:] for row in rows(seed)] for seed in (20, 21, 22)], axis=0
    )
    assert of_exclusive[0] >= 0.9
    assert of_exclusive[2] < 0.01
    assert of_shared[0] >= 0.88
    assert of_shared[2] > 0.2
