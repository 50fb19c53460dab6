"""``iosonde now --hosts``, ``/api/now`` and whose clock is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.engine.states import read_states
from iosonde.host.clocks import clock_offsets
from iosonde.serve.app import create
from iosonde.weather.fleet.answers import fleet_at, fleet_now
from iosonde.weather.slowdown.findings import from_state
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.makers import LATENCY, SECOND, START, simulated, state, with_ops

TARGETS = ("/work", "/home")
SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}

pytestmark = pytest.mark.usefixtures("utc", "now")


def put(root: Path, host: str, target: str, one: dict) -> None:
    """A state whose file is as old as it says."""
    path = root / "state" / host / f"{target.strip('/')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**one, "host": host, "target": target, "path": target}))
    os.utime(path, ns=(START, START))


@pytest.fixture
def slow_target(tmp_path: Path) -> Path:
    """Six hosts that see /work slow and /home as usual."""
    for host in range(6):
        put(tmp_path, f"n{host}", "/work", with_ops(data_read=SLOW))
        put(tmp_path, f"n{host}", "/home", state())
    return tmp_path


def test_fleet_names_the_storage_that_every_host_sees_slow(slow_target, capsys):
    assert run("now", "--hosts", store=slow_target) == 0
    sentence, _, head, *rows = capsys.readouterr().out.splitlines()
    assert sentence == "/work is slow on 6 hosts (3.1x): the storage, not one node"
    assert head.split() == ["host", "/work", "/home"]
    assert rows[0].split()[1] == "3.1x"
    assert len(rows) == 6


def test_fleet_as_json_has_a_row_a_host(slow_target, capsys):
    assert run("now", "--hosts", "--json", store=slow_target) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["slow_targets"]) == ("target", ["/work"])
    assert [row["host"] for row in found["rows"]] == [f"n{host}" for host in range(6)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "14:05", "--since", "-2h"), "exclude each other"),
        (("-n", "0"), "no number of hosts"),
        (("--at", "yesteryear"), "yesteryear"),
    ],
)
def test_a_wrong_request_is_refused(slow_target, capsys, words, told):
    assert run("now", "--hosts", *words, store=slow_target) == 2
    assert told in capsys.readouterr().err


def test_a_store_without_probes_says_so(tmp_path, capsys):
    assert run("now", "--hosts", store=tmp_path) == 1
    assert "no host probes" in capsys.readouterr().err


def test_the_api_has_the_fleets_sentence(slow_target):
    with TestClient(create(slow_target, clock=lambda: START), base_url="http://127.0.0.1") as page:
        told = page.get("/api/now").json()
        status = page.get("/api/status").json()
        assert page.get("/api/status", params={"host": "n1"}).json()["fleet"] is None
    assert told["fleet"]["sentence"].startswith("/work is slow on 6 hosts")
    assert told["summary"] == "2 targets seen from 6 hosts: 6 slow, 6 as usual"
    assert len(told["targets"]) == 12
    assert status["fleet"] == {"sentence": told["fleet"]["sentence"], "verdict": "target"}


def test_samples_of_the_past_tell_node_from_storage(tmp_path):
    fault = {"after": "1800s", "for": "900s", "multiply": 4.0}
    for host in range(4):
        faults = [fault] if host == 2 else []
        target = {"path": "/work", "backend": "null", "latency": LATENCY, "fault": faults}
        simulated(tmp_path, 3600, host=f"n{host}", seed=host, window="60s", target=[target])
    during = (START + 1860 * SECOND, START + 2640 * SECOND)
    found = fleet_at(Store(tmp_path), during, START + 3600 * SECOND)
    assert [found.matrix.hosts[place] for place in found.part.hosts] == ["n2"]
    before = (START + 600 * SECOND, START + 1500 * SECOND)
    assert not fleet_at(Store(tmp_path), before, START + 3600 * SECOND).part.hosts


def test_a_clock_that_is_ahead_is_measured_and_poisons_nobody(slow_target):
    hour = 3600 * SECOND
    put(slow_target, "n3", "/home", state(written_ns=START + hour))
    put(slow_target, "n3", "/work", with_ops(data_read=SLOW) | {"written_ns": START + hour})
    states = read_states(slow_target)
    (wrong,) = clock_offsets(states, START)
    assert (wrong.host, wrong.offset_ns, wrong.against) == ("n3", hour, "storage")
    found = fleet_now(states, START)
    assert found.sentence.startswith("/work is slow on 6 hosts")
    # Its probe died: the file tells, though the state is of the future for an hour.
    late = START + 120 * SECOND
    kinds = {one["host"]: from_state(one, late).kind for one in states}
    assert kinds == {f"n{host}": "stale" for host in range(6)}


def test_a_clock_that_is_behind_is_measured(tmp_path):
    put(tmp_path, "n1", "/home", state(written_ns=START - 30 * SECOND))
    put(tmp_path, "n2", "/home", state(written_ns=START - SECOND // 2))
    (wrong,) = clock_offsets(read_states(tmp_path), START)
    assert (wrong.host, wrong.offset_ns) == ("n1", -30 * SECOND)


def test_a_copied_store_has_no_clock(tmp_path):
    put(tmp_path, "n1", "/home", state(written_ns=START - 86_400 * SECOND))
    assert clock_offsets(read_states(tmp_path), START + 3600 * SECOND) == ()
