"""Events with known culprits, and events that no job made."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.load.blame_events import make
from benchmarks.truth.load.blame_nobody import KINDS, names_nobody, nobody
from benchmarks.truth.load.week import BEGIN_NS, Cluster, S, generate
from iosonde.jobs.attribution.allocations import allocations_of
from iosonde.jobs.attribution.blame import SlowdownSeries, blame
from iosonde.jobs.attribution.culprits import Confidence, culprits
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.words import verdict
from iosonde.model.jobs import Job

HOUR = 3600 * S


@pytest.mark.parametrize("jobs", [50, 200, 500])
def test_one_culprit_is_named_first(jobs):
    first, said, right = 0, 0, 0
    for seed in range(20):
        made = make(jobs, 1, ("add", "queue")[seed % 2], seed)
        found = culprits(made.loads, made.slowdown, made.event).suspects
        first += bool(found) and found[0].place in made.truth
        most = [one.place for one in found if one.confidence is Confidence.MOST]
        said += len(most)
        right += sum(place in made.truth for place in most)
    assert first >= 19
    assert said >= 5
    assert right == said


def test_a_fault_of_the_storage_accuses_nobody():
    accused = 0
    for seed in range(40):
        made = make(100, 0, "add", 1000 + seed)
        found = culprits(made.loads, made.slowdown, made.event).suspects
        accused += any(one.confidence is Confidence.MOST for one in found)
    assert accused <= 2


def test_p_is_how_often_unrelated_loads_fit_as_well():
    """A placebo that looked for suspects at another time than the one it moves the event to would say 0.4 here."""
    low = 0
    for seed in range(60):
        made = make(60, 0, "add", 7000 + seed)
        low += culprits(made.loads, made.slowdown, made.event).p <= 0.1
    assert low <= 13  # 6 expected; more than 13 by chance: 1 in 500


@pytest.mark.parametrize("kind", KINDS)
def test_no_single_job_is_named_where_there_is_none(kind):
    assert sum(names_nobody(kind, 9000 + seed) for seed in range(20)) >= 18


def test_jobs_that_load_it_together_are_said_to():
    together = 0
    for seed in range(20):
        made = nobody("crowd", 9000 + seed)
        together += culprits(made.loads, made.slowdown, made.event).together
    assert together >= 17


def loads_of(*rows):
    return np.array(rows, dtype=np.float64)


def test_a_job_that_does_more_because_storage_is_fast_is_no_culprit():
    rng = np.random.default_rng(4)
    slow = np.exp(0.1 * rng.standard_normal(288))
    slow[140:170] *= 6
    victim = 100 / slow * np.exp(0.05 * rng.standard_normal(288))
    others = rng.exponential(10, (20, 288))
    event = np.zeros(288, bool)
    event[140:170] = True
    found = culprits(np.vstack([victim, others]), slow, event).suspects
    assert not [one for one in found if one.confidence is not Confidence.ACTIVE]


def test_loads_of_one_course_are_not_told_apart():
    rng = np.random.default_rng(5)
    course = np.zeros(288)
    course[140:170] = rng.uniform(0.5, 1.0, 30)
    slow = 1 + 8 * course
    event = slow > 2
    twins = loads_of(course, course * 3 * np.exp(0.01 * rng.standard_normal(288)))
    found = culprits(np.vstack([twins, rng.exponential(0.1, (30, 288))]), slow, event).suspects
    (one, *_) = [one for one in found if one.place in {0, 1}]
    assert set(one.alike) == {0, 1} - {one.place}
    assert one.confidence is Confidence.ACTIVE


def test_a_load_that_follows_the_slowdown_is_no_cause():
    rng = np.random.default_rng(6)
    slow = 1 + 0.05 * rng.random(288)
    slow[140:164] = 8
    late = np.zeros(288)
    late[143:167] = 1
    event = slow > 2
    found = culprits(np.vstack([late, rng.exponential(0.1, (30, 288))]), slow, event).suspects
    assert all(one.confidence is Confidence.ACTIVE for one in found)


@pytest.fixture(scope="module")
def day():
    """A day of a small cluster; job ``hog`` on four of the nodes for two hours, and the slowdown that it makes."""
    made = generate(Cluster(exclusive=24, shared=8, jobs=500, days=1.0), 9)
    nodes = made.recorded.nodes
    begin, end = BEGIN_NS + 10 * HOUR, BEGIN_NS + 12 * HOUR
    hog = Job(
        source="sacct", job_id="hog", user="h", start_ns=begin, end_ns=end, state="COMPLETED",
        node_names=nodes[24:28],
    )  # fmt: skip
    told = made.allocations
    known = [
        Job(
            source="sacct", job_id=str(told.job_id[run]), user=str(told.user[run]),
            start_ns=int(told.begin_ns[run]), end_ns=int(told.end_ns[run]), state="COMPLETED",
            node_names=tuple(nodes[node] for node in told.node[told.run == run]),
        )
        for run in range(len(told))
    ]  # fmt: skip
    ops = made.recorded.ops.copy()
    ops[24:28, 1200:1440] += 30 * 2000
    recorded = NodeOps(made.recorded.grid, nodes, ops, made.recorded.covered)
    factor = 1 + np.add.reduceat(ops, np.arange(0, 2880, 2), axis=1).sum(axis=0) / 60 / 1500
    times = BEGIN_NS + 60 * S * np.arange(len(factor))
    joined = join(recorded, allocations_of([*known, hog], nodes, BEGIN_NS + 24 * HOUR))
    return joined, SlowdownSeries(times, factor), begin, end


def test_the_hog_of_a_day_is_named_with_its_share(day):
    joined, slowdown, begin, end = day
    found = blame(joined, begin, end, slowdown)
    assert found.ranked[0].who == "hog"
    assert found.ranked[0].suspect.confidence is Confidence.MOST
    assert verdict(found).startswith("job hog caused most of it: ")
    assert found.majority.of[0].who == "hog"
    assert len(verdict(found).split()) <= 25


def test_its_user_is_named_too(day):
    joined, slowdown, begin, end = day
    assert verdict(blame(joined, begin, end, slowdown, "user"), "user").startswith("user h caused")


def test_a_fault_at_another_time_is_not_the_hogs(day):
    joined, _, _, _ = day
    rng = np.random.default_rng(8)
    factor = 1 + 0.1 * rng.random(1440)
    factor[200:260] = 9
    times = BEGIN_NS + 60 * S * np.arange(1440)
    begin = BEGIN_NS + 200 * 60 * S
    found = blame(joined, begin, begin + HOUR, SlowdownSeries(times, factor))
    assert not [one for one in found.ranked if one.suspect.confidence is Confidence.MOST]
    assert verdict(found).startswith("no job explains it; ")


def test_readers_that_contribute_alike_are_not_identifiable():
    """Two endless readers and three that begin and pause: while all read, each has a fifth."""
    grid = Grid(0, 30 * S, 240)
    ops = np.full((5, 240), 30 * 50, np.float32)
    ops[:, :20] = 0
    nodes = tuple("abcde")
    jobs = [
        Job(
            source="sacct", job_id=f"j{node}", start_ns=600 * S, end_ns=7200 * S,
            node_names=(node,), state="COMPLETED",
        )
        for node in nodes
    ]  # fmt: skip
    recorded = NodeOps(grid, nodes, ops, np.ones_like(ops))
    joined = join(recorded, allocations_of(jobs, nodes, grid.end_ns))
    found = blame(joined, 3600 * S, 7200 * S)
    assert found.majority.alike
    assert found.majority.effective == pytest.approx(5.0)
    expected = "not identifiable: these 3 jobs contribute alike (60% of the operations)"
    assert verdict(found) == expected
