"""``iosonde-agent now`` and ``check`` (no Python needed) answer as ``iosonde now`` and ``check`` do.

Verdicts and sentences are one core's; who reads the states, chooses targets and prints is not.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from datetime import UTC, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from iosonde.weather.slowdown.answers import check, current
from iosonde.weather.slowdown.findings import SEVERITIES, from_states, worst_first
from iosonde.weather.slowdown.words import say_all
from tests.kit.commands import put, run
from tests.kit.hanging import hanging
from tests.kit.harness import AGENT
from tests.kit.samples.makers import SECOND, START, op_state, state, with_ops

pytestmark = pytest.mark.usefixtures("now")

SLOW = {"state": "slow", "slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4}
SLOW |= {"since_ns": START - 500 * SECOND, "q95_ns": 412_000_000}
HUNG = {"state": "hung", "inflight_due_ns": START - 77 * SECOND}
LEARNING = {"slowdown": None, "state": "learning", "baseline_windows": 2}
COPY = {"written_ns": START - 240 * SECOND, "shipped_ns": START - 239 * SECOND}
PART = {"of": "/work", "pin": {"ost": 3}}
STORES: dict[str, dict[str, dict[str, Any]]] = {
    "learning": {"a": with_ops(**{op["op"]: LEARNING for op in state()["ops"]})},
    "usual": {"a": state(), "b": state(target="/home", notes=["buffered | no O_DIRECT"])},
    "young": {"a": with_ops(data_read={"stage": "learning", "baseline_windows": 6})},
    "slow": {
        "a": with_ops(data_read=SLOW, md_stat=SLOW | {"slowdown": 12.5}),
        "b": state(target="/b"),
    },
    "partly": {"a": with_ops(md_create={"state": "slow", "partly": True, "tail": 7.7})},
    "cold": {
        "a": with_ops(
            data_read={"state": "slow", "partly": True, "alarm": "cache"}
            | {"hits": 0.02, "hits_usual": 0.8, "since_ns": START - 500 * SECOND}
        )
    },
    "lost": {"a": with_ops(md_read={"lost": 0.125, "lost_lower": 0.06})},
    "busy": {"a": with_ops(data_write=SLOW | {"host_busy": True})},
    "hung": {
        "a": with_ops(md_create=HUNG, md_stat=HUNG)
        | {"health": [{"evidence": {"wchan": "io"}}] * 6}
    },
    "failing": {
        "a": with_ops(data_read={"state": "failing", "last_outcome": "ESTALE", "since_ns": START})
    },
    "stopped": {"a": state(running=False), "b": state(target="/b", running=False, written_ns=0)},
    "stale": {"a": state(written_ns=START - 90_061 * SECOND)},
    "servers": {
        **{f"o{i}": state(target=f"w/{i}", component=PART | {"name": f"OST{i}"}) for i in range(6)},
        "slow": with_ops(data_read=SLOW) | {"target": "w/9", "component": PART | {"name": "OST9"}},
    },
    "shipped": {
        "a": with_ops(
            data_read=SLOW, md_stat=SLOW | {"slowdown": 12.5, "since_ns": START - 9000 * SECOND}
        )
        | COPY,
        "b": with_ops(md_create=HUNG) | COPY | {"target": "/b"},
        "c": state(target="/c", **COPY),
        "d": with_ops(data_write=SLOW | {"host_busy": True}) | COPY | {"target": "/d"},
    },
    "shipped long ago": {
        "a": state(written_ns=START - 7201 * SECOND, shipped_ns=START - 7200 * SECOND),
        "b": state(target="/b", written_ns=START - 60 * SECOND, shipped_ns=START),
        "c": state(
            target="/c", written_ns=START - 99_999 * SECOND, shipped_ns=START - 99_999 * SECOND
        ),
        "d": state(target="/d", written_ns=START + 999 * SECOND, shipped_ns=START + 999 * SECOND),
        "e": state(target="/e", running=False, **COPY),
    },
    "namesakes": {
        "a": state(boot_id="one"),
        "b": state(target="/b", boot_id="two", written_ns=START - 9 * SECOND),
        "c": state(target="/c", host="n1", namesake_ns=START - 50 * SECOND),
    },
    "foreign": {
        "a": state(schema_version=2),
        "b": {"host": 3},
        "c": with_ops(data_read={"slowdown": "x"}),
    },
}
"""Each says something else; all are of START."""
REQUESTS: tuple[tuple[str, ...], ...] = (
    ("now",),
    ("now", "-v", "/work"),
    ("now", "--json"),
    ("check",),
    ("check", "-v", "-w", "1.05", "-c", "~:3"),
    ("check", "/work", "-w", "@1:2", "-c", "9"),
    ("check", "-w", "5", "-c", "2"),
    ("check", "-w", "1e3"),
    ("check", "/wrok"),
    ("check", "--nope"),
)


@pytest.fixture(params=["UTC", "Europe/Berlin", "Asia/Kathmandu"])
def zone(request, monkeypatch):
    """Local time, of both."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def answered(*request: str, store: Path) -> tuple[int, str]:
    """What the agent's child answers at START: exit code and text."""
    done = subprocess.run(
        [AGENT, "answer", "plain", str(START), *request, "--store", store],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    last = json.loads(done.stdout.splitlines()[-1])["Answer"]
    return last["code"], last["text"]


def said(capfd: pytest.CaptureFixture[str], *request: str, store: Path) -> tuple[int, str]:
    """What ``iosonde`` answers at START: exit code and text."""
    capfd.readouterr()
    code = run(*request, store=store)
    out, err = capfd.readouterr()
    return code, out + err.removeprefix("iosonde: ")


def same(one: str, other: str) -> bool:
    """Equal texts; of JSON, equal values; a hint names the command that gave it."""
    if one.startswith("{"):
        return json.loads(one) == json.loads(other)
    return one.rstrip("\n").replace("iosonde-agent", "iosonde") == other.rstrip("\n")


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("request_", REQUESTS[:7], ids=" ".join)
def test_the_same_words_and_codes(tmp_path, capfd, zone, name, request_):
    put(tmp_path, **STORES[name])
    code, text = answered(*request_, store=tmp_path)
    expected_code, expected = said(capfd, *request_, store=tmp_path)
    if expected.startswith(
        "IOSONDE UNKNOWN - -w"
    ):  # the parent puts the status in front of a refusal
        expected_code, expected = 2, expected.removeprefix("IOSONDE UNKNOWN - ")
    if "no probe watches" in expected:
        expected_code, expected = 2, expected.removeprefix("IOSONDE UNKNOWN - ")
    assert code == expected_code
    assert same(text, expected), (text, expected)


MESSY: tuple[object, ...] = (None, 0, 1, -3, 2.5, 1e-5, True, "x", "ok", [], {}, "a\x1b[31mb\u202e")
WORDS = ("learning", "ok", "slow", "failing", "hung", "stopped", "")


def scrambled_op(rng: random.Random, op: str) -> dict[str, Any]:
    """An operation in any state, with latencies of heavy tails and, now and then, a member of a wrong type."""
    factor = rng.choice(
        [None, rng.paretovariate(0.8), round(rng.paretovariate(1), 1), 2.0, 9.95, 0.25]
    )
    one = op_state(
        op,
        state=rng.choice(WORDS),
        slowdown=factor,
        slowdown_lower=rng.choice([None, factor and factor * rng.random()]),
        slowdown_upper=rng.choice([None, factor and factor * (1 + rng.random())]),
        stage=rng.choice(["learning", "reliable", None]),
        baseline_windows=rng.choice([0, 3, 5, 40]),
        since_ns=rng.choice([None, START - rng.randrange(10**15)]),
        inflight_due_ns=rng.choice([None, START - rng.randrange(10**12)]),
        host_busy=rng.random() < 0.2,
        partly=rng.random() < 0.2,
        tail=rng.choice([None, rng.paretovariate(1)]),
        lost=rng.choice([None, 0.0, rng.random(), 0.99951, 0.125, 1]),
        lost_lower=rng.choice([None, 0.0, 0.05, rng.random()]),
        climate=rng.choice([None, 1.0, 1.25, rng.paretovariate(1)]),
        q95_ns=rng.choice([None, rng.paretovariate(0.3), rng.randrange(10**10)]),
        last_outcome=rng.choice(["ok", "EIO", "timeout", None]),
        n_seen=rng.choice([0, 60]),
    )
    if rng.random() < 0.1:
        one[rng.choice(sorted(one))] = rng.choice(MESSY)
    return one


def scrambled_state(rng: random.Random, number: int) -> dict[str, Any]:
    """A state of any kind."""
    names = rng.sample(
        ["data_read", "data_write", "md_create", "md_stat", "md_read", "exotic"], rng.randrange(7)
    )
    one = state(
        target=rng.choice(
            ["/work", "/home", f"/t{number}", f"/sc|r{number}", "/", "w \u4e2d\u0301"]
        ),
        host=rng.choice(["login1", "login2"]),
        written_ns=START - rng.choice([0, 5, 11, 400, 90_000, -30]) * SECOND,
        period_ns=rng.choice([SECOND, 60 * SECOND]),
        running=rng.random() < 0.85,
        ops=[scrambled_op(rng, name) for name in names],
        health=[{"evidence": {"wchan": rng.choice(["rpc_wait", "io", None])}} for _ in names],
        component=rng.choice(
            [None, None, {"name": f"OST{number}", "of": "/work", "pin": {"mdt": 1}}]
        ),
        notes=rng.choice([[], ["a note"], [3, "b|c"]]),
    )
    if rng.random() < 0.08:
        one[rng.choice(sorted(one))] = rng.choice(MESSY)
    return one


@pytest.mark.parametrize("zone", ["America/New_York"], indirect=True)
def test_the_same_of_a_thousand_states_whatever_they_say(tmp_path, capfd, zone):
    rng = random.Random(5)
    kinds: set[str] = set()
    for number in range(40):
        root = tmp_path / str(number)
        put(root, **{f"s{i}": scrambled_state(rng, i) for i in range(30)})
        for path in sorted(root.glob("state/login2/*.json")):
            heard_ns = START - rng.choice([0, 60, -60]) * SECOND
            os.utime(path, ns=(heard_ns, heard_ns))
        (root / "state/login2/torn.json").write_bytes(b'{"schema_version": 1, "ho')
        for request in (
            ("now", "-v"),
            ("now", "--json"),
            ("check", "-v"),
            ("check", "-w", "1.5", "-c", "@2:4"),
        ):
            code, text = answered(*request, store=root)
            expected_code, expected = said(capfd, *request, store=root)
            assert code == expected_code
            other = dict(zip(text.splitlines(), expected.splitlines(), strict=False))
            different = [pair for pair in other.items() if pair[0] != pair[1]]
            assert same(text, expected), (number, request, different[:2])
        kinds |= {
            one["kind"] for one in json.loads(answered("now", "--json", store=root)[1])["targets"]
        }
    assert kinds == {
        *(
            "usual",
            "learning",
            "few",
            "host_busy",
            "slow",
            "lost",
            "failing",
            "hung",
            "stopped",
            "stale",
        ),
        "damaged",
    }


HOSTILE: tuple[object, ...] = (
    *(None, True, 2**63, -(2**63), 10**30, float("nan"), float("inf"), -0.0, 1e308, b"x", ("a",)),
    *("\ud800", "\x00", "hung", "slow", "damaged", [], [[]], {}, {"of": 1}, {"of": "/w"}, object()),
)
"""What no reader of states lets through; the core must not fall over it all the same."""


def hostile_state(rng: random.Random, number: int) -> dict[str, Any]:
    """A state of any kind with members, and members of operations, of any type at all."""
    one = scrambled_state(rng, number)
    for table in (one, *(one["ops"] if isinstance(one["ops"], list) else [])):
        if isinstance(table, dict):
            for name in rng.sample(sorted(table), min(len(table), rng.randrange(4))):
                table[name] = rng.choice(HOSTILE)
            if rng.random() < 0.2:
                table.pop(rng.choice(sorted(table)), None)
    return one


def test_no_state_whatsoever_makes_the_core_panic():
    rng = random.Random(11)
    zones = (None, UTC, ZoneInfo("Asia/Kathmandu"), timezone(timedelta(hours=-14)))
    for number in range(400):
        states = [hostile_state(rng, place) for place in range(5)]
        at_ns = rng.choice([START, 0, -(2**63), 2**63 - 1])
        found = from_states(states, at_ns)
        assert {one.severity for one in found} <= set(SEVERITIES)
        said = say_all(found, rng.choice(zones))
        assert all(said), number
        assert len(worst_first(found)) == len(found)
        assert check(states, at_ns, verbose=True)[1].startswith("IOSONDE ")
        assert len(current(states, at_ns)) <= len(states)


def test_what_is_no_finding_is_refused():
    finding = from_states([state()], START)[0]
    for wrong in (finding[:5], finding._replace(kind="fine"), finding._replace(ops=(("op",),))):
        with pytest.raises((ValueError, TypeError)):
            say_all([wrong])
    with pytest.raises((ValueError, TypeError)):
        from_states([7], START)


def test_an_error_of_a_zone_reaches_its_caller():
    class Broken(tzinfo):
        def utcoffset(self, _moment):
            raise LookupError("no such place")

        dst = utcoffset

    stale = from_states([state(running=False)], START)
    with pytest.raises(LookupError, match="no such place"):
        say_all(stale, Broken())


def command(*request: object, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
    """The whole command as a user starts it: exit code, stdout, stderr."""
    done = subprocess.run(
        [AGENT, *map(str, request)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", **(environ or {})},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("request_", REQUESTS, ids=" ".join)
def test_the_command_ends_with_the_code_of_the_other(tmp_path, capfd, request_):
    put(tmp_path, a=state(running=False, written_ns=START))
    code, out, err = command(*request_, "--store", tmp_path)
    capfd.readouterr()
    assert code == run(*request_, store=tmp_path)
    assert (err == "") == (capfd.readouterr().err == "")
    if request_[0] == "check":
        assert out.startswith("IOSONDE UNKNOWN - ")


def test_the_store_is_found_as_the_other_finds_it(tmp_path):
    put(tmp_path / "iosonde", a=state())
    for environ in (
        {"IOSONDE_STORE": str(tmp_path / "iosonde")},
        {"XDG_STATE_HOME": str(tmp_path)},
    ):
        assert "/work" in command("now", environ=environ)[1]
    code, out, err = command("now")
    assert (code, out) == (1, "")
    assert "no probe states in /nowhere/.local/state/iosonde; expected a running probe; try" in err
    assert command("check")[:2] == (
        3,
        "IOSONDE UNKNOWN - no states in /nowhere/.local/state/iosonde; try --store /var/lib/iosonde\n",
    )


@pytest.mark.parametrize(("request_", "code"), [(("check", "-t"), 3), (("now", "--timeout"), 124)])
def test_it_answers_in_time_even_when_the_store_hangs(tmp_path, request_, code):
    put(tmp_path, work=state())
    with hanging(tmp_path / "state/login2/hung.json") as path:
        found, out, err = command(*request_, "300ms", "--store", tmp_path)
    assert found == code
    assert f"{tmp_path} did not answer within 0.3 s" in out + err
    if code == 124:
        assert f"{path} was being read" in err
