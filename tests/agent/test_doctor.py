"""The doctor before real mounts: a running agent, a mount that covers it, a file system that never answers."""

import ctypes
import json
import os
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.kit import harness

pytestmark = pytest.mark.service

_INIT = 26
_INIT_REPLY = struct.pack("=IIII HHIIHH", 7, 31, 65536, 0, 12, 9, 4096, 1, 0, 0).ljust(64, b"\0")


def doctor(*arguments: Any, store: Path, expect: int | None = None) -> dict[str, dict[str, Any]]:
    """Findings by id; of several with one id the worst."""
    command = ["doctor", *arguments, "--store", store, "--format", "json"]
    findings = json.loads(harness.run(command, expect=expect).stdout)["findings"]
    order = ["ok", "note", "warning", "problem"]
    return {f["id"]: f for f in sorted(findings, key=lambda f: order.index(f["level"]))}


def levels(found: dict[str, dict[str, Any]], *ids: str) -> dict[str, str | None]:
    return {id: found[id]["level"] if id in found else None for id in ids}


@contextmanager
def mute_fuse(folder: Path) -> Iterator[Path]:
    """A FUSE file system whose daemon takes every question and answers none."""
    mount = folder / "mute"
    mount.mkdir()
    daemon = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={daemon},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.mount(b"mute", os.fsencode(mount), b"fuse", 0, options)
    assert failed == 0, os.strerror(ctypes.get_errno())

    def listen() -> None:
        with suppress(OSError):  # it ends when the mount does
            while True:
                request = os.read(daemon, 1 << 20)
                _, op, unique = struct.unpack_from("=IIQ", request)
                if op == _INIT:
                    head = struct.pack("=IiQ", 16 + len(_INIT_REPLY), 0, unique)
                    os.write(daemon, head + _INIT_REPLY)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield mount
    finally:
        detach = 2
        libc.umount2(os.fsencode(mount), detach | 1)  # MNT_FORCE aborts what waits
        listener.join(10)
        os.close(daemon)


def test_a_healthy_target_with_a_running_agent(tmp_path: Path) -> None:
    with (
        harness.loop_ext4(tmp_path) as mount,
        harness.tmpfs(tmp_path / "store", "size=64m") as store,
        harness.running(
            tmp_path, f'keep.size = "1GiB"\n{harness.target(mount)}', store=store
        ) as agent,
    ):
        made = lambda: [s for s in agent.states() if s["access"]]  # noqa: E731
        (state,) = harness.wait_for("a state with its files made", made)
        asked = ("backend", "direct", "access", "pool", "object_bytes", "block_bytes", "file_bytes")
        assert [state[name] for name in asked] == [
            "posix",
            "auto",
            "direct",
            64,
            3901,
            1 << 20,
            16 << 20,
        ]
        found = doctor("--agent", agent.address, store=store)
        holder = found["place-lock"]["found"]["pid"]
    well = levels(found, *found)
    for id in ("store-durable", "pool-cached", "stat-cache", "target-device"):
        assert well.pop(id) != "ok"  # a store in memory; caches of a local disk; a loop device
    bad = {id: level for id, level in well.items() if level != "ok" and id[:5] != "host-"}
    assert bad == {}, [found[id]["says"] for id in bad]
    assert holder is not None
    assert found["bigfile-cache"]["found"]["direct"] == "granted"
    assert found["bigfile-cached"]["found"]["asked"] in ("cachestat", "mincore")
    assert found["pool-whole"]["found"]["files"] in range(60, 69)
    assert found["target-device"]["found"]["backing_file"]
    assert found["bigfile-cache"]["found"]["access"] == "direct"
    assert found["pool-whole"]["found"]["asked"] == 64
    assert state["keep"]["max_bytes"] == 1 << 30
    assert found["agent-clock"]["found"] == {"steps": 0}
    assert found["agent-version"]["level"] == "ok"
    assert found["place-present"]["found"]["path"].startswith(str(mount))


def test_a_mount_over_a_running_probe_is_found(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    with harness.running(tmp_path, harness.target(watched)) as agent:
        harness.wait_for("a state", agent.states)
        before = doctor(store=agent.store)
        with harness.tmpfs(watched, "size=16m"):
            after = doctor(store=agent.store)
    assert levels(before, "place-covered", "target-mount", "store-apart") == {
        "place-covered": None,
        "target-mount": "warning",
        "store-apart": "problem",
    }
    assert levels(after, "place-covered", "target-mount", "target-file-system", "store-apart") == {
        "place-covered": "problem",
        "target-mount": "ok",
        "target-file-system": "problem",
        "store-apart": "ok",
    }


def test_a_stopped_probe_whose_files_were_spoilt(tmp_path: Path) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        with harness.running(tmp_path, harness.target(mount)) as agent:
            harness.wait_for("a state", agent.states)
            assert agent.stop() == 0
        (data,) = mount.glob(".iosonde-*/*/data")
        os.truncate(data, 0)
        os.truncate(data, 16 << 20)
        for file in list(mount.glob(".iosonde-*/*/pool-*/*"))[::2]:
            file.write_bytes(b"short")
        other = mount / ".iosonde-4711" / "elsewhere"
        other.mkdir(parents=True)
        (other / "data").write_bytes(b"x" * 4096)
        long_ago = time.time() - 3 * 86_400
        os.utime(other / "data", (long_ago, long_ago))
        (mount / ".iosonde-load-0123456789abcdef").mkdir()
        found = doctor(store=agent.store, expect=1)
    assert levels(found, "bigfile-holes", "pool-whole", "abandoned-places", "place-leftovers") == {
        "bigfile-holes": "warning",
        "pool-whole": "warning",
        "abandoned-places": "note",
        "place-leftovers": "note",
    }
    assert found["place-lock"]["found"]["held"] is False
    assert found["agent-heard"]["level"] == "note"


def test_what_hangs_is_named_in_time_and_the_rest_goes_on(tmp_path: Path) -> None:
    with mute_fuse(tmp_path) as mute, harness.tmpfs(tmp_path / "good", "size=16m") as good:
        found = harness.run(
            ["doctor", mute, good, "--timeout", "1s", "--store", tmp_path / "s"], expect=1
        ).stdout
        as_data = doctor(mute, "--timeout", "1s", store=mute / "store", expect=1)
    assert f"does not answer (fuse from mute): to find and open {mute} for 1.0 s" in found
    assert f"target {good}" in found
    assert "tmpfs is memory, no storage" in found
    hang = as_data["target-answers"]["found"]
    assert hang["waited_s"] >= 1
    assert "fuse" in hang["wchan"] or "request_wait" in hang["wchan"] or hang["process_state"]
    assert as_data["store-answers"]["level"] == "problem"
    assert as_data["store-apart"]["level"] == "problem"
    harness.wait_for("the child to go once the mount is gone", lambda: gone(hang["child_pid"]))


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_frozen_file_system_still_answers_readers_and_the_probe_says_what_hangs(
    tmp_path: Path,
) -> None:
    with (
        harness.loop_ext4(tmp_path) as mount,
        harness.running(tmp_path, harness.target(mount)) as agent,
    ):
        harness.wait_for("a state", agent.states)
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        harness.wait_for(
            "the probe to call it hung",
            lambda: any(state["state"] == "hung" for state in agent.states()),
        )
        found = doctor("--timeout", "2s", store=agent.store, expect=1)
        subprocess.run(["fsfreeze", "-u", mount], check=True)
    assert found["target-answers"]["level"] == "ok"
    assert found["target-state"]["level"] == "problem"
    assert "md_create" in found["target-state"]["found"]["ops"]
