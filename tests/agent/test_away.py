"""Targets that hang before the first operation, whose server dies, or whose worker is killed: all come back."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, target

pytestmark = pytest.mark.service

QUICK = 'deadline = "1s"\nretry = "500ms"\nretry_max = "2s"'


def up(agent: Agent, name: str) -> bool:
    return agent.metric("iosonde_target_up", target=name) == 1


def said(agent: Agent) -> str:
    return harness.run(["now", "--store", agent.store], expect=None).stdout


def test_an_agent_that_starts_during_a_hang_watches_the_others_and_this_one_when_it_answers(
    tmp_path: Path,
) -> None:
    healthy = tmp_path / "healthy"
    healthy.mkdir()
    with harness.loop_ext4(tmp_path) as mount:
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        config = f'window = "2s"\n{target(mount, QUICK)}{target(healthy)}'
        with harness.running(tmp_path, config) as agent:
            harness.wait_for("the healthy one", lambda: up(agent, "healthy"))
            harness.wait_for(
                "the age",
                lambda: (agent.metric("iosonde_op_inflight_seconds", target="ext4") or 0) > 3,
            )
            assert not up(agent, "ext4")
            text = harness.wait_for("the word", lambda: (t := said(agent)) and "hanging" in t and t)
            assert "on ext4 have been hanging" in text
            events = harness.run(["events", "--store", agent.store]).stdout
            assert "still" in events, events
            subprocess.run(["fsfreeze", "-u", mount], check=True)
            harness.wait_for("both", lambda: up(agent, "ext4") and up(agent, "healthy"), 15)
            harness.wait_for(
                "rows", lambda: agent.metric("iosonde_ops_total", target="ext4", result="ok")
            )
            assert agent.metric("iosonde_workers", target="ext4", kind="stuck") == 0
            assert agent.stop() == 0


def test_a_server_that_dies_makes_the_target_fail_and_a_new_one_brings_it_back(
    tmp_path: Path,
) -> None:
    source, mount = tmp_path / "source", tmp_path / "mount"
    source.mkdir()
    mount.mkdir()

    def serve() -> subprocess.Popen[bytes]:
        options = "direct_io,attr_timeout=0,entry_timeout=0"
        server = subprocess.Popen(["bindfs", "-f", "-o", options, source, mount])
        harness.wait_for("the mount", lambda: os.path.ismount(mount))
        return server

    server = serve()
    with harness.running(tmp_path, f'window = "2s"\n{target(mount, QUICK)}') as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
        server.kill()
        server.wait(10)
        text = harness.wait_for("the word", lambda: (t := said(agent)) and "failing" in t and t)
        assert "ENOTCONN" in text
        harness.wait_for("a fresh start", lambda: "starting afresh" in agent.log.read_text())
        # Refused, not left to the bare directory below: nothing but the mount is probed.
        subprocess.run(["umount", "-l", mount], check=True)
        server = serve()
        harness.wait_for("the target", lambda: up(agent, mount.name), 20)
        before = agent.metric("iosonde_ops_total", op="md_create", result="ok") or 0
        harness.wait_for(
            "creates",
            lambda: (agent.metric("iosonde_ops_total", op="md_create", result="ok") or 0) > before,
        )
        assert agent.stop() == 0
    harness.wait_for("the unmount", lambda: harness.unmounted(mount))
    server.wait(10)
    outcomes = harness.samples(tmp_path / "store").execute("select distinct outcome from samples")
    assert {"ok", "ENOTCONN"} <= {outcome for (outcome,) in outcomes.fetchall()}


def test_a_killed_worker_is_replaced_and_no_tick_is_without_a_row(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    with harness.running(tmp_path, f'window = "2s"\n{target(watched, QUICK)}') as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
        [worker] = agent.processes()[1:]
        os.kill(worker, signal.SIGKILL)
        harness.wait_for("another", lambda: agent.processes()[1:] not in ([], [worker]))
        harness.wait_for("the target", lambda: up(agent, "watched"))
        agent.wait_told("its worker ended")
        time.sleep(1)
        assert agent.stop() == 0
        assert agent.processes_gone(worker)
    gaps = harness.samples(tmp_path / "store").execute(
        "select max(gap), min(gap) from (select due_ns - lag(due_ns) over "
        "(partition by op order by due_ns) as gap from samples)"
    )
    assert gaps.fetchone() == (100_000_000, 100_000_000)


def test_a_reload_lets_a_target_go_and_takes_another_while_the_third_goes_on(
    tmp_path: Path,
) -> None:
    for name in ("goes", "stays", "comes"):
        (tmp_path / name).mkdir()
    config = f'window = "2s"\n{target(tmp_path / "goes")}{target(tmp_path / "stays")}'
    with harness.running(tmp_path, config) as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
        agent.config.write_text(
            agent.config.read_text()
            .replace(str(tmp_path / "goes"), str(tmp_path / "comes"))
            .replace('name = "goes"', 'name = "comes"')
        )
        assert agent.process is not None
        agent.process.send_signal(signal.SIGHUP)
        harness.wait_for("the new target", lambda: up(agent, "comes"))
        assert agent.metric("iosonde_target_up", target="goes") is None
        states = {state["target"]: state["running"] for state in agent.states()}
        assert states["goes"] is False
        time.sleep(1)
        assert agent.stop() == 0
    rows = harness.samples(tmp_path / "store")
    gaps = rows.execute(
        "select max(gap), min(gap) from (select due_ns - lag(due_ns) over (partition by op "
        "order by due_ns) as gap from samples where target = 'stays')"
    )
    assert gaps.fetchone() == (100_000_000, 100_000_000)
    counted = dict(rows.execute("select target, count(*) from samples group by target").fetchall())
    assert set(counted) == {"goes", "stays", "comes"}
