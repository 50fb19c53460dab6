"""The agent on an NFS export, past the kernel: samples, hangs, a server that goes and comes back, a second probe."""

import json

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, wait_for
from tests.kit.servers.nfs_server import NfsServer, nfs_server

pytestmark = pytest.mark.service

OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")


def target(server: NfsServer, extra: str = "") -> str:
    return (
        f'window = "2s"\n[[target]]\npath = "{server.url}"\nname = "filer"\nperiod = "100ms"\n'
        'file_size = "4MiB"\nblock_size = "256KiB"\npool = 32\n'
        f'deadline = "500ms"\nretry = "300ms"\nretry_max = "1s"\n{extra}\n'
    )


@pytest.fixture
def server():
    with nfs_server() as running:
        yield running


def all_ok(agent: Agent, more: int = 5) -> None:
    """Every op ends well ``more`` times from now on."""
    before = {op: agent.oks("filer", op) for op in OPS}
    wait_for(
        "ops to end well", lambda: all(agent.oks("filer", op) >= before[op] + more for op in OPS)
    )


def events(agent: Agent) -> list[dict]:
    lines = [
        json.loads(line)
        for file in agent.store.glob("events/*/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    return list({line["id"]: line for line in lines}.values())


def test_six_ops_are_timed_past_the_cache(server, tmp_path):
    with harness.running(tmp_path, target(server)) as agent:
        all_ok(agent, 10)
        wait_for("a later state", lambda: agent.states()[0]["access"])
        state = agent.states()[0]
        assert (state["backend"], state["access"], state["file_bytes"]) == (
            "nfs",
            "direct",
            4 << 20,
        )
        assert state["path"] == server.url
        assert agent.stop() == 0
    rows = harness.samples(agent.store).execute(
        "select op, any_value(cache), count(*) filter (outcome = 'ok'), count(*) from samples group by op"
    )
    found = {op: (cache, ok, n) for op, cache, ok, n in rows.fetchall()}
    assert set(found) == set(OPS)
    for op, (cache, ok, n) in found.items():
        assert cache == "direct"
        assert ok >= 0.75 * n, op  # the others were skipped: a busy host is late


def test_a_second_start_goes_on_where_the_first_ended(server, tmp_path):
    for run in ("first", "second"):
        folder = tmp_path / run
        folder.mkdir()
        with harness.running(folder, target(server)) as agent:
            all_ok(agent)
            # Killed the first time: its lock is left, and names a process that is gone.
            if run == "first":
                agent.kill()
            else:
                assert agent.stop() == 0


def test_another_probe_of_this_export_is_refused(server, tmp_path):
    (tmp_path / "other").mkdir()
    with harness.running(tmp_path, target(server)) as agent:
        other = Agent(tmp_path / "other", target(server)).start()
        try:
            wait_for("the refusal", lambda: other.told("held by another probe (pid "))
        finally:
            other.kill()
        all_ok(agent)


def test_a_stopped_server_is_a_hang_and_its_return_a_recovery(server, tmp_path):
    with harness.running(tmp_path, target(server)) as agent:
        all_ok(agent)
        server.freeze()
        open_breakers = lambda: [  # noqa: E731
            agent.metric("iosonde_breaker_open", target="filer", op=op) for op in OPS
        ]
        wait_for("all breakers to open", lambda: open_breakers() == [1.0] * 6)
        assert agent.get("/-/healthy")[0] == 200
        server.thaw()
        wait_for("all breakers to close", lambda: open_breakers() == [0.0] * 6)
        all_ok(agent)
        assert agent.stop() == 0
    hangs = [event for event in events(agent) if event["kind"] == "hang"]
    assert {event["op"] for event in hangs} == set(OPS)
    assert all(event["ended_ns"] for event in hangs)


def test_a_server_that_died_is_an_error_and_a_new_one_is_filled_afresh(server, tmp_path):
    with harness.running(tmp_path, target(server)) as agent:
        all_ok(agent)
        server.kill()

        def refused() -> bool:
            return any(
                agent.metric("iosonde_ops_total", target="filer", op="md_stat", result=result)
                for result in ("ECONNREFUSED", "ECONNRESET", "error")
            )

        wait_for("errors", refused)
        server.start()
        all_ok(agent)
        assert agent.stop() == 0


def test_an_export_that_is_not_there_says_what_to_check(server, tmp_path):
    absent = target(server).replace("/export?", "/other?")
    agent = Agent(tmp_path, absent).start()
    try:
        wait_for("the note", lambda: agent.told("mounting the export: NFS3ERR_NOENT"))
        assert agent.told("expected an NFSv3 export that this host may mount and write")
    finally:
        agent.kill()
