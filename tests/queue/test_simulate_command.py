"""`iosonde simulate` and `iosonde simulate --from`: tables, data, pictures, sweeps, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.cli.main import main
from tests.kit.samples.queue_reads import known_reads

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/queue"


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    seen = capsys.readouterr()
    return code, seen.out, seen.err


@pytest.mark.parametrize("number", range(1, 9))
def test_every_example_runs_and_has_a_picture(capsys, tmp_path, number):
    path = tmp_path / "figure.svg"
    dark = ["--dark"] if number % 2 else []
    scenario = str(EXAMPLES / f"figure-{number}.toml")
    code, out, _ = run(capsys, "simulate", scenario, "--plot", str(path), *dark)
    assert code == 0
    assert out.startswith("The storage executed ")
    text = path.read_text()
    assert "share of what the storage can execute" in text or "<path" in text
    assert all(len(line.split()) <= 25 for line in out.split("\n\n")[0].splitlines())


def test_a_longer_queue_by_a_setting(capsys):
    scenario = str(EXAMPLES / "figure-6.toml")
    waits = []
    for queue in (5, 500):
        told = (f"--set=storage.queue={queue}", "--format", "json")
        code, out, _ = run(capsys, "simulate", scenario, *told)
        assert code == 0
        waits.append(json.loads(out)["clients"][0]["longest_read_ticks"])
    assert waits[0] < 100
    assert waits[1] > 1900


def test_traces_add_up_to_totals(capsys):
    scenario = str(EXAMPLES / "figure-8.toml")
    _, totals, _ = run(capsys, "simulate", scenario, "--format", "json")
    _, text, _ = run(capsys, "simulate", scenario, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    for client in json.loads(totals)["clients"]:
        mine = [int(row["reads"]) for row in rows if row["client"] == client["client"]]
        assert sum(mine) == client["reads"]
        assert len(mine) == 200
    _, text, _ = run(capsys, "simulate", scenario, "--format", "csv", "--rows", "reads")
    assert len(text.splitlines()) - 1 == sum(c["reads"] for c in json.loads(totals)["clients"])


def test_a_sweep_of_the_file_and_one_of_the_command(capsys, tmp_path):
    scenario = str(EXAMPLES / "figure-5.toml")
    code, out, _ = run(
        capsys,
        *("simulate", scenario, "--sweep", "--seeds", "2", "--plot", str(tmp_path / "s.svg")),
    )
    assert code == 0
    assert out.startswith("sweep of storage.queue")
    assert (tmp_path / "s.svg").stat().st_size > 1000
    told = ("--sweep", "process.2.pattern=[[0,0,0,9],[0,9,0,0]]", "--format", "json")
    code, out, _ = run(capsys, "simulate", scenario, *told, "--seeds", "1")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["value"] for row in rows] == ["[0, 0, 0, 9]"] * 3 + ["[0, 9, 0, 0]"] * 3
    code, _, err = run(capsys, "simulate", scenario, "--sweep", "storage.queue=5,0")
    assert code == 2
    assert "storage.queue = 0" in err
    code, _, err = run(capsys, "simulate", str(EXAMPLES / "figure-6.toml"), "--sweep")
    assert code == 2
    assert "has no [sweep]" in err


def test_a_scenario_that_is_not_there_is_one_line(capsys, tmp_path):
    code, _, err = run(capsys, "simulate", str(tmp_path / "none.toml"))
    assert code == 1
    assert "none.toml: No such file" in err


def test_ctrl_c_ends_with_what_was_simulated():
    scenario = str(EXAMPLES / "figure-5.toml")
    command = [sys.executable, "-m", "iosonde.cli.main", "simulate", scenario]
    command += ["--ticks", "900000000000", "--set", "bin_ticks=900000000", "--format", "json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | {"TERM": "dumb"}, **pipes) as child:
        assert child.stderr is not None
        # A line of progress: it simulates.
        assert "simulating" in child.stderr.readline()
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, _ = child.communicate(timeout=60)
        assert time.monotonic() - began < 30
    found = json.loads(out)
    assert child.returncode == 130
    assert 0 < found["ticks"] < found["of_ticks"] == 900_000_000_000
    assert found["sentences"][0].startswith("Stopped after ")
    executed = sum(c["reads"] + c["writes_executed"] for c in found["clients"])
    assert found["ticks"] / 4 * 0.8 < executed <= found["ticks"] / 4 + 1


def test_what_if_answers_from_a_table(capsys, tmp_path):
    truth = known_reads("queue", 7)
    path = tmp_path / "reads.csv"
    pairs = zip(truth.latency_s.tolist(), truth.load_per_s.tolist(), strict=True)
    rows = "".join(f"{latency},{load}\n" for latency, load in pairs)
    path.write_text("latency_s,load_per_s\nlong,3\n" + rows)
    code, out, err = run(
        capsys, "simulate", "--from", str(path), "--queue", "5", "--format", "json"
    )
    assert code == 0
    assert "line 2: latency_s = 'long' is no number" in err
    found = json.loads(out)
    low, high = found["queue"]["lower"], found["queue"]["upper"]
    assert low * 0.95 <= truth.queue <= high * 1.05
    assert found["what_if"]["then_median_s"]["value"] < found["what_if"]["median_s"]["value"]
    assert "With a queue of 5 instead of " in found["sentences"][-1]
    path.write_text("latency_s\n1\n")
    code, _, err = run(capsys, "simulate", "--from", str(path))
    assert code == 1
    assert "expected the columns latency_s (or latency_ns) and load_per_s" in err
