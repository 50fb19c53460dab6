"""User, account, name, nodes and ranks of a run stand in the table of jobs, whoever recorded them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.table import read_table
from iosonde.jobs.table.from_files import load_tables, mappings, merged
from iosonde.model.jobs import LABELS, SIZES, Job, Scalar
from tests.jobs.test_metrics_store import START, S

RATE = {"performance_bytes_per_s": Scalar(1e9, "bytes/s", "darshan")}
RUN = Job(
    source="darshan", job_id="7", start_ns=START + 100 * S, end_ns=START + 200 * S, scalars=RATE
)
WHOLE = Job(
    source="sacct",
    job_id="7",
    user="ann",
    account="phys",
    name="relax",
    nodes=2,
    node_names=("n1", "n2"),
    start_ns=START + 90 * S,
    end_ns=START + 210 * S,
    state="COMPLETED",
)
BATCH = replace(WHOLE, step="batch", name="batch", nodes=1, node_names=("n1",), ranks=1)
STEP = replace(WHOLE, step="0", name="a.out", ranks=64)


def facts(root, *jobs: Job) -> dict[str, object]:
    write_jobs(root, jobs)
    table = read_table(root)
    assert len(table) == sum(bool(job.scalars) for job in jobs)
    row = int(np.flatnonzero(table.start_ns == RUN.start_ns)[0])
    found: dict[str, object] = {name: table.label(name)[row] for name in LABELS}
    return found | {name: table.size(name)[row] for name in SIZES}


def test_a_run_gets_what_the_scheduler_says(tmp_path) -> None:
    assert facts(tmp_path, RUN, BATCH, STEP, WHOLE) == {
        "user": "ann",
        "account": "phys",
        "name": "relax",
        "node_names": "n1,n2",
        "state": "COMPLETED",
        "raw_id": "",
        "system": "",
        "nodes": 2.0,
        "ranks": 64.0,
    }


def test_what_the_run_says_itself_stays_but_a_name_beats_the_number_of_a_user(tmp_path) -> None:
    own = replace(RUN, user="1000", ranks=128, name="vpic")
    found = facts(tmp_path, own, STEP, WHOLE)
    assert (found["user"], found["ranks"], found["name"]) == ("ann", 128.0, "vpic")


def test_a_run_of_a_task_has_its_id_as_users_write_it(tmp_path) -> None:
    assert facts(tmp_path, RUN, replace(WHOLE, shown_id="6_1"))["raw_id"] == "7"
    assert read_table(tmp_path).job_id.tolist() == ["6_1"]


def test_nothing_said_is_missing(tmp_path) -> None:
    found = facts(tmp_path, RUN)
    assert {found[name] for name in LABELS} == {""}
    assert all(np.isnan(found[name]) for name in SIZES)
    table = read_table(tmp_path)
    assert (table.labels, table.sizes) == ({}, {})


@pytest.mark.parametrize(
    "other",
    [
        replace(WHOLE, start_ns=START - 9000 * S, end_ns=START - 8000 * S),  # the id came back
        replace(WHOLE, start_ns=START + 9000 * S, end_ns=None, state="RUNNING"),
        replace(WHOLE, system="elsewhere"),
        replace(WHOLE, job_id="77"),
        replace(WHOLE, start_ns=None, end_ns=None),
    ],
)
def test_a_record_of_another_job_says_nothing(tmp_path, other: Job) -> None:
    run = replace(RUN, system="here")
    assert facts(tmp_path, run, other)["user"] == ""


def test_of_a_requeued_job_the_run_of_that_time_counts(tmp_path) -> None:
    first = replace(WHOLE, start_ns=START, end_ns=START + 50 * S, name="first", state="NODE_FAIL")
    later = replace(
        WHOLE, start_ns=START + 5000 * S, end_ns=None, name="later", state="RUNNING", nodes=4
    )
    found = facts(tmp_path, RUN, first, later, WHOLE)
    assert (found["name"], found["state"], found["nodes"]) == ("relax", "COMPLETED", 2.0)


def test_of_a_job_that_runs_the_end_is_open(tmp_path) -> None:
    assert facts(tmp_path, RUN, replace(WHOLE, end_ns=None, state="RUNNING"))["state"] == "RUNNING"


def test_only_the_batch_step_says_no_size(tmp_path) -> None:
    found = facts(tmp_path, RUN, BATCH)
    assert found["user"] == "ann"
    assert np.isnan([found["nodes"], found["ranks"]]).all()


def test_another_run_of_the_same_job_lends_nothing(tmp_path) -> None:
    other = replace(RUN, step="other", start_ns=START + 110 * S, ranks=8, name="other")
    assert np.isnan(facts(tmp_path, RUN, other)["ranks"])


def test_of_two_clusters_with_one_id_each_keeps_its_own(tmp_path) -> None:
    a, b = (replace(WHOLE, system=name, user=name) for name in ("a", "b"))
    write_jobs(tmp_path, [a, replace(b, start_ns=START + 91 * S)])
    assert facts(tmp_path, replace(RUN, system="b"))["user"] == "b"


def test_a_table_says_them_by_its_columns_or_by_a_mapping(tmp_path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(
        "job_id,start_ns,end_ns,user,nodes,performance\n"
        f"1,{START},{START + S},ann,2,1.5\n2,{START + S},{START + 2 * S},,0,2\n"
    )
    mapped = tmp_path / "mapped.csv"
    mapped.write_text(f"id,who,np,t,speed\n3,bob,512,{START // S + 9},1.5\n")
    site = tmp_path / "site.toml"
    site.write_text(
        '[job]\njob_id = "id"\nuser = "who"\nranks = "np"\nbegin = { column = "t", unit = "s" }\n'
        '[metrics]\nperformance_bytes_per_s = { column = "speed" }\n'
    )
    settings = Settings(system="fs", zone=None)
    tables = [
        loaded.table
        for path, given in ((own, []), (mapped, [site]))
        for loaded in load_tables([path], mappings(given), settings, print)
    ]
    whole = merged(tables)
    assert whole.label("user").tolist() == ["ann", "", "bob"]
    np.testing.assert_equal(whole.size("nodes"), [2.0, np.nan, np.nan])
    np.testing.assert_equal(whole.size("ranks"), [np.nan, np.nan, 512.0])
    assert whole.take([2]).label("user").tolist() == ["bob"]


def test_a_column_of_texts_is_no_size(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"job_id,start_ns,nodes\n1,{START},n1\n")
    (loaded,) = load_tables([path], [], Settings(system="fs", zone=None), print)
    assert loaded.table.sizes == {}
    assert "nodes: no numbers" in " ".join(map(str, loaded.notes))
