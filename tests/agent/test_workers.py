"""Workers that somebody stops, that end after their target is gone, or that hang while they make it ready."""

import json
import os
import resource
import signal
import time
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, target

pytestmark = pytest.mark.service

QUICK = 'deadline = "2s"\nretry = "1s"\nretry_max = "2s"'


def zombies(agent: Agent) -> list[int]:
    """Processes of the agent that ended and that it has not waited for."""
    assert agent.process is not None
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(parent) == agent.process.pid:
            found.append(int(stat.parent.name))
    return found


def test_a_stopped_worker_is_named_and_replaced(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    config = f'window = "2s"\nflush = "100ms"\n{target(watched, QUICK)}'
    with harness.running(tmp_path, config) as agent:
        harness.wait_for("operations", lambda: agent.oks("watched"))
        [worker] = agent.processes()[1:]
        os.kill(worker, signal.SIGSTOP)
        harness.wait_for("the word", lambda: agent.told("its worker is stopped (SIGSTOP)"), 10)
        before = agent.oks("watched")
        harness.wait_for("operations", lambda: agent.oks("watched") > before, 10)
        assert agent.processes_gone(worker)
        assert agent.metric("iosonde_workers", target="watched", kind="working") == 1
        assert not agent.told("does not return")
        assert agent.stop() == 0
    gaps = harness.samples(agent.store).execute(
        "select max(gap), min(gap) from (select due_ns - lag(due_ns) over "
        "(partition by op order by due_ns) as gap from samples)"
    )
    assert gaps.fetchone() == (100_000_000, 100_000_000)


def test_the_end_of_a_worker_has_a_reason(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    with harness.running(tmp_path, f'flush = "100ms"\n{target(watched, QUICK)}') as agent:
        [worker] = agent.processes()[1:]
        os.kill(worker, signal.SIGKILL)
        harness.wait_for("the word", lambda: agent.told("its worker ended (killed by SIGKILL"), 10)


def test_a_limit_of_file_sizes_is_said(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))  # noqa: E731
    agent = Agent(tmp_path, target(watched, QUICK)).start(before=limit)
    assert agent.process is not None
    try:
        assert agent.process.wait(60) == 1
    finally:
        agent.kill()
    assert agent.told("File too large"), agent.log.read_text()
    assert not agent.told("its worker ended")


def test_a_worker_that_outlives_its_target_is_reaped(tmp_path: Path) -> None:
    stays = tmp_path / "stays"
    stays.mkdir()
    with harness.fuse(tmp_path) as fuse:
        hung = target(fuse.mount, QUICK)
        with harness.running(tmp_path, f'flush = "100ms"\n{target(stays)}{hung}') as agent:
            harness.wait_for("operations", lambda: agent.oks("fuse"))
            workers = set(agent.processes()[1:])
            fuse.freeze()
            harness.wait_for(
                "the hang",
                lambda: (agent.metric("iosonde_op_inflight_seconds", target="fuse") or 0) > 1,
            )
            agent.reload(hung, "")
            harness.wait_for("the word", lambda: agent.told("target fuse is gone"))
            fuse.thaw()
            harness.wait_for("its end", lambda: workers - set(agent.processes()))
            harness.wait_for("nobody left behind", lambda: not zombies(agent), 5)
            [stayed] = agent.processes()[1:]
            assert stayed in workers
            assert agent.stop() == 0


def test_the_evidence_of_a_hanging_preparation_is_of_the_thread_that_prepares(
    tmp_path: Path,
) -> None:
    with harness.fuse(tmp_path) as fuse:
        fuse.freeze()
        try:
            with harness.running(
                tmp_path, f'flush = "100ms"\n{target(fuse.mount, QUICK)}'
            ) as agent:
                harness.wait_for("the word", lambda: agent.told("cannot be made ready: hanging in"))
                time.sleep(0.3)
                events = harness.run(["events", "--format", "json", "--store", agent.store]).stdout
                found = json.loads(events)["events"]
                [event] = [event for event in found if event["kind"] == "unreachable"]
                waits = json.dumps(event["evidence"])
                assert "fuse" in waits or "request_wait_answer" in waits, waits
                assert "unix_stream" not in waits, waits
                assert agent.stop() == 0
        finally:
            fuse.thaw()
