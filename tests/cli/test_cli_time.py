"""Questions end in time although the store's file system hangs, and leave no zombie."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from iosonde.weather.seal import seal
from tests.kit import harness
from tests.kit.commands import ENVIRON, run
from tests.kit.samples.makers import simulated

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root"),
]
COMMAND = [sys.executable, "-m", "iosonde.cli.main"]


def asked(*arguments: str) -> tuple[subprocess.CompletedProcess[str], float]:
    begun = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRON, timeout=60, check=False
    )
    return done, time.monotonic() - begun


@pytest.mark.parametrize("command", ["now", "events"])
def test_a_store_that_hangs_is_given_up(tmp_path: Path, command: str) -> None:
    with harness.fuse(tmp_path) as hung:
        simulated(tmp_path / "fuse-source" / "store", 900)
        store = hung.mount / "store"
        answered, _ = asked(command, "--store", str(store))
        assert answered.returncode == 0, answered.stderr
        hung.freeze()
        try:
            done, took_s = asked(command, "--timeout", "1s", "--store", str(store))
        finally:
            hung.thaw()
    assert done.returncode == 124
    assert f"{store} did not answer within 1s" in done.stderr.replace("1 s", "1s")
    assert "was being read" in done.stderr
    assert "Traceback" not in done.stderr
    assert took_s < 20


def test_a_store_that_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        simulated(mount / "store", 2 * 3600)
        seal(mount / "store")
        (mount / "store" / "rollups").rename(mount / "aside")
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        try:
            arguments = ("events", "--since", "2026-09-01", "--timeout", "2s")
            before = ended_children()
            done, took_s = asked(*arguments, "--store", str(mount / "store"))
            left = ended_children() - before
        finally:
            subprocess.run(["fsfreeze", "-u", mount], check=True)
    assert done.returncode == 124, done.stderr
    assert took_s < 20
    assert not left, "nobody of ours is a zombie"


def ended_children() -> set[str]:
    """Our own children that have ended and that nobody has collected; other tests of this process may leave some."""
    found = subprocess.run(
        ["ps", "-o", "pid=,stat=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [line.split() for line in found.stdout.splitlines()]
    return {pid for pid, state in rows if state.startswith("Z")}


@pytest.fixture(params=["child", "thread"])
def way(request):
    """A process with threads is not forked."""
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    if request.param == "thread":
        other.start()
    yield
    ended.set()
    if request.param == "thread":
        other.join()


@pytest.mark.usefixtures("way")
def test_output_errors_and_codes_pass_through(tmp_path, capfd) -> None:
    simulated(tmp_path, 900)
    assert run("now", store=tmp_path) == 0
    assert "/work" in capfd.readouterr().out
    assert run("now", "/no-such", store=tmp_path) == 2
    assert "no probe watches /no-such" in capfd.readouterr().err
    assert run("now", store=tmp_path / "none") == 1
    assert run("now", "--timeout", "0s", store=tmp_path) == 2
