"""iosonde events over weeks: slow stretches, who saw them, what comes back."""

import json
import re

import numpy as np
import pytest

from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.history import recurrence_of
from iosonde.weather.events.timeline import happened
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
"""A Monday, 00:00 UTC."""
DAY, HOUR, WEEK = 86_400, 3_600, 7 * 86_400
WEEKS = 5
SATURDAY = 5 * DAY
OPS = ("md_read", "md_create")
BACKUP = [
    Trouble("md_read", k * WEEK + SATURDAY + 2 * HOUR, k * WEEK + SATURDAY + 5.5 * HOUR, 3.0)
    for k in range(WEEKS)
]
STORM = Trouble("md_create", 33 * DAY + 10 * HOUR, 33 * DAY + 11 * HOUR, 6.0)
ALONE = Trouble("md_create", 34 * DAY, 34 * DAY + HOUR, 6.0)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("weeks")
    for number, host in enumerate(("login1", "login2", "login3")):
        troubles = [*BACKUP, STORM, *([ALONE] if number == 2 else [])]
        rng = np.random.default_rng(number)
        made(root, rng, START, WEEKS * WEEK, troubles, host=host, period_s=10, ops=OPS)
    return Store(root)


def test_events_have_begin_end_and_scope(store):
    query = SlowdownQuery(since_ns=START + 32 * DAY * SECOND)
    found = happened(store, query, START + WEEKS * WEEK * SECOND)
    events, seen = found.slow, found.seen
    storms = [event for event in events if event.ops[0].op == "md_create"]
    assert [event.host for event in storms] == ["login1", "login2", "login3", "login3"]
    for event in storms[:3]:
        assert abs(event.start_ns - START - STORM.begin_s * SECOND) <= 60 * SECOND
        assert abs(event.end_ns - START - STORM.end_s * SECOND) <= 60 * SECOND
        assert event.median == pytest.approx(6.0, rel=0.15)
    words = {(one.scope, one.hosts) for one in seen}
    assert ("client", ("login3",)) in words
    assert any(scope == "storage" and len(hosts) == 3 for scope, hosts in words)


def test_a_backup_is_named_with_its_hours(store):
    end = START + WEEKS * WEEK * SECOND
    places = recurrence_of(store, SlowdownQuery(until_ns=end), np.random.default_rng(1))
    found = [one for place in places.values() for one in place.found]
    assert {one.host for one in found} == {"login1", "login2", "login3"}
    for one in found:
        assert (one.op, one.period_h, one.span.weekday) == ("md_read", 168, 5)
        assert abs(one.span.start_min - 120) <= 30
        assert abs(one.span.end_min - 330) <= 30
        assert one.seen >= 4
        assert one.seen <= one.of


def test_the_command_says_it(store, capsys):
    at = ["--since", "2026-10-09T00:00+00:00", "--until", "2026-10-12T00:00+00:00"]
    assert run("events", *at, store=store.root) == 0
    text = capsys.readouterr().out
    assert "/work slow: creates 6." in text or "/work slow: creates 5." in text
    assert "creates on /work were slow for login3 alone" in text
    assert run("events", *at, "--format", "json", store=store.root) == 0
    told = json.loads(capsys.readouterr().out)
    assert {event["ops"][0]["op"] for event in told["slow"]} == {"md_create", "md_read"}
    assert all(event["sentence"] for event in told["slow"] + told["seen"])
    until = ["--until", "2026-10-12T00:00+00:00"]
    assert run("events", "--recurring", *until, store=store.root) == 0
    text = capsys.readouterr().out
    named = r"small reads of /work are (2\.9|3\.0|3\.1)x slower on Saturdays 02:00-05:30 \(UTC\): 5 of 5"
    assert re.search(named, text)
    assert "(seen from login1, login2 and login3)" in text
    assert run("events", "--agent-events", *at, store=store.root) == 0
    assert capsys.readouterr().out == "No events.\n"
