"""Jobs of a scheduler as allocations: requeues, ends nobody knows, names with and without a domain."""

from __future__ import annotations

from iosonde.connectors.scheduler.node_list import expand
from iosonde.jobs.attribution.allocations import allocations_of, node_places
from iosonde.model.jobs import Job

S = 1_000_000_000
NODES = ("n001.site.org", "n002.site.org", "n007.site.org")


def job(job_id, begin, end, nodes="n[001-002]", **more):
    more.setdefault("state", "COMPLETED" if end else "RUNNING")
    return Job(
        source="sacct",
        job_id=job_id,
        start_ns=None if begin is None else begin * S,
        end_ns=None if end is None else end * S,
        node_names=expand(nodes),
        **more,
    )


def allocated(*jobs, now=10_000):
    return allocations_of(jobs, NODES, now * S)


def why(found):
    return {one.why: one.n for one in found.left_out}


def test_a_list_of_nodes_is_an_allocation_each():
    found = allocated(job("7", 100, 200, "n[001-002,007],login"))
    assert found.node.tolist() == [0, 1, 2]
    assert found.run.tolist() == [0, 0, 0]
    assert (found.begin_ns.tolist(), found.end_ns.tolist()) == ([100 * S], [200 * S])


def test_steps_are_part_of_their_job():
    assert len(allocated(job("7", 100, 200), job("7", 110, 120, step="0"))) == 1


def test_runs_of_a_requeued_job_count_each():
    found = allocated(job("7", 300, 400), job("7", 100, 150, state="REQUEUED"))
    assert found.begin_ns.tolist() == [100 * S, 300 * S]


def test_a_run_without_an_end_ends_when_its_job_begins_again():
    found = allocated(job("7", 100, None, state="REQUEUED"), job("7", 300, 400))
    assert found.end_ns.tolist() == [300 * S, 400 * S]
    assert not found.going_on.any()


def test_a_job_that_runs_goes_on_until_now():
    found = allocated(job("7", 100, None), now=500)
    assert (found.end_ns.tolist(), found.going_on.tolist()) == ([500 * S], [True])


def test_what_has_no_place_is_left_out_with_its_reason():
    found = allocated(
        job("1", None, None, state="PENDING"),
        job("2", 100, None, state="FAILED"),
        job("3", 100, 100),
        job("4", 100, 200, "login1"),
        job("5", 100, 200, "None assigned"),
    )
    assert len(found) == 0
    assert why(found) == {
        "not begun": 1,
        "unknown end": 1,
        "no time between begin and end": 1,
        "no node of it has records": 1,
        "no list of nodes": 1,
    }


def test_of_two_records_of_a_run_the_one_with_an_end_counts():
    for order in (1, -1):
        found = allocated(*[job("7", 100, None), job("7", 100, 200)][::order])
        assert found.end_ns.tolist() == [200 * S]
        assert why(found) == {"the same run twice": 1}


def test_names_match_with_or_without_the_domain_if_that_is_one_node():
    assert node_places(["N001", "n002.site.org", "n002.other.org"], NODES) == {
        "N001": 0,
        "n002.site.org": 1,
    }
    assert node_places(["n1"], ["n1.a", "n1.b"]) == {}
