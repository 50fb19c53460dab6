"""A site without Darshan: sacct is imported, a probe watched /work, and the help desk asks for a job."""

from __future__ import annotations

import json
import re
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from iosonde.jobs.scheduled.text import WIDTH
from iosonde.jobs.store.jobs import write_jobs
from iosonde.model.jobs import Job, Scalar
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, probed

BEGIN = datetime(2026, 9, 22, tzinfo=UTC)
"""A Tuesday; the probe runs from here on for twelve hours."""
HOUR, MINUTE = 3_600, 60
SLOW = (6 * HOUR, 6 * HOUR + 41 * MINUTE)
GAP = (9 * HOUR, 10 * HOUR)
DOC = Path(__file__).parents[3] / "docs" / "jobs.md"


def line(job: str, begin_s: float, end_s: float | None, **changes: str) -> str:
    known = {"user": "ann", "state": "COMPLETED", "nodes": "n[001-002]", "name": "relax"} | changes
    start, end = (
        "Unknown" if one is None else (BEGIN + timedelta(seconds=one)).strftime("%Y-%m-%dT%H:%M:%S")
        for one in (begin_s, end_s)
    )
    return (
        f"{job}|{job}|{known['user']}|phys|{known['name']}|{known['state']}"
        f"|{start}|{end}|2|{known['nodes']}"
    )


SACCT = "\n".join(
    [
        "JobID|JobIDRaw|User|Account|JobName|State|Start|End|NNodes|NodeList",
        *(line(str(4000 + n), -n * HOUR, -n * HOUR + 1800 + 60 * n) for n in range(1, 25)),
        line("4711", 5 * HOUR, 11 * HOUR),
        line("4712", 4 * HOUR, 5.5 * HOUR),
        line("4713", 11 * HOUR, None, state="RUNNING"),
        line("4714", 13 * HOUR, 14 * HOUR),
        line("4715", 5 * HOUR, None, state="NODE_FAIL", name="a|b\x1b[31m"),
        line("4720", 5 * HOUR, 5.5 * HOUR, state="REQUEUED"),
        line("4720", 5.5 * HOUR, 8 * HOUR),
        "",
    ]
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("scheduled")
    rng = np.random.default_rng(5)
    service = 1e-3 * np.exp(0.3 * rng.standard_normal(12 * HOUR))
    service[slice(*SLOW)] *= 3.6
    service[slice(*GAP)] = np.nan
    probed(root / "store", service, int(BEGIN.timestamp()) * SECOND)
    quiet = 2e-3 * np.exp(0.3 * rng.standard_normal(12 * HOUR))
    start = int(BEGIN.timestamp()) * SECOND
    probed(root / "store", quiet, start, op="data_read", target="/home")
    (root / "sacct.txt").write_text(SACCT)
    assert run("import", str(root / "sacct.txt"), store=root / "store") == 0
    return root / "store"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def asked(store: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run("explain", "--job", *arguments, store=store) == 0
    return capsys.readouterr().out


def data(store: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    found = json.loads(asked(store, capsys, *arguments, "--format", "json"))
    assert isinstance(found, dict)
    return found


def test_the_sentence_says_how_slow_storage_was_for_how_long_and_what_nobody_knows(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = asked(store, capsys, "4711")
    first = out.splitlines()[0]
    assert re.fullmatch(
        r"job 4711: /work was at least 3x slow for 4[0-2] min of its 6 h, creates most; "
        r"not known for 60 min of it",
        first,
    )
    assert "relax of ann (account phys), 2 nodes" in out
    assert "/work is unknown for 60 min: 60 min no probe ran" in out
    assert "/home: no slow stretch in 6 h" in out
    assert re.search(r"creates on /work were 3\.\dx slower than usual", out)
    assert "it took 6 h, longer than all 25 earlier runs on 2 nodes (median 43 min)" in out


def test_json_says_the_same_in_numbers(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(store, capsys, "4711")
    work, home = found["storage"]
    assert (work["target"], home["target"]) == ("/work", "/home")
    assert work["slow_s"] + work["clear_s"] + work["unknown_s"] == found["run_s"] == 6 * HOUR
    truth = SLOW[1] - SLOW[0]
    assert work["at"][0]["least_s"] <= truth <= work["at"][0]["most_s"]
    assert abs(work["slow_s"] - truth) <= MINUTE
    assert abs(work["unprobed_s"] - (GAP[1] - GAP[0])) <= 2 * MINUTE
    assert (home["slow_s"], home["ops"]) == (0.0, [])
    assert found["run_time"]["n"] == 25
    assert found["own_io"] is None
    assert [one["kind"] for one in found["events"]] == ["slow"]
    assert (found["user"], found["node_names"]) == ("ann", ["n001", "n002"])


def test_every_key_of_the_json_is_documented(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(store, capsys, "4711")
    text = DOC.read_text()
    storage = found["storage"][0]
    parts = (found, storage, storage["at"][0], storage["ops"][0], found["run_time"])
    missing = {key for part in parts for key in part if f"`{key}`" not in text}
    assert not missing


def test_the_mail_is_plain_and_narrow(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for job in ("4711", "4712", "4715"):
        text = asked(store, capsys, job, "--format", "text")
        assert max(map(len, text.splitlines())) <= WIDTH
        assert text.replace("\n", "").isprintable()
    text = asked(store, capsys, "4711", "--format", "text")
    _, _, below = text.partition("\n\n")
    labels = [line.split("  ")[0] for line in below.splitlines() if line[:1].strip()]
    assert labels == ["Job", "Storage", "Events", "Run time"]


def test_every_sentence_is_short(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for job in ("4711", "4712", "4713", "4714", "4715", "4720"):
        found = data(store, capsys, job)
        mine = [
            one for one in found["details"] if one not in {e["sentence"] for e in found["events"]}
        ]
        assert all(len(text.split()) <= 25 for text in [found["sentence"], *mine])


def test_a_job_in_quiet_time_gets_no_claim(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(store, capsys, "4712")
    assert found["sentence"] == "job 4712: no slow stretch on /home and /work in its 90 min"


def test_an_event_that_is_told_below_is_told_in_the_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(8)
    service = 1e-3 * np.exp(0.3 * rng.standard_normal(8 * HOUR))
    service[6 * HOUR : 6 * HOUR + 1200 : 5] = (
        0.3  # a fifth of the operations: the typical one is as usual
    )
    probed(tmp_path, service, int(BEGIN.timestamp()) * SECOND)
    job = Job(source="slurm", job_id="5", state="COMPLETED", nodes=1)
    begin = int(BEGIN.timestamp() + 6 * HOUR - 120) * SECOND
    write_jobs(tmp_path, [replace(job, start_ns=begin, end_ns=begin + 1800 * SECOND)])
    found = data(tmp_path, capsys, "5")
    assert found["storage"][0]["slow_s"] == 0
    assert re.match(
        r"job 5: some creates on /work were slow for \d+ min of its 30 min", found["sentence"]
    )
    assert "some creates on /work were slow" in found["events"][0]["sentence"]


def test_a_running_job_is_explained_up_to_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = time.time_ns() - 600 * SECOND
    going = Job(source="slurm", job_id="5", user="ann", name="relax", state="RUNNING", nodes=1)
    write_jobs(tmp_path, [replace(going, start_ns=begin)])
    found = data(tmp_path, capsys, "5")
    assert found["going_on"]
    assert not found["stale"]
    assert found["run_s"] >= 600
    assert "so far" in found["sentence"]
    assert found["run_time"]["going_on"]


def test_a_running_job_of_old_records_is_explained_up_to_the_last_one(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(store, capsys, "4713")
    assert not found["going_on"]
    assert found["stale"]
    assert found["run_s"] == 3 * HOUR  # job 4714 ends then
    assert found["sentence"].startswith(
        "job 4713: storage unknown for 2 h of its 3 h until its last"
    )
    assert any("whether it still runs is not known" in line for line in found["details"])
    assert found["run_time"]["going_on"]


def test_a_job_that_nobody_probed_is_told_so(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(store, capsys, "4714")
    assert found["sentence"] == (
        "job 4714 ran 60 min; no probe judged /home and /work meanwhile, so storage is unknown"
    )
    assert [one["unprobed_s"] for one in found["storage"]] == [3600.0, 3600.0]


def test_an_end_that_nobody_wrote_is_no_end_of_the_answer(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = asked(store, capsys, "4715")
    assert out.startswith("job 4715 ended (NODE_FAIL), but no record has its end")
    assert "\x1b" not in out


def test_a_requeued_job_has_a_run_for_each(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last, first = data(store, capsys, "4720"), data(store, capsys, "4720", "--step", "#1")
    assert (last["run"], last["runs"], last["run_s"]) == (2, 2, 2.5 * HOUR)
    assert (first["run"], first["run_s"]) == (1, 0.5 * HOUR)
    assert last["storage"][0]["slow_s"] > 0 == first["storage"][0]["slow_s"]


def test_an_unknown_id_says_what_there_is(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "--job", "4717", store=store) == 2
    err = capsys.readouterr().err
    assert "there is no job '4717' in" in err
    assert "its 30 jobs are from sacct and began 2026-09-2" in err
    assert "an id such as 4017, 4711, 4712" in err
    assert "'iosonde import'" in err
    assert run("explain", "--job", "4711", "--plot", "x.svg", store=store) == 2
    assert "has no diagram" in capsys.readouterr().err


def test_the_list_says_who_ran_where_and_how_slow(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("jobs", "--limit", "3", "--node", "n002", store=store) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "job",
        "run",
        "user",
        "began",
        "kind",
        "state",
        "ran",
        "nodes",
        "slower",
    ]
    assert rows[0].split()[0] == "4714"
    assert run("jobs", "--slow", "--format", "json", store=store) == 0
    slow = json.loads(capsys.readouterr().out)["jobs"]
    assert slow[0]["job"] == "4711"
    ratios = [one["slowness"] for one in slow]
    assert ratios == sorted(ratios, reverse=True)
    assert min(ratios) >= 1.5
    assert {one["slowness_by"] for one in slow} == {"run time"}
    assert run("jobs", "--user", "bob", store=store) == 0
    assert capsys.readouterr().out == "No job matches.\n"


def test_a_job_with_a_rate_of_its_own_has_storage_run_time_and_counters_beside_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "store"
    shutil.copytree(store, root)
    begin = int(BEGIN.timestamp()) * SECOND + 5 * HOUR * SECOND
    rate = {"performance_bytes_per_s": Scalar(2e9, "bytes/s", "darshan")}
    counted = {"own_read_bytes": Scalar(5e12, "bytes", "jobstats")}
    log = Job(
        source="darshan", job_id="4711", app="relax", start_ns=begin + SECOND,
        end_ns=begin + 6 * HOUR * SECOND, scalars=rate, file_system="/work",
    )  # fmt: skip
    snapshot = Job(source="jobstats", job_id="4711", start_ns=begin + SECOND, scalars=counted)
    write_jobs(root, [log, snapshot])
    out = asked(root, capsys, "4711")
    assert out.startswith("job 4711 (relax on /work): 1.86 GiB/s; no other run of its kind")
    assert "  - /work was at least 3x slow for 41 min" in out
    assert "/home" not in out
    assert "  - it took 6 h, longer than all 25 earlier runs" in out
    assert "  - its own I/O, by its own counters (jobstats): 4.55 TiB read" in out
    beside = data(root, capsys, "4711")["meanwhile"]
    assert beside["own_io"]["read_bytes"] == 5e12
    assert [one["target"] for one in beside["storage"]] == ["/work"]
    text = asked(root, capsys, "4711", "--format", "text")
    assert "Counters  its own I/O" in text
    assert run("jobs", "--user", "ann", "--search", "relax", "--limit", "0", store=root) == 0
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("4711")]
    assert len(rows) == 1
    assert "1.86 GiB/s" in rows[0]
