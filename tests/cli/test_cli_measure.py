"""probe and demo as real processes on a real directory, small and short."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from iosonde.engine.states import read_states
from iosonde.model.ops import OP_WORDS
from iosonde.weather.store import Store
from tests.kit.commands import ENVIRON, run

SMALL = ("--period", "10ms", "--window", "200ms", "--file-size", "8M", "--pool", "32")
PATIENCE_S = 60


def command(*arguments):
    return [sys.executable, "-m", "iosonde.cli.main", *map(str, arguments)]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path


def test_lines_for_pipes_and_a_summary_after_ctrl_c(place):
    arguments = command("probe", place / "target", *SMALL, "--store", place / "store")
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRON
    ) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert all("T" in line and str(place / "target") in line for line in lines)
    summary = rest[rest.index("95% interval") :]
    assert all(word in summary for word in OP_WORDS.values())
    progress = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    assert {line["what"] for line in progress} == {"big file", "pool"}
    assert all(line["type"] == "progress" for line in progress)
    (state,) = read_states(place / "store")
    assert (state["running"], state["state"]) == (False, "stopped")
    assert Store(place / "store").count(ops=["md_stat"]) > 20


def test_a_screen_for_people(place):
    """In a terminal: drawn in place, ended by Ctrl-C, without colours under NO_COLOR."""
    pid, terminal = pty.fork()
    if pid == 0:
        arguments = command("probe", place / "target", *SMALL, "--store", place / "store")
        os.execve(sys.executable, arguments, ENVIRON | {"TERM": "xterm", "COLUMNS": "120"})
    seen, ended = b"", time.monotonic() + PATIENCE_S
    while time.monotonic() < ended:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            before = b"latest operations" in seen
            seen += piece
            if not before and b"latest operations" in seen:
                os.write(terminal, b"\x03")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    text = seen.decode()
    assert "Ctrl-C ends with a summary" in text
    assert "95% interval" in text
    assert "\x1b[3" not in text  # no colour
    assert "Traceback" not in text


def test_ctrl_c_while_preparing(place):
    arguments = command("probe", place / "target", "--file-size", "4GiB", "--store", place / "s")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=ENVIRON) as process:
        assert json.loads(process.stderr.readline())["type"] == "progress"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nonexistent/dir"], "/nonexistent/dir"),
        (["/tmp", "--window", "1s"], "expected at least 6"),
        (["/tmp", "--pool", "1"], "pool must be 16"),
    ],
)
def test_what_cannot_be_probed(tmp_path, capsys, arguments, message):
    assert run("probe", *arguments, store=tmp_path) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith("iosonde: ")
    assert message in error


def test_a_demo_tells_what_it_did(place):
    times = ("--duration", "4s", "--load-at", "2s", "--load-for", "1s")
    done = subprocess.run(
        command("demo", *SMALL, *times, "--store", place / "store"),
        capture_output=True,
        text=True,
        env=ENVIRON | {"DEMO_SERVE": "0"},
        cwd=place,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "The load began at" in done.stdout
    table = done.stdout[done.stdout.index("off by") :]
    assert all(f"\n{word} " in table for word in OP_WORDS.values())
    assert (place / "iosonde-demo.png").stat().st_size > 10_000
    assert not list(place.glob("iosonde-demo-*/storage"))
    assert Store(place / "store").count() > 100
