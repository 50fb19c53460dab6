"""Which job is meant, and which of its runs: what a help desk types."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from iosonde.engine.files import csv_text
from iosonde.jobs.store.jobs import write_jobs
from iosonde.model.jobs import Job, Scalar
from tests.kit.commands import run

S = 1_000_000_000
START = 1_790_000_000 * S
RATES = {"ior": 5e9, "vpic": 2e9, "hacc": 8e9}


def one(day: int, job_id: str, step: str, app: str, slower: float) -> Job:
    full = 90.0 if slower > 1 else 50.0 + day % 5
    start = START + day * 86_400 * S
    return Job(
        source="t",
        job_id=job_id,
        step=step,
        app=app,
        mode="fpp",
        direction="write",
        file_system="/work",
        start_ns=start,
        end_ns=start + 100 * S,
        scalars={
            "performance_bytes_per_s": Scalar(
                RATES[app] * (1 + 0.01 * (day % 7)) / slower, "bytes/s", "t"
            ),
            "fullest_ost_percent": Scalar(full, "percent", "t"),
            "room_temperature": Scalar(20.0 + day % 3, "", "t"),
        },
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 days of three programs, and a job that ran all of them: two were slow, one much more."""
    root = tmp_path_factory.mktemp("store")
    history = [one(day, f"{day + 100}.server", app, app, 1.0) for day in range(20) for app in RATES]
    several = [
        one(30, "98765.cluster", str(n), app, slower)
        for n, (app, slower) in enumerate([("ior", 1.5), ("vpic", 1.0), ("hacc", 3.0)])
    ]
    alone = one(31, "4711", "", "ior", 2.0)
    write_jobs(root, [*history, *several, alone])
    return root


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, store: Path) -> tuple[str, str]:
    assert run(*arguments, store=store) == 0
    return capsys.readouterr()


def test_of_several_runs_each_has_a_line_worst_first(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = asked(capsys, "explain", "--job", "98765.cluster", store=store)
    lines = out.splitlines()
    assert [line.partition("  ")[0] for line in lines[:3]] == ["2", "0", "1"]
    for line, said in zip(lines, ("6.% slower", "3.% slower", "as fast as usual"), strict=False):
        assert re.search(said, line)
    assert lines[3:] == ["", "--step 2 shows what stood out in that run, and its diagram"]
    whole, _ = asked(capsys, "explain", "--job", "98765.cluster", "--step", "2", store=store)
    assert lines[0] == f"2  {whole.splitlines()[0]}"
    assert "◆ the job" in whole


def test_several_runs_as_json(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = ("explain", "--job", "98765.cluster", "--format", "json")
    data = json.loads(asked(capsys, *several, store=store)[0])
    assert (data["job_id"], data["left_out"]) == ("98765.cluster", 0)
    assert [(run["run"], run["verdict"]) for run in data["runs"]] == [
        ("2", "slow"),
        ("0", "slow"),
        ("1", "as usual"),
    ]
    single = json.loads(asked(capsys, *several, "--step", "2", store=store)[0])
    assert single.pop("meanwhile") is None
    assert {"run": "2", **single} == data["runs"][0]
    path = tmp_path / "job.json"
    out, err = asked(capsys, *several, "-o", str(path), store=store)
    assert (out, err) == ("", f"wrote {path}\n")
    assert json.loads(path.read_text()) == data
    assert run("explain", "--job", "98765.cluster", "--plot", "x.png", store=store) == 2
    assert "has 3 runs; expected a step: #1 (" in capsys.readouterr().err


def test_of_very_many_runs_the_slowest_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [one(n, "many", str(n), "ior", 1 + n / 10) for n in range(40)]
    write_jobs(tmp_path, runs)
    out, _ = asked(capsys, "explain", "--job", "many", store=tmp_path)
    lines = out.splitlines()
    assert lines[30] == "and 10 more, nearer to the best of their kind"
    assert {int(line.split()[0]) for line in lines[:30]} == set(range(10, 40))


@pytest.mark.parametrize("command", ["explain", "explain --diagram"])
def test_a_word_that_is_no_file_is_the_job(
    command: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    plain, _ = asked(capsys, *command.split(), "--job", "4711", store=store)
    out, err = asked(capsys, *command.split(), "4711", store=store)
    assert out == plain
    assert err == "note: reading 4711 as a job ID\n"
    assert run(*command.split(), "jobs.csv", store=store) == 2
    noted, error = capsys.readouterr().err.splitlines()
    assert noted == "note: reading jobs.csv as a job ID"
    assert error.startswith("iosonde: there is no job 'jobs.csv' in ")
    Path("4711").write_text("x\n")
    for words in (["4711"], ["a/4711"], ["4711", "4712"], ["4712", "--mapping", "x.toml"], []):
        assert run(*command.split(), *words, store=store) == 2
        assert "the job is missing; expected --job ID" in capsys.readouterr().err
    assert run(*command.split(), "n" * 300, store=store) == 2
    assert "there is no job" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain", "explain --diagram"])
@pytest.mark.parametrize("part", ["98765", "987", "765.cluster"])
def test_a_part_of_an_id_that_only_one_has_will_do(
    command: str, part: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, _ = asked(capsys, *command.split(), "--job", "98765.cluster", "--step", "2", store=store)
    out, err = asked(capsys, *command.split(), "--job", part, "--step", "2", store=store)
    assert out == plain
    assert (
        f"note: there is no job {part}: 98765.cluster is the only one that begins or ends so" in err
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("server", "20 begin or end so; expected 100.server, 101.server, 102.server, ...; try "),
        ("server", "'iosonde jobs --search server'"),
        ("98", "'iosonde jobs --search 98'"),
        ("8765", "there is no job '8765'"),
        ("", "there is no job ''"),
        ("4712", "an id such as 4711; try 'iosonde jobs', or 'iosonde import'"),
        ("4712", "its 22 jobs are from t and began 2026-09-21 to 2026-10-22"),
    ],
)
def test_a_job_that_is_not_there_says_how_to_find_it(
    part: str, said: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("explain", "--job", part, store=store) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_what_is_for_experts_is_told_on_demand(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [one(n, str(n), "", "ior", 1.0 + (n % 4 == 3)) for n in range(40)]
    write_jobs(tmp_path, made)
    out, err = asked(capsys, "explain", "--job", "39", store=tmp_path)
    assert "performance goes with" not in out
    assert err == ""
    wordy, err = asked(capsys, "explain", "--job", "39", "-v", store=tmp_path)
    added = [line for line in wordy.splitlines() if line not in out.splitlines()]
    assert len(added) == 1
    assert added[0].startswith(
        "  - over 39 runs of its kind performance goes with fullest OST (lower"
    )
    assert err.startswith("note: 1 column without a description is not judged: room_temp")
    data, _ = asked(capsys, "explain", "--job", "39", "--format", "json", store=tmp_path)
    known = json.loads(data)
    assert known["history"] == added[0].removeprefix("  - ")
    assert "without a description" in known["notes"][0]


@pytest.mark.parametrize("ending", ["json", "csv"])
@pytest.mark.parametrize("command", ["jobs", "climate", "explain --diagram", "correlate"])
def test_what_was_written_is_told(
    command: str, ending: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"out.{ending}"
    job = ("--job", "4711") if "--diagram" in command else ()
    out, err = asked(capsys, *command.split(), *job, "-o", str(path), store=store)
    assert out == ""
    assert f"wrote {path}" in err.splitlines()
    assert path.exists()


def test_rows_as_csv_leave_out_what_is_not_asked_for() -> None:
    rows = [{"a": 'x,"y"', "b": True, "c": None, "d": 1.5}, {"a": "", "b": False, "c": 2}]
    assert csv_text(rows, ["b", "a", "c"]) == 'b,a,c\ntrue,"x,""y""",\nfalse,,2\n'
    assert csv_text([], ["a", "b"]) == "a,b\n"
