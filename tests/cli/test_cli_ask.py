from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.cli.weather import check
from tests.kit.commands import ENVIRON, put, run
from tests.kit.hanging import hanging
from tests.kit.harness import wait_for
from tests.kit.samples.makers import SECOND, START, state, with_ops

SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
SLOW |= {"since_ns": START - 500 * SECOND, "q95_ns": 412_000_000}

pytestmark = pytest.mark.usefixtures("utc", "now")


def test_now_says_a_sentence_a_target_the_worst_first(tmp_path, capsys):
    put(tmp_path, a=state(target="/a"), b=with_ops(data_read=SLOW) | {"target": "/b"})
    assert run("now", store=tmp_path) == 0
    first, second, summary = capsys.readouterr().out.splitlines()
    assert summary == "2 targets: 1 slow, 1 as usual"
    assert first == (
        "slow    reads on /b are 3.1x slower than usual (2.8-3.4) since 14:05"
        "  (measured 0 s ago from login2)"
    )
    assert second.startswith("ok      /a is as usual")
    assert run("now", "/a", "-v", store=tmp_path) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_now_as_json_carries_the_numbers(tmp_path, capsys):
    put(tmp_path, b=with_ops(data_read=SLOW))
    assert run("now", "--format", "json", store=tmp_path) == 0
    (found,) = json.loads(capsys.readouterr().out)["targets"]
    assert (found["kind"], found["slowdown"], found["lower"]) == ("slow", 3.1, 2.8)
    assert found["sentence"].startswith("reads on /work")
    assert found["state"]["ops"][0]["q95_ns"] == 412_000_000


def test_now_without_probes_says_how_to_start_one(tmp_path, capsys):
    assert run("now", store=tmp_path) == 1
    assert "try 'iosonde probe DIR'" in capsys.readouterr().err


def test_an_unknown_target_names_the_known_ones(tmp_path, capsys):
    put(tmp_path, a=state(target="/a"))
    assert run("now", "/nope", store=tmp_path) == 2
    assert "expected one of /a" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("a_state", "extra", "code", "line"),
    [
        (state(), [], 0, "IOSONDE OK - /work is as usual"),
        (with_ops(data_read=SLOW), [], 1, "IOSONDE WARNING - reads on /work are 3.1x"),
        (with_ops(data_read=SLOW), ["-c", "~:3"], 2, "IOSONDE CRITICAL - reads"),
        (with_ops(data_read=SLOW), ["-w", "@3:4", "-c", "9"], 1, "IOSONDE WARNING - "),
        (state(written_ns=START - 60 * SECOND), [], 3, "IOSONDE UNKNOWN - no news of"),
        (state(), ["-c", "~:0.5"], 2, "IOSONDE CRITICAL - /work is as usual: "),
        (state(ops=[]), [], 3, "IOSONDE UNKNOWN - /work: still learning"),
        (state(), ["-w", "x"], 3, "IOSONDE UNKNOWN - check: argument -w/--warning: cannot read"),
        (state(), ["/nope"], 3, "IOSONDE UNKNOWN - no probe watches /nope"),
        (state(), ["--nope"], 3, "IOSONDE UNKNOWN - check: unrecognized arguments"),
        (state(), ["-w", "5", "-c", "2"], 3, "IOSONDE UNKNOWN - -w 5 warns above -c 2"),
    ],
)
def test_check_is_a_plugin(tmp_path, capsys, a_state, extra, code, line):
    put(tmp_path, work=a_state)
    assert run("check", *extra, store=tmp_path) == code
    captured = capsys.readouterr()
    assert captured.out.startswith(line)
    assert captured.err == ""


def test_check_says_that_a_limit_and_not_slowness_raised_it(tmp_path, capsys):
    put(tmp_path, work=state())
    assert run("check", "-c", "~:0.5", store=tmp_path) == 2
    assert capsys.readouterr().out.split(" | ")[0].endswith("; CRITICAL by -c ~:0.5")


def test_check_of_a_target_where_nothing_is_watched_says_how_to_start(tmp_path, capsys):
    assert run("check", "/work", store=tmp_path) == 3
    assert (
        capsys.readouterr().out
        == f"IOSONDE UNKNOWN - no states in {tmp_path}; try 'iosonde probe DIR'\n"
    )


def test_check_gives_performance_data(tmp_path, capsys):
    put(tmp_path, work=with_ops(data_read=SLOW, md_stat={"slowdown": None}))
    run("check", "-w", "2", "-c", "~:5", store=tmp_path)
    first = capsys.readouterr().out.splitlines()[0]
    text, _, data = first.partition(" | ")
    assert text
    assert data.split()[:2] == [
        "'work_data_read_slowdown'=3.1;2;~:5;0;",
        "'work_data_read_q95'=0.412s;;;0;",
    ]
    assert "'work_md_stat_slowdown'=U;2;~:5;0;" in data


def test_check_puts_the_worst_first_and_the_others_below(tmp_path, capsys):
    put(
        tmp_path,
        a=state(target="/a|b"),
        b=with_ops(data_read=SLOW) | {"target": "/b", "notes": ["buffered"]},
    )
    assert run("check", "-v", store=tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("IOSONDE WARNING - reads on /b")
    assert lines[1].startswith("/a/b is as usual")
    assert lines[2] == "note: buffered"
    assert [line.count("|") for line in lines] == [1, 0, 0]


def test_check_answers_in_time_even_when_the_store_hangs(tmp_path):
    put(tmp_path, work=state())
    began = time.monotonic()
    with hanging(tmp_path / "state" / "login2" / "hung.json"):
        done = subprocess.run(
            [sys.executable, "-m", "iosonde.cli.main", "check", "-t", "300ms", "--store", tmp_path],
            capture_output=True,
            text=True,
            env=ENVIRON,
            timeout=30,
            check=False,
        )
    assert time.monotonic() - began < 20
    assert (done.returncode, done.stderr) == (3, "")
    assert "did not answer within 0.3 s" in done.stdout


@pytest.mark.parametrize("command", ["now", "fleet", "slowdown", "events", "runs"])
def test_every_question_has_a_limit_of_time(tmp_path, command):
    """Each reads a file that hangs; ``runs`` that of a run in flight."""
    put(tmp_path, work=state())
    (tmp_path / "runs").mkdir()
    (tmp_path / "spool/login2").mkdir(parents=True)
    (tmp_path / "events/login2").mkdir(parents=True)
    places = {
        "slowdown": "spool/login2/0123456789abcdef-000001.spool",
        "events": "events/login2/2026-09.jsonl",
        "runs": "runs/a.0.part.jsonl",
    }
    words = (sys.executable, "-m", "iosonde.cli.main", command, "--store", tmp_path)
    with hanging(tmp_path / places.get(command, "state/login2/hung.json")):
        done = subprocess.run(
            [*words, "--timeout", "300ms"],
            capture_output=True,
            text=True,
            env=ENVIRON,
            timeout=40,
            check=False,
        )
    assert done.returncode == 124, done.stderr
    assert f"{tmp_path} did not answer within 300ms" in done.stderr


def test_a_command_that_is_killed_leaves_no_child(tmp_path):
    (tmp_path / "runs").mkdir()
    words = (sys.executable, "-m", "iosonde.cli.main", "runs", "--store", tmp_path)
    with hanging(tmp_path / "runs/a.0.part.jsonl"), subprocess.Popen(words, env=ENVIRON) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        wait_for("the child that reads", lambda: children.read_text().split())
        (child,) = children.read_text().split()
        parent.kill()
        wait_for("its end", lambda: not Path(f"/proc/{child}").exists())


def test_check_never_shows_a_traceback(tmp_path, capfd, monkeypatch):
    def broken(*_):
        raise RuntimeError("what nobody thought of")

    put(tmp_path, work=state())
    monkeypatch.setattr(check, "read_states", broken)
    assert run("check", store=tmp_path) == 3
    captured = capfd.readouterr()
    assert captured.out == "IOSONDE UNKNOWN - RuntimeError: what nobody thought of\n"
    assert captured.err == ""
