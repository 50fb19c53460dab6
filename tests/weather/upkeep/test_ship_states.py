"""Copies of states at another place: what they say, how old they may get, and who else writes there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from iosonde.engine.states import namesakes, read_states
from iosonde.host.boots import Boot, this_boot
from iosonde.host.clocks import clock_offsets
from iosonde.model.units import HOUR_NS
from iosonde.weather.fleet.answers import fleet_now
from iosonde.weather.upkeep.ship import ship
from tests.kit.commands import put, run
from tests.kit.samples.makers import SECOND, START, state, with_ops

SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
MINUTE = 60 * SECOND


@pytest.fixture
def roots(tmp_path) -> tuple[Path, Path]:
    """A host's store and the shared one, which is not there yet."""
    own, shared = tmp_path / "own", tmp_path / "shared"
    put(
        own,
        work=with_ops(data_read=SLOW | {"since_ns": START - MINUTE}),
        home=state(target="/home"),
    )
    return own, shared


def shipped(own: Path, shared: Path, at_ns: int = START + SECOND, boot: Boot | None = None):
    return ship(own, str(shared), {}, clock=lambda: at_ns, boot=boot)


@pytest.fixture
def later(monkeypatch):
    """Sets the wall clock of commands, so long after the states were written."""

    def at(after_ns: int) -> None:
        monkeypatch.setattr("iosonde.cli.shared.options.now_ns", lambda: START + after_ns)

    return at


def test_a_copy_speaks_with_its_age(roots, later, capsys):
    own, shared = roots
    assert shipped(own, shared).states == 2
    later(4 * MINUTE)
    assert run("now", store=shared) == 0
    slow, usual, _ = capsys.readouterr().out.splitlines()
    assert slow.endswith("; seen 4 min ago  (from login2)")
    assert usual.endswith("; seen 4 min ago  (from login2)")
    assert "3.1x slower" in slow
    assert run("check", store=shared) == 1
    assert "; seen 4 min ago" in capsys.readouterr().out.splitlines()[0]
    assert run("now", "--hosts", store=shared) == 0
    assert "states are up to 4 min old" in " ".join(capsys.readouterr().out.split())
    assert "seen" not in str(run("now", store=own)) + capsys.readouterr().out


def test_a_copy_is_silent_after_two_hours_and_forgotten_after_a_day(roots, later, capsys):
    own, shared = roots
    shipped(own, shared)
    later(2 * HOUR_NS + SECOND)
    assert run("check", store=shared) == 3
    assert "no news of /" in capsys.readouterr().out
    put(own, data=state(target="/data", written_ns=START + 25 * HOUR_NS))
    at_ns = START + 25 * HOUR_NS + SECOND
    assert shipped(own, shared, at_ns).states == 1  # what nobody wrote for a day stays behind
    later(25 * HOUR_NS + 2 * SECOND)
    assert run("now", store=shared) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("ok      /data is as usual")


def test_a_probe_that_was_silent_when_it_was_shipped_never_speaks(roots, later, capsys):
    own, shared = roots
    shipped(own, shared, START + 11 * SECOND)
    later(12 * SECOND)
    assert run("check", store=shared) == 3
    assert "no news of /" in capsys.readouterr().out


def test_a_copy_of_a_copy_keeps_its_first_instant_and_is_replaced(roots, tmp_path):
    own, shared = roots
    shipped(own, shared)
    shipped(shared, tmp_path / "third", START + HOUR_NS)
    assert {one["shipped_ns"] for one in read_states(tmp_path / "third")} == {START + SECOND}
    put(own, work=state(written_ns=START + MINUTE))
    shipped(own, shared, START + MINUTE)
    newest = {one["target"]: one["written_ns"] for one in read_states(shared)}
    assert newest == {"/work": START + MINUTE, "/home": START}
    assert not list((shared / "state").rglob(".*"))


def test_a_probe_that_writes_there_itself_is_not_overwritten(roots):
    own, shared = roots
    put(shared, work=state(written_ns=START + MINUTE, notes=["live"]))
    assert shipped(own, shared).states == 1
    (live,) = [one for one in read_states(shared) if one["target"] == "/work"]
    assert (live["notes"], live["shipped_ns"]) == (["live"], None)


def test_what_cannot_be_sent_is_said_and_stops_nothing(roots):
    own, shared = roots
    folder = own / "state" / "login2"
    (folder / "torn.json").write_text('{"schema_version": 1, "hos')
    (folder / "a b.json").write_text(json.dumps(state(target="/odd")))
    done = shipped(own, shared)
    assert done.states == 2
    (line,) = done.told
    assert "torn.json: not JSON" in line


def test_two_machines_of_one_name_show_and_a_restart_does_not(roots, tmp_path):
    own, shared = roots
    other = tmp_path / "other"
    first = Boot("one", START - 10 * MINUTE)
    put(own, work=state(boot_id="one"))
    assert shipped(own, shared, boot=first).namesakes == []
    put(other, work=state(boot_id="two", written_ns=START + MINUTE))
    restarted = Boot("two", START + 40 * SECOND)
    assert shipped(other, shared, START + MINUTE, restarted).namesakes == []
    put(own, work=state(boot_id="one", written_ns=START + 2 * MINUTE))
    assert shipped(own, shared, START + 2 * MINUTE, first).namesakes == ["login2"]
    assert namesakes(read_states(shared)) == ["login2"]


def test_the_time_of_shipping_is_no_clock_that_is_off(roots):
    own, shared = roots
    now_ns = time.time_ns()
    put(own, work=state(written_ns=now_ns - 9 * SECOND))
    shipped(own, shared, now_ns)
    states = [one for one in read_states(shared) if one["target"] == "/work"]
    assert clock_offsets(states, now_ns) == ()
    assert "old" in fleet_now(states, now_ns).sentence
    ahead = [one | {"shipped_ns": now_ns + 90 * SECOND} for one in states]
    assert [one.host for one in clock_offsets(ahead, now_ns)] == ["login2"]


def test_this_boot_is_the_kernels(tmp_path):
    boot = this_boot()
    assert boot is not None
    assert len(boot.boot_id) == 36
    assert 0 < boot.started_ns < time.time_ns()
    assert this_boot(tmp_path) is None
