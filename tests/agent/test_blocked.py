"""A log that nobody reads and a store that does not answer: every target is probed as if nothing were."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, target
from tests.kit.host import tracing
from tests.kit.host.refusing import refusing

pytestmark = pytest.mark.service

QUICK = 'deadline = "1s"\nretry = "1s"\nretry_max = "2s"'
F_SETPIPE_SZ = 1031


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """A small pipe."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def fill(writer: int) -> None:
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"x"):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)


def goes_on(agent: Agent, name: str, operations: int = 10) -> None:
    before = agent.oks(name)
    harness.wait_for("operations", lambda: agent.oks(name) >= before + operations, 10)


def healthy(folder: Path, name: str = "healthy") -> Path:
    (folder / name).mkdir()
    return folder / name


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    well = healthy(tmp_path)
    with harness.fuse(tmp_path) as fuse, pipe() as (reader, writer):
        config = f'window = "2s"\n{target(fuse.mount, QUICK)}{target(well)}'
        agent = Agent(tmp_path, config).listen()
        try:
            agent.start(stderr=writer).ready()
            harness.wait_for("operations", lambda: agent.oks("fuse") and agent.oks("healthy"))
            fill(writer)
            fuse.freeze()
            harness.wait_for(
                "the breaker",
                lambda: agent.metric("iosonde_breaker_open", target="fuse", op="md_stat") == 1,
                10,
            )
            goes_on(agent, "healthy")
            assert agent.metric("iosonde_log_dropped_lines_total") == 0
            began = time.monotonic()
            assert agent.stop() == 0
            assert time.monotonic() - began < 5
        finally:
            fuse.thaw()
            agent.kill()
        os.set_blocking(reader, False)
        assert len(os.read(reader, 1 << 16)) >= 4096


def test_a_store_that_does_not_answer_blinds_no_target(tmp_path: Path) -> None:
    old, new = healthy(tmp_path, "old"), healthy(tmp_path, "new")
    config = f'window = "1s"\nflush = "100ms"\n{target(old)}'
    with harness.fuse(tmp_path, "storage") as storage:
        store = storage.mount / "store"
        with harness.running(tmp_path, config, store) as agent:
            harness.wait_for("rows", lambda: agent.metric("iosonde_spool_rows_total"))
            storage.freeze()
            try:
                agent.reload(target(old), target(old) + target(new))
                harness.wait_for("the new target", lambda: agent.oks("new"), 10)
                goes_on(agent, "old")
                harness.wait_for(
                    "the word", lambda: agent.told("the store has not answered for 5 s"), 15
                )
                goes_on(agent, "old")
            finally:
                storage.thaw()
            harness.wait_for("the word", lambda: agent.told("the store answers again"), 10)
            assert agent.stop() == 0
        gaps = harness.samples(store).execute(
            "select target, max(gap), min(gap) from (select target, due_ns - lag(due_ns) over "
            "(partition by target, op order by due_ns) as gap from samples) group by target"
        )
        assert {row[0]: row[1:] for row in gaps.fetchall()} == {
            "old": (100_000_000, 100_000_000),
            "new": (100_000_000, 100_000_000),
        }


def windows_known(agent: Agent) -> list[int]:
    return [op["baseline_windows"] for state in agent.states() for op in state["ops"]]


def test_what_earlier_runs_learnt_comes_when_the_store_answers_and_nothing_in_between_is_lost(
    tmp_path: Path,
) -> None:
    well = healthy(tmp_path)
    config = f'window = "1s"\nflush = "100ms"\n{target(well)}'
    with harness.fuse(tmp_path, "storage") as storage:
        store = storage.mount / "store"
        with harness.running(tmp_path, config, store) as agent:
            harness.wait_for("windows", lambda: min(windows_known(agent), default=0) >= 6, 20)
            assert agent.stop() == 0
        known = min(windows_known(agent))
        storage.freeze()
        try:
            with harness.running(tmp_path, config, store) as agent:
                goes_on(agent, "healthy", 30)
                harness.wait_for(
                    "the word", lambda: agent.told("the store has not answered for 5 s"), 15
                )
                before = agent.oks("healthy")
                storage.thaw()
                harness.wait_for(
                    "what was known and what came since",
                    lambda: min(windows_known(agent), default=0) >= known + 3,
                    10,
                )
                assert agent.oks("healthy") >= before
                assert agent.stop() == 0
        finally:
            storage.thaw()


def test_the_end_comes_in_time_and_says_what_a_hung_store_did_not_take(tmp_path: Path) -> None:
    well = healthy(tmp_path)
    config = f'window = "1s"\nflush = "100ms"\n{target(well)}'
    with harness.fuse(tmp_path, "storage") as storage:
        with harness.running(tmp_path, config, storage.mount / "store") as agent:
            harness.wait_for("rows", lambda: agent.metric("iosonde_spool_rows_total"))
            storage.freeze()
            try:
                harness.wait_for(
                    "rows that wait",
                    lambda: (agent.metric("iosonde_spool_waiting_rows") or 0) > 50,
                )
                began = time.monotonic()
                code = agent.stop()
                assert time.monotonic() - began < 5, "TimeoutStopSec of the unit"
            finally:
                storage.thaw()
        assert code == 1
        assert " samples lost: the store did not answer" in agent.log.read_text()


def test_a_store_that_refuses_says_so_at_once(tmp_path: Path) -> None:
    well = healthy(tmp_path)
    store = tmp_path / "store"
    store.write_text("a file where the folder should be")
    with harness.running(tmp_path, f'flush = "100ms"\n{target(well)}', store) as agent:
        harness.wait_for("the word", lambda: agent.told("cannot write to the store"), 5)
        store.unlink()
        harness.wait_for("the word", lambda: agent.told("the store takes everything again"), 10)
        assert agent.stop() == 0


def test_the_supervisor_makes_no_call_that_may_wait_for_storage_or_readers(tmp_path: Path) -> None:
    well, new = healthy(tmp_path), healthy(tmp_path, "new")
    with (
        harness.fuse(tmp_path) as fuse,
        harness.fuse(tmp_path, "storage") as storage,
        pipe() as (_, writer),
    ):
        config = f'window = "1s"\nflush = "100ms"\n{target(fuse.mount, QUICK)}{target(well)}'
        agent = Agent(tmp_path, config, storage.mount / "store").listen()
        try:
            agent.start(stderr=writer)
            assert agent.process is not None
            with tracing.traced(agent.process.pid, "supervisor", tmp_path / "calls") as calls:
                agent.ready()
                harness.wait_for("operations", lambda: agent.oks("fuse") and agent.oks("healthy"))
                fill(writer)
                fuse.freeze()
                storage.freeze()
                harness.wait_for(
                    "the breaker",
                    lambda: agent.metric("iosonde_breaker_open", target="fuse", op="md_stat") == 1,
                )
                agent.reload(target(well), target(well) + target(new))
                harness.wait_for("the new target", lambda: agent.oks("new"))
                goes_on(agent, "healthy")
                storage.thaw()
                fuse.thaw()
                harness.wait_for("rows", lambda: agent.metric("iosonde_spool_waiting_rows") == 0)
            assert agent.stop() == 0
        finally:
            fuse.thaw()
            storage.thaw()
            agent.kill()
        seen = calls()
    assert {"futex", "clock_nanosleep", "openat"} & {call for call, _ in seen}, "nothing was traced"
    wrong = {(call, path) for call, path in seen if not tracing.is_harmless(call, path)}
    assert wrong == set()


def test_a_store_without_locks_is_written_and_said(tmp_path: Path) -> None:
    well = healthy(tmp_path)
    agent = Agent(tmp_path, f'flush = "100ms"\n{target(well)}')
    try:
        agent.start(before=refusing("flock", 38)).ready()
        harness.wait_for("the word", lambda: agent.told("has no locks"), 10)
        harness.wait_for("rows", lambda: agent.metric("iosonde_spool_rows_total"), 10)
        assert agent.stop() == 0
    finally:
        agent.kill()
    assert harness.samples(agent.store).execute("select count(*) from samples").fetchone() > (0,)
