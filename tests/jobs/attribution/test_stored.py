"""Nodes' operations and allocations out of a store: what was written there is what is divided."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.jobs.attribution.shares import shares
from iosonde.jobs.attribution.stored import RecordChoice, stored, stored_load
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.series import write_block
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.jobs import Job
from iosonde.model.metrics import MetricBlock

S = 1_000_000_000
BEGIN = 1_788_220_800 * S
HOUR = 3600 * S
STEPS = 240


def block(
    values, components, *, metric="read_ops", source="collectl", system="", level="client",
    begin=BEGIN, step_s=30,
):  # fmt: skip
    value = np.asarray(values, dtype=np.float64)
    time = begin + step_s * S * np.arange(len(value), dtype=np.int64)
    step = np.full(len(value), step_s * S)
    return MetricBlock(
        source, system, level, metric, "operations", "delta", tuple(components), time, step, value
    )


def job(name, nodes, begin=BEGIN, end=BEGIN + 2 * HOUR, **more):
    fields = {"source": "sacct", "user": f"u{name}", "account": "a", "state": "COMPLETED"} | more
    return Job(job_id=name, node_names=nodes, start_ns=begin, end_ns=end, **fields)


def done(found):
    return {one.who: one.ops for one in found.ranked}


def ask(root, **more):
    return stored(root, BEGIN, BEGIN + 2 * HOUR, now_ns=BEGIN + 3 * HOUR, **more)


def test_operations_of_a_node_are_those_of_its_job(tmp_path):
    rng = np.random.default_rng(1)
    reads, writes = rng.poisson(50, (STEPS, 2)), rng.poisson(9, (STEPS, 2))
    write_block(tmp_path, block(reads, ("n1.site.org", "n2.site.org")))
    write_block(tmp_path, block(writes, ("n1.site.org", "n2.site.org"), metric="write_ops"))
    write_jobs(tmp_path, [job("7", ("n1",)), job("8", ("n2",))])
    joined = ask(tmp_path)
    total = (reads + writes).sum(axis=0)
    assert joined.recorded.grid.step_ns == 30 * S
    found = shares(joined)
    assert found.total == pytest.approx(total.sum())
    assert found.covered == pytest.approx(1.0)
    parts = done(found)
    assert parts["7"] + parts["8"] + found.nobody == pytest.approx(total.sum())
    assert parts["8"] == pytest.approx(total[1], rel=0.05)


def test_clocks_of_nodes_may_differ_and_days_may_change(tmp_path):
    late = BEGIN + 23 * HOUR + 7 * S
    values = np.full((STEPS, 1), 60.0)
    write_block(tmp_path, block(values, ("n1",), begin=late))
    write_block(tmp_path, block(values, ("n2",), begin=late + 11 * S))
    write_jobs(tmp_path, [job("7", ("n1", "n2"), late, late + 2 * HOUR)])
    joined = stored(tmp_path, late, late + HOUR, now_ns=late + 9 * HOUR)
    assert joined.recorded.ops.sum() == pytest.approx(2 * values.sum(), rel=1e-5)
    inner = joined.recorded.covered[:, 2:-2]
    assert inner == pytest.approx(1.0, abs=1e-5)


def test_two_sources_of_a_node_count_once_and_fill_each_other(tmp_path):
    values = np.full((STEPS, 1), 100.0)
    gap = values.copy()
    gap[60:120] = np.nan
    write_block(tmp_path, block(gap, ("n1",)))
    short = block(values[:150], ("n1:9100",), source="prometheus", system="server:/work")
    write_block(tmp_path, short)
    write_jobs(tmp_path, [job("7", ("n1",))])
    found = shares(ask(tmp_path))
    assert found.total == pytest.approx(values.sum())
    assert found.covered == pytest.approx(1.0)


def test_file_systems_of_a_node_add_up_and_can_be_chosen(tmp_path):
    values = np.full((STEPS, 1), 10.0)
    for system in ("srv:/home", "srv:/work"):
        write_block(tmp_path, block(values, ("n1",), source="mountstats", system=system))
    write_jobs(tmp_path, [job("7", ("n1",))])
    assert shares(ask(tmp_path)).total == pytest.approx(2 * values.sum())
    one = ask(tmp_path, choice=RecordChoice(systems=("srv:/work",)))
    assert shares(one).total == pytest.approx(values.sum())


def test_what_is_missing_is_not_zero(tmp_path):
    reads = np.full((STEPS, 1), 30.0)
    writes = reads.copy()
    writes[:120] = np.nan
    write_block(tmp_path, block(reads, ("n1",)))
    write_block(tmp_path, block(writes, ("n1",), metric="write_ops"))
    write_jobs(tmp_path, [job("7", ("n1",))])
    found = shares(ask(tmp_path))
    assert found.covered == pytest.approx(0.5)
    assert found.total == pytest.approx(60 * 120)


def test_metrics_with_other_steps_add_up(tmp_path):
    reads = np.full((STEPS, 2), 30.0)
    writes = np.full((STEPS // 2, 1), 8.0)
    write_block(tmp_path, block(reads, ("n1", "n2")))
    write_block(tmp_path, block(writes, ("n1",), metric="write_ops", step_s=60))
    write_jobs(tmp_path, [job("7", ("n1", "n2"))])
    joined = ask(tmp_path)
    assert joined.recorded.ops.sum(axis=1) == pytest.approx([30 * 240 + 8 * 120, 30 * 240])
    assert joined.recorded.covered.min() == pytest.approx(1.0)


def test_counters_of_jobs_need_no_division(tmp_path):
    """Both had the same node; Lustre says itself who did what, over several servers."""
    values = np.full((STEPS, 2), 5.0)
    values[:, 1] = 500.0
    values[:60, 1] = np.nan
    for server in ("fs-OST0000", "fs-OST0001"):
        names = (f"7@{server}", f"8@{server}")
        write_block(tmp_path, block(values, names, source="prometheus", system="fs", level="job"))
    write_block(tmp_path, block(np.full((STEPS, 1), 999.0), ("n1",), system="fs"))
    write_jobs(tmp_path, [job("7", ("n1",)), job("8", ("n1",), account="b")])
    joined = ask(tmp_path)
    found = shares(joined)
    assert done(found) == pytest.approx({"8": 2 * 500 * 180, "7": 2 * 5 * 240})
    assert found.nobody == pytest.approx(0.0)
    assert found.covered == pytest.approx(1.0)
    assert done(shares(joined, by="account"))["b"] == pytest.approx(2 * 500 * 180)
    nodes = ask(tmp_path, choice=RecordChoice(per_job=False))
    assert shares(nodes).total == pytest.approx(999 * 240)


def test_a_process_name_has_its_user(tmp_path):
    values = np.full((STEPS, 1), 5.0)
    write_block(tmp_path, block(values, ("cp.1000",), source="jobstats", system="fs", level="job"))
    joined = ask(tmp_path)
    assert done(shares(joined, by="user")) == pytest.approx({"uid 1000": 5 * 240})


def test_a_run_that_two_schedulers_records_have_counts_once(tmp_path):
    write_block(tmp_path, block(np.full((STEPS, 1), 5.0), ("n1",)))
    write_jobs(
        tmp_path,
        [
            job("7", ("n1",), system="c1"),
            job("7", ("n1",), BEGIN + S, source="jobcomp"),
            job("7", (), source="darshan", step="#1"),
        ],
    )
    assert len(ask(tmp_path).allocations) == 1


def test_what_lacks_records_is_said(tmp_path):
    write_block(tmp_path, block(np.full((STEPS, 1), 5.0), ("n1",)))
    write_jobs(tmp_path, [job("7", ("n1", "n2", "n3"))])
    found = stored_load(tmp_path, BEGIN, BEGIN + HOUR, now_ns=BEGIN + 3 * HOUR)
    assert found.without == ("n2", "n3")
    assert found.sources == ("collectl",)


def test_errors_say_what_is_missing(tmp_path):
    write_jobs(tmp_path, [job("7", ("n1",))])
    with pytest.raises(
        NothingMeasuredError, match=r"no operations of nodes or jobs .* try 'iosonde import"
    ):
        ask(tmp_path)
    values = np.full((STEPS, 1), 5.0)
    write_block(tmp_path, block(values, ("/work",), source="mountstats", system="srv:/work"))
    with pytest.raises(
        NothingMeasuredError, match="1 series name a mount or an export, and no node"
    ):
        ask(tmp_path)
    write_block(tmp_path, block(values, ("x1",)))
    with pytest.raises(NothingMeasuredError, match="jobs name n1, records x1"):
        ask(tmp_path)
    with pytest.raises(NothingMeasuredError, match="records end before it"):
        stored(tmp_path, BEGIN + 4 * HOUR, BEGIN + 5 * HOUR, now_ns=BEGIN + 6 * HOUR)


def test_nodes_without_jobs_are_an_error(tmp_path):
    write_block(tmp_path, block(np.full((STEPS, 1), 5.0), ("n1",)))
    with pytest.raises(NothingMeasuredError, match="1 nodes and no job with nodes"):
        ask(tmp_path)
