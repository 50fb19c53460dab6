from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time

import duckdb
import pytest

from iosonde.cli import check, main, options
from iosonde.cli.text import count, table
from iosonde.store.columns import SAMPLE_TYPES, WINDOW_COLUMNS
from tests.python.makers import SECOND, START, simulated, state, with_ops

ENVIRON = {**os.environ, "TZ": "UTC", "NO_COLOR": "1", "COLUMNS": "100"}
HEAVY = ("numpy", "duckdb", "rich", "matplotlib", "fastapi", "iosonde._core", "dataclasses")


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def now(monkeypatch):
    """The wall clock of commands stands at START."""
    monkeypatch.setattr(options, "now_ns", lambda: START)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    simulated(root, 2400, {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0})
    return root


def run(*arguments, store=None):
    return main.main([*arguments, *(["--store", str(store)] if store else [])])


def put(root, **states):
    for name, value in states.items():
        path = root / "state" / "login2" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))


SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
SLOW |= {"since_ns": START - 500 * SECOND, "q95_ns": 412_000_000}


# --- the front door


def test_help_names_every_command(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    names = [command.name for group in main.GROUPS.values() for command in group]
    assert all(f"  {name} " in text for name in names)
    assert run("help", "now") == 0


def test_every_command_has_help_with_examples(capsys):
    for group in main.GROUPS.values():
        for command in group:
            assert run(command.name, "--help") == 0
            text = capsys.readouterr().out
            assert "examples:\n  " in text
            assert "--store" in text


def test_no_command_is_a_usage_error(capsys):
    assert run() == 2
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nwo"], "there is no command 'nwo'"),
        (["now", "--sinec"], "unrecognized arguments: --sinec"),
        (["slowdown", "--window", "1mi"], "--window: cannot read the duration '1mi'"),
        (["slowdown", "--op", "crate"], "try 'creates'"),
        (["slowdown", "--since", "soon"], "cannot read the time 'soon'"),
        (["slowdown", "--since", "-1h", "--until", "-2h"], "--since is not before --until"),
        (["slowdown", "--format", "parquet"], "-o FILE"),
        (["export", "samples", "-o", "x.xls"], "expected --format parquet, csv or json"),
        (["export", "samples", "--format", "parquet"], "-o FILE"),
        (["probe", "/tmp", "--file-size", "1mi"], "try 1MiB"),
        (["probe"], "required: DIR"),
    ],
)
def test_wrong_requests_say_what_to_try(store, capsys, arguments, message):
    assert run(*arguments, store=store) == 2
    error = capsys.readouterr().err
    assert error.startswith("iosonde: ")
    assert message in error
    assert error.count("\n") == 1


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("iosonde ")


def test_a_reader_that_goes_away_is_no_error(store):
    command = f"{sys.executable} -m iosonde.cli.main export samples --store {store} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env=ENVIRON,
        check=True,
    )
    assert done.stdout.splitlines()[0].startswith("schema_version,due_ns")
    assert done.stdout.splitlines()[1] == "141"
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["now", "check"])
def test_the_quick_commands_import_nothing_heavy(tmp_path, command):
    put(tmp_path, work=state())
    script = (
        "import sys; from iosonde.cli.main import main; "
        f"main(['{command}', '--store', sys.argv[1]]); "
        "print(*[m for m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        env=ENVIRON,
        check=True,
    )
    modules = set(done.stderr.split())
    assert "iosonde.findings.sentences" in modules
    assert not modules & set(HEAVY)


# --- now and check


def test_now_says_a_sentence_a_target_the_worst_first(tmp_path, capsys, now):
    put(tmp_path, a=state(target="/a"), b=with_ops(data_read=SLOW) | {"target": "/b"})
    assert run("now", store=tmp_path) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == (
        "slow    reads on /b are 3.1x slower than usual (2.8-3.4) since 14:05"
        "  (measured 0 s ago from login2)"
    )
    assert second.startswith("ok      /a is as usual")
    assert run("now", "/a", "-v", store=tmp_path) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_now_as_json_carries_the_numbers(tmp_path, capsys, now):
    put(tmp_path, b=with_ops(data_read=SLOW))
    assert run("now", "--format", "json", store=tmp_path) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["slowdown"], found["lower"]) == ("slow", 3.1, 2.8)
    assert found["sentence"].startswith("reads on /work")
    assert found["state"]["ops"][0]["q95_ns"] == 412_000_000


def test_now_without_probes_says_how_to_start_one(tmp_path, capsys):
    assert run("now", store=tmp_path) == 1
    assert "try 'iosonde probe DIR'" in capsys.readouterr().err


def test_an_unknown_target_names_the_known_ones(tmp_path, capsys, now):
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
        (state(written_ns=START - 60 * SECOND), [], 3, "IOSONDE UNKNOWN - unknown: nothing heard"),
        (state(ops=[]), [], 3, "IOSONDE UNKNOWN - /work: still learning"),
        (state(), ["-w", "x"], 3, "IOSONDE UNKNOWN - check: argument -w/--warning: cannot read"),
        (state(), ["/nope"], 3, "IOSONDE UNKNOWN - /nope is not watched"),
        (state(), ["--nope"], 3, "IOSONDE UNKNOWN - check: unrecognized arguments"),
    ],
)
def test_check_is_a_plugin(tmp_path, capsys, now, a_state, extra, code, line):
    put(tmp_path, work=a_state)
    assert run("check", *extra, store=tmp_path) == code
    captured = capsys.readouterr()
    assert captured.out.startswith(line)
    assert captured.err == ""


def test_check_gives_performance_data(tmp_path, capsys, now):
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


def test_check_puts_the_worst_first_and_the_others_below(tmp_path, capsys, now):
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
    """Opening a FIFO blocks for ever, as a file on a hung mount does."""
    put(tmp_path, work=state())
    os.mkfifo(tmp_path / "state" / "login2" / "hung.json")
    began = time.monotonic()
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


def test_check_never_shows_a_traceback(tmp_path, capfd, monkeypatch):
    def broken(*_):
        raise RuntimeError("what nobody thought of")

    put(tmp_path, work=state())
    monkeypatch.setattr(check, "read_states", broken)
    assert run("check", store=tmp_path) == 3
    captured = capfd.readouterr()
    assert captured.out == "IOSONDE UNKNOWN - RuntimeError: what nobody thought of\n"
    assert captured.err == ""


# --- slowdown, export, seal


def test_slowdown_prints_a_row_an_op_and_the_slow_stretches(store, capsys):
    assert run("slowdown", "/work", store=store) == 0
    text = capsys.readouterr().out
    assert text.startswith("/work as seen from login2, every 1s; windows of 1m, median")
    assert len([line for line in text.splitlines() if "2 400" in line]) == 6
    assert "- reads on /work were 3.0x slower than usual (" in text
    assert "from 2026-09-21 14:28 to 14:43" in text


def test_slowdown_without_a_slow_stretch_says_so(store, capsys):
    assert run("slowdown", "--op", "stats", store=store) == 0
    assert "No slow stretch." in capsys.readouterr().out


def test_slowdown_as_data(store, capsys, tmp_path):
    assert run("slowdown", "--op", "reads", "--stat", "q75", "--format", "csv", store=store) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"q75_ns", "q75_lower_ns", "baseline_ns", "slowdown", "slow"} <= set(found[0])
    assert found[0]["slowdown"] == ""
    assert "." not in found[-1]["q75_ns"]
    assert run("slowdown", "-o", str(tmp_path / "w.parquet"), store=store) == 0
    rows = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/w.parquet'").fetchall()
    assert rows == [(6 * 41,)]


def test_slowdown_draws(store, tmp_path, capsys):
    path = tmp_path / "p.png"
    assert run("slowdown", "--plot", str(path), "--dark", store=store) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {path}" in capsys.readouterr().err


def test_slowdown_of_nothing_says_what_to_try(tmp_path, capsys):
    assert run("slowdown", store=tmp_path) == 1
    assert "try a longer --since" in capsys.readouterr().err


@pytest.mark.parametrize("format_name", ["parquet", "csv", "json"])
def test_exports_are_whole(store, tmp_path, format_name):
    path = tmp_path / f"x.{format_name}"
    assert run("export", "samples", "-o", str(path), store=store) == 0
    got = duckdb.sql(f"SELECT count(*), count(DISTINCT op), min(due_ns) FROM '{path}'").fetchall()
    assert got == [(6 * 2400, 6, START)]
    assert tuple(duckdb.sql(f"SELECT * FROM '{path}' LIMIT 1").columns) == tuple(SAMPLE_TYPES)
    assert run("export", "windows", "-o", str(path), "--op", "stats", store=store) == 0
    windows = duckdb.sql(f"SELECT * FROM '{path}'")
    assert tuple(windows.columns) == WINDOW_COLUMNS
    assert len(windows.fetchall()) == 41
    assert list(tmp_path.iterdir()) == [path]


def test_an_export_that_cannot_be_written_leaves_nothing(store, tmp_path, capsys):
    assert run("export", "samples", "-o", str(tmp_path / "no" / "x.csv"), store=store) == 1
    assert "cannot write" in capsys.readouterr().err


def test_seal_names_the_new_files(tmp_path, capsys):
    simulated(tmp_path, 60)
    assert run("seal", store=tmp_path) == 0
    captured = capsys.readouterr()
    assert captured.out.strip().endswith(".parquet")
    assert run("seal", store=tmp_path) == 0
    assert "nothing to seal" in capsys.readouterr().err


# --- small parts


def test_tables_align():
    assert table(("", "n"), [("a", "1"), ("long", "100")]) == "        n\na       1\nlong  100"
    assert count(1234567) == "1 234 567"
