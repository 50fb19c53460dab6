"""Hangs from samples alone: where the agent's notes are gone, an import never had them, or nobody could note."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from iosonde.model.frames import NULL_NS, SlowdownQuery
from iosonde.weather.events.pieces.hangs import HANG_NS, hang_pieces, patience_ns
from iosonde.weather.events.slow_words import say_seen, say_slow_event
from iosonde.weather.events.timeline import happened
from iosonde.weather.samples.operations import FAILED, GONE, IN_TIME, LATE, Operations
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, START, row, sealed, simulated

HOUR = 3600
CREATE, STAT = 333_333_332, 499_999_998
"""When creates and stats are due within a second."""


def query(begin_s, end_s):
    return SlowdownQuery(since_ns=START + begin_s * SECOND, until_ns=START + end_s * SECOND)


@pytest.fixture(scope="module")
def hung(tmp_path_factory):
    """Three hours of a real probe on simulated storage, of which the agent's notes are lost."""
    root = tmp_path_factory.mktemp("hung")
    faults = (
        {"op": "md_create", "after": "20m", "for": "20s", "hang": True},
        {"op": "md_create", "after": "2h", "for": "60s", "hang": True},
        {"op": "md_stat", "after": "150m", "for": "10s", "hang": True},
    )
    simulated(root, 3 * HOUR, *faults)
    notes = root / "notes"
    shutil.move(root / "events", notes)
    return root


def test_hangs_of_ten_seconds_and_of_a_minute_are_events_to_the_operation(hung):
    found = happened(Store(hung), query(HOUR, 3 * HOUR), START + 3 * HOUR * SECOND).slow
    assert [(event.kind, event.op) for event in found] == [
        ("hang", "md_create"),
        ("hang", "md_stat"),
    ]
    for event, begin_s, due_ns, long in zip(
        found, (7200, 9000), (CREATE, STAT), (60, 10), strict=True
    ):
        assert event.start_ns == START + begin_s * SECOND + due_ns, "due of the first"
        assert abs(event.end_ns - START - (begin_s + long) * SECOND) < SECOND
    said = say_slow_event(found[0], START + 3 * HOUR * SECOND)
    assert said.startswith("creates on /work hung for 60 s from ")
    assert said.endswith("13:20")


def test_a_hang_is_told_while_what_is_usual_is_still_learnt(hung):
    (event,) = happened(Store(hung), query(0, HOUR), START + 3 * HOUR * SECOND).slow
    assert (event.kind, event.op) == ("hang", "md_create")
    assert abs(event.start_ns - START - 1200 * SECOND) < SECOND
    assert event.median is None


def test_with_the_agents_notes_each_hang_is_told_once(hung, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("time.time_ns", lambda: START + 3 * HOUR * SECOND)
    root = tmp_path / "noted"
    shutil.copytree(hung, root)
    shutil.copytree(root / "notes", root / "events", dirs_exist_ok=True)
    assert run("events", "--format", "json", store=root) == 0
    told = json.loads(capsys.readouterr().out)
    noted = [(event["kind"], event["op"]) for event in told["events"]]
    assert noted == [("hang", "md_create"), ("hang", "md_create"), ("hang", "md_stat")]
    assert told["slow"] == []


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """Two hours of creates and stats on four hosts; of login3 300 of 300 creates time out."""
    root = tmp_path_factory.mktemp("four")
    rng = np.random.default_rng(5)
    for number in range(4):
        host = f"login{number}"
        rows = []
        for op, usual_ns in (("md_create", 1_000_000), ("md_stat", 40_000)):
            service = (usual_ns * np.exp(rng.normal(0, 0.3, 2 * HOUR))).astype(int).tolist()
            ones = [row(START + i * SECOND, s, op=op, host=host) for i, s in enumerate(service)]
            if number == 3 and op == "md_create":
                for one in ones[5400:5700]:
                    one |= {"outcome": "timeout", "began_ns": None, "ended_ns": None}
            rows += ones
        path = sealed(root, f"s{number}", rows)
        right = path.parent.with_name(f"host={host}")
        right.mkdir(exist_ok=True)
        path.rename(right / path.name)
    return Store(root)


def test_the_host_whose_operations_are_all_lost_is_named(four):
    found = happened(four, query(HOUR, 2 * HOUR), START + 3 * HOUR * SECOND)
    (event,) = found.slow
    assert (event.kind, event.host, event.op) == ("hang", "login3", "md_create")
    assert (event.start_ns - START, event.end_ns - START) == (
        5400 * SECOND,
        5700 * SECOND + 1_000,
    )
    (seen,) = found.seen
    assert say_seen(seen) == (
        "creates on /work hung for login3 alone; 3 other hosts saw nothing unusual"
    )


def operations(*rows):
    """(due, began, ended, fate) in seconds, None where unknown."""

    def column(place):
        values = [NULL_NS if one[place] is None else int(one[place] * SECOND) for one in rows]
        return np.array(values, dtype=np.int64)

    fate = np.array([one[3] for one in rows])
    return Operations(*map(column, range(3)), fate, np.zeros(len(rows), np.int64))


def good(at):
    return at, at, at + 0.001, IN_TIME


def found(*rows, limit=HANG_NS):
    return [
        (p.begin_ns / SECOND, p.end_ns / SECOND, p.open)
        for p in hang_pieces("op", operations(*rows), limit)
    ]


def test_what_is_a_hang():
    assert found(good(0), (1, 1, 11, IN_TIME), good(12)) == [(1, 11, False)]
    assert found(good(0), (1, 1, 5.9, IN_TIME), good(7)) == [], "below the patience"
    gone = [(at, None, 61, GONE) for at in range(2, 61)]
    assert found(good(0), (1, 1, 61, LATE), *gone, good(61)) == [(1, 61, False)]
    pending = [(at, at, None, GONE) for at in range(1, 9)]
    assert found(good(0), *pending, good(9)) == [(1, 9, False)], "the first good one"
    assert found(good(0), *pending) == [(1, 8, True)]
    assert found(good(0), (10, 10, None, GONE)) == [], "open when recording stopped"
    assert found(good(0), (10, 10, 12, GONE), good(20)) == [], "a timeout of two seconds"
    failed = [(at, at, at + 0.001, FAILED) for at in range(1, 60)]
    assert found(good(0), *failed, good(60)) == [], "errors come back"
    assert found(good(0), (1, None, None, GONE), good(90_000)) == [], "nobody looked in between"


def test_patience_follows_what_is_usual():
    nan = float("nan")
    assert patience_ns(SECOND, nan, nan) == 5 * SECOND
    assert patience_ns(60 * SECOND, 1e6, 1e7) == 120 * SECOND
    assert patience_ns(SECOND, 1e9, nan) == 50 * SECOND
    assert patience_ns(SECOND, 1e6, 3e9) == 9e9
