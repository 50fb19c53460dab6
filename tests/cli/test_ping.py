"""iosonde ping on real directories: it answers, says a hang, and leaves nothing however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.commands import put
from tests.kit.samples.makers import SECOND, op_state, state


def ping(*arguments: object, code: int | None = 0) -> str:
    return harness.run(["ping", *arguments], expect=code).stdout


def started(directory: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [harness.IOSONDE, "ping", directory, "--duration", "1h", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def gone(directory: Path) -> None:
    harness.wait_for("files to go", lambda: not left(directory))


def test_every_operation_is_timed_and_nothing_stays(tmp_path: Path) -> None:
    store = tmp_path / "store"
    target = tmp_path / "target"
    target.mkdir()
    (target / "of the user").write_text("stays")
    found = json.loads(
        ping(
            target, "--count", 8, "--period", "1ms", "--format", "json", "--store", store, code=None
        )
    )
    ops = {op["op"]: op for op in found["ops"]}
    assert set(ops) == {"md_list", "data_read", "data_write", *harness_ops()}
    assert all(op["n"] >= 8 and op["failed"] == 0 for op in ops.values()), ops
    assert all(0 < op["median_ns"] <= op["slowest_ns"] for op in ops.values()), ops
    assert found["listing"]["names"] == 1
    assert found["tidy"]
    assert left(target) == ["of the user"]
    assert not store.exists(), "a ping keeps nothing"


def harness_ops() -> tuple[str, ...]:
    return ("md_create", "md_stat", "md_read", "md_delete")


def test_one_line_an_operation(tmp_path: Path) -> None:
    lines = ping(tmp_path, "-v", "--count", 1, "--store", tmp_path / "none", code=None).splitlines()
    assert lines[0].startswith("listing 2 names: request=1 time=")
    assert sum("request=" in line for line in lines) == 8


@pytest.mark.parametrize(
    ("directory", "words"),
    [("missing", "cannot open: No such file"), ("file", "cannot open: Not a directory")],
)
def test_what_cannot_be_used_is_an_error_with_a_way_out(
    tmp_path: Path, directory: str, words: str
) -> None:
    (tmp_path / "file").write_text("")
    done = harness.run(["ping", tmp_path / directory, "--store", tmp_path / "none"], expect=1)
    assert words in done.stderr
    assert "try a directory of yours" in done.stderr


@pytest.mark.parametrize("option", [("--count", "0"), ("--block-size", "1000"), ("--period", "x")])
def test_options_that_make_no_sense(tmp_path: Path, option: tuple[str, str]) -> None:
    assert option[0] in harness.run(["ping", tmp_path, *option], expect=2).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_verdict(tmp_path: Path, number: int) -> None:
    process = started(tmp_path, "-v", "--store", str(tmp_path / "none"))
    assert process.stdout is not None
    for _ in range(8):
        process.stdout.readline()
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert "median" in out
    assert tmp_path.name in out.splitlines()[-1] or str(tmp_path) in out
    assert left(tmp_path) == []


def test_a_killed_one_leaves_nothing(tmp_path: Path) -> None:
    process = started(tmp_path, "-v", "--store", str(tmp_path / "none"))
    assert process.stdout is not None
    process.stdout.readline()
    assert left(tmp_path) == [f".iosonde-{os.geteuid()}"]
    process.kill()
    process.communicate()
    gone(tmp_path)


def test_what_an_agent_knows_comes_first_and_is_what_is_compared_with(tmp_path: Path) -> None:
    store, target = tmp_path / "store", tmp_path / "target"
    target.mkdir()
    # A host whose operations usually take a nanosecond: nothing is that fast.
    ops = [op_state(op, baseline_ns=1.0) for op in ("md_create", "md_stat")]
    known = state(
        target="/watched", path=str(target), written_ns=time.time_ns(), ops=ops, window_ns=SECOND
    )
    put(store, watched=known)
    out = ping(target, "--count", 8, "--period", "1ms", "--store", store, code=2)
    assert out.startswith("the probe on login2: /watched is as usual")
    assert "slower than usual" in " ".join(out.split())
    assert "usual 1 ns" in out


@pytest.mark.service
@pytest.mark.parametrize("before", [True, False])
def test_a_frozen_file_system_is_told_at_once_and_tidied_later(
    tmp_path: Path, before: bool
) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        there = left(mount)
        if before:
            subprocess.run(["fsfreeze", "-f", mount], check=True)
        process = started(mount, "--store", str(tmp_path / "none"), "--period", "10ms")
        assert process.stderr is not None
        if not before:
            assert process.stdout is not None
            process.stdout.readline()
            subprocess.run(["fsfreeze", "-f", mount], check=True)
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        assert told.startswith(f"{mount} hangs: ")
        assert "has not come back for 2 s (kernel: " in told
        assert process.returncode == 2
        assert f"{mount} hangs: " in " ".join(out.split())
        assert "as soon as the storage answers" in errors
        subprocess.run(["fsfreeze", "-u", mount], check=True)
        harness.wait_for("files to go", lambda: left(mount) == there)


@pytest.mark.service
def test_where_not_even_a_directory_fits_nothing_stays(tmp_path: Path) -> None:
    with harness.tmpfs(tmp_path / "full", "size=1m,nr_inodes=4"):
        full = tmp_path / "full"
        done = harness.run(["ping", full, "--store", tmp_path / "none"], expect=1)
        assert "No space left on device" in done.stderr
        assert left(full) == []


@pytest.mark.service
def test_a_full_file_system_fails_in_words_and_keeps_nothing(tmp_path: Path) -> None:
    with harness.tmpfs(tmp_path / "full", "size=1m"):
        full = tmp_path / "full"
        (full / "fill").write_bytes(b"x" * (900 << 10))
        out = ping(full, "--count", 4, "--period", "1ms", "--store", tmp_path / "none", code=2)
        assert f"on {full} fail: No space left on device" in " ".join(out.split())
        assert left(full) == ["fill"]
