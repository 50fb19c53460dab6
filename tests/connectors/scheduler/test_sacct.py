"""sacct in its forms: jobs and steps, node lists, naive times, names with the delimiter in them."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.scheduler import sacct
from iosonde.connectors.scheduler.job_fields import size_bytes
from iosonde.connectors.scheduler.node_list import expand
from iosonde.connectors.source import head_of
from iosonde.model.jobs import Job
from iosonde.model.units import parse_time
from tests.kit.records.connected import Out, survives, take
from tests.kit.samples.latencies import real

LA = ZoneInfo("America/Los_Angeles")
HEAD = "JobID|JobIDRaw|User|JobName|State|ExitCode|Start|End|NNodes|NodeList"


def rows(path: Path, *lines: str, head: str = HEAD) -> Path:
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def row(**said: str) -> str:
    fields = {
        "JobID": "1", "JobIDRaw": "1", "User": "u", "JobName": "n", "State": "COMPLETED", "ExitCode": "0:0",
        "Start": "2026-01-02T03:00:00", "End": "2026-01-02T03:01:00", "NNodes": "2", "NodeList": "n[1-2]",
    }  # fmt: skip
    return "|".join({**fields, **said}[name] for name in HEAD.split("|"))


def one(out: Out) -> Job:
    (job,) = out.jobs
    return job


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nid0[0001-0004,7]", "nid00001 nid00002 nid00003 nid00004 nid07"),
        (
            "u[001-003,010],n[1,3-4]-ib[0-1]",
            "u001 u002 u003 u010 n1-ib0 n1-ib1 n3-ib0 n3-ib1 n4-ib0 n4-ib1",
        ),
        ("a,b,a", "a b"),
        ("n[08-11]", "n08 n09 n10 n11"),
        ("r[1-2]c[1-2]n[0-1]", "r1c1n0 r1c1n1 r1c2n0 r1c2n1 r2c1n0 r2c1n1 r2c2n0 r2c2n1"),
        ("None assigned", ""),
        ("(null)", ""),
        ("", ""),
    ],
)
def test_node_lists(text: str, names: str) -> None:
    assert expand(text) == tuple(names.split())


@pytest.mark.parametrize(
    "text",
    [
        "n[1-999999999999]",
        "n[0-9]" * 9,
        "n[2-1]",
        "n[",
        "n]",
        "n[[1]]",
        "n[a-b]",
        "n[]",
        "n[1-]",
        ",",
        "a,,b",
        "a b",
    ],
)
def test_node_lists_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        expand(text)


@given(st.integers(0, 900), st.integers(0, 99), st.integers(1, 6))
def test_a_range_has_as_many_nodes_as_it_says(first: int, more: int, digits: int) -> None:
    text = f"n[{str(first).zfill(digits)}-{first + more}]"
    names = expand(text)
    assert len(names) == more + 1
    assert [int(name[1:]) for name in names] == list(range(first, first + more + 1))
    assert all(len(name) >= digits + 1 for name in names)


def test_a_job(tmp_path: Path) -> None:
    path = rows(tmp_path / "a", row(JobIDRaw="77", JobID="5_1"))
    assert sacct.recognises(head_of(path))
    job = one(take(sacct, path, zone=ZoneInfo("UTC"), system="c"))
    assert (job.job_id, job.step, job.user, job.system, job.state) == (
        "77",
        "",
        "u",
        "c",
        "COMPLETED",
    )
    assert (job.nodes, job.node_names) == (2, ("n1", "n2"))
    assert job.start_ns == parse_time("2026-01-02T03:00:00Z", 0)
    assert job.scalars["duration_s"].value == 60
    assert job.scalars["duration_s"].flags == ("naive-time",)


@pytest.mark.parametrize("delimiter", ["|", "\x1f", ";", "::"])
@pytest.mark.parametrize("tail", [False, True])
def test_delimiters(tmp_path: Path, delimiter: str, tail: bool) -> None:
    end = delimiter if tail else ""
    lines = [
        line.replace("|", delimiter) + end for line in (HEAD, row(JobName="a|b"), row(JobIDRaw="2"))
    ]
    path = rows(tmp_path / "a", *lines[1:], head=lines[0])
    assert sacct.recognises(head_of(path))
    out = take(sacct, path)
    assert not out.told
    assert [job.job_id for job in out.jobs] == ["1", "2"]
    assert out.jobs[0].name == (delimiter.join("ab") if delimiter == "|" else f"a{delimiter}b")
    assert out.jobs[0].node_names == ("n1", "n2")


def test_columns_of_fixed_width(tmp_path: Path) -> None:
    text = (
        "       JobID    JobName      State               Start                 End    NodeList \n"
        "------------ ---------- ---------- ------------------- ------------------- ----------- \n"
        "7              long na+  COMPLETED 2026-01-02T03:00:00 2026-01-02T03:01:00    n[1-3]   \n"
        "7.batch           batch CANCELLED+ 2026-01-02T03:00:00             Unknown n[1-3,5-7,+ \n"
    )
    path = tmp_path / "a"
    path.write_text(text)
    assert sacct.recognises(head_of(path))
    out = take(sacct, path)
    assert not out.told
    whole, batch = out.jobs
    assert (whole.name, whole.nodes, whole.step) == ("long na+", 3, "")
    assert (batch.step, batch.state, batch.end_ns, batch.node_names) == (
        "batch",
        "CANCELLED",
        None,
        (),
    )


def test_steps_know_whose_they_are(tmp_path: Path) -> None:
    steps = [row(JobIDRaw=f"1.{name}", User="") for name in ("batch", "extern", "0")]
    out = take(sacct, rows(tmp_path / "a", row(), *steps))
    assert [(job.step, job.user) for job in out.jobs] == [
        ("", "u"), ("batch", "u"), ("extern", "u"), ("0", "u"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ({"End": "Unknown"}, True, False),
        ({"Start": "None", "End": "2026-01-02T03:01:00"}, False, True),
        ({"Start": "Unknown", "End": "Unknown", "NodeList": "None assigned"}, False, False),
        ({"Start": "1767322800", "End": "1767322860"}, True, True),
    ],
)
def test_times_that_are_not_known(
    tmp_path: Path, said: dict[str, str], start: bool, end: bool
) -> None:
    job = one(take(sacct, rows(tmp_path / "a", row(**said)), zone=ZoneInfo("UTC")))
    assert (job.start_ns is not None, job.end_ns is not None) == (start, end)
    span = job.scalars["duration_s"]
    assert (span.value is None) == ("missing" in span.flags) == (not (start and end))
    naive = (start and "T" in said.get("Start", "T")) or (end and "T" in said.get("End", "T"))
    assert ("naive-time" in span.flags) == naive


def test_clocks_set_back(tmp_path: Path) -> None:
    path = rows(tmp_path / "a", row(Start="2026-11-01T01:30:00", End="2026-11-01T01:10:00"))
    job = one(take(sacct, path, zone=LA))
    assert job.scalars["duration_s"].value == 40 * 60
    assert "ambiguous-time" in job.scalars["duration_s"].flags


def test_the_same_again_and_runs_of_one_job(tmp_path: Path) -> None:
    again = row(Start="2026-01-02T04:00:00", End="2026-01-02T05:00:00")
    out = take(sacct, rows(tmp_path / "a", row(State="REQUEUED"), again, again))
    assert [job.state for job in out.jobs] == ["REQUEUED", "COMPLETED"]
    assert "line 4" in out.told[0]
    assert "twice" in out.told[0]


def test_a_step_outside_its_job_has_another_clock(tmp_path: Path) -> None:
    step = row(JobIDRaw="1.0", End="2026-01-02T03:05:00")
    _, found = take(sacct, rows(tmp_path / "a", row(), step)).jobs
    assert "clock-skew" in found.scalars["duration_s"].flags


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"Start": "yesterday"}, "no time"),
        ({"Start": "nan"}, "no time"),
        ({"Start": "9" * 30}, "no time"),
        ({"End": "2020-01-01T00:00:00"}, "before it begins"),
        ({"JobIDRaw": "", "JobID": ""}, "job id"),
        ({"JobIDRaw": ".batch"}, "job id"),
    ],
)
def test_rows_that_are_no_good(tmp_path: Path, said: dict[str, str], what: str) -> None:
    out = take(sacct, rows(tmp_path / "a", row(**said), row(JobIDRaw="2")))
    assert [job.job_id for job in out.jobs] == ["2"]
    assert "line 2" in out.told[0]
    assert what in out.told[0]


def test_an_absurd_node_list_is_not_expanded(tmp_path: Path) -> None:
    out = take(sacct, rows(tmp_path / "a", row(NodeList="n[1-999999999]")))
    assert one(out).node_names == ()
    assert one(out).nodes == 2
    assert "more than" in out.told[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [("3232K", 3232 * 1024), ("0.06M", 0.06 * 2**20), ("4Gn", 2**32), ("2000Mc", 2000 * 2**20),
     ("17", 17), ("", None), ("nan", None), ("1e9", None), ("-4K", None)],
)  # fmt: skip
def test_sizes(text: str, value: float | None) -> None:
    assert size_bytes(text) == value


@pytest.mark.parametrize(
    "text", ["", "a b c\n1 2 3\n", "JobID\n1\n", "time,runtime\n1,2\n", "\x00" * 900]
)
def test_other_files_are_not_its(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    assert not sacct.recognises(head_of(path))
    assert take(sacct, path).ended is not None


def test_real_jobs() -> None:
    path = real("nfs/sacct_P_X.txt")
    assert sacct.recognises(head_of(path))
    out = take(sacct, path, zone=ZoneInfo("UTC"))
    assert not out.told
    jobs = {job.job_id: job for job in out.jobs}
    assert len(jobs) == 11
    assert (jobs["2"].name, jobs["2"].state) == ("pos tproc|x", "COMPLETED")
    assert jobs["4"].node_names == ("u002", "u003", "u004")
    assert jobs["4"].start_ns == 1_795_259_967_000_000_000
    assert (jobs["9"].nodes, jobs["9"].node_names, jobs["11"].state) == (4, (), "CANCELLED")


def test_real_runs_of_a_requeued_job() -> None:
    out = take(sacct, real("nfs/sacct_P_X_D_requeue.txt"))
    assert [job.state for job in out.jobs if job.job_id == "13"] == ["REQUEUED", "COMPLETED"]


def test_real_steps() -> None:
    out = take(sacct, real("nfs/sacct_P_steps_D.txt"))
    assert not out.told
    batch = next(job for job in out.jobs if (job.job_id, job.step) == ("1", "batch"))
    assert batch.user == "root"
    assert batch.scalars["task_read_bytes"].value == 59909
    assert batch.scalars["mean_task_read_bytes"].value == pytest.approx(0.06 * 2**20)


def test_mutated(tmp_path: Path) -> None:
    lines = [row(JobIDRaw=str(n), NodeList=f"n[{n}-{n + 5},90]") for n in range(12)]
    survives(sacct, tmp_path / "a", "\n".join([HEAD, *lines]).encode(), 150)


def test_a_job_that_has_not_ended_has_no_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(
        "JobID|State|Start|End|ExitCode\n"
        "1|RUNNING|2026-03-01T10:00:00|Unknown|0:0\n2|FAILED|2026-03-01T10:00:00|2026-03-01T10:01:00|2:0\n"
    )
    running, failed = take(sacct, path).jobs
    assert "exit_code" not in running.scalars
    assert failed.scalars["exit_code"].value == 2
