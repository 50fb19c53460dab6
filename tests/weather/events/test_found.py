"""Events of a store whose slow stretches a test knows to the second."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pytest

from iosonde.model.frames import SlowdownQuery
from iosonde.model.verdicts import Reason
from iosonde.weather.events.log import Event, EventLog
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.timeline import happened
from iosonde.weather.events.told import told_events
from iosonde.weather.events.unjudged_words import say_unjudged
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
"""A Monday, 00:00 UTC."""
HOUR, DAY = 3600, 86_400
TENTH = Trouble("md_create", 20 * HOUR, 22 * HOUR, 10.0, share=0.1)
MINUTE = Trouble("data_read", 5 * HOUR, 5 * HOUR + 60, 10.0)
MILD = Trouble("md_read", 8 * HOUR, 9 * HOUR, 2.4)
HARD = Trouble("data_read", 8 * HOUR + 1200, 8 * HOUR + 1290, 300.0)
NIGHT = Trouble("md_create", 23 * HOUR, 26 * HOUR, 4.0)
EARLY = Trouble("data_read", 1800, 2400, 8.0)
TROUBLES = (TENTH, MINUTE, MILD, HARD, NIGHT, EARLY)
OPS = ("data_read", "md_create", "md_read")
LONG = 30 * HOUR


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("found")
    made(root, np.random.default_rng(8), START, LONG, TROUBLES, ops=OPS)
    return Store(root)


def at(seconds):
    return START + int(seconds * SECOND)


def found(store, begin_s=0, end_s=LONG, now_s=LONG, noted=()):
    query = SlowdownQuery(since_ns=at(begin_s), until_ns=at(end_s))
    return happened(store, query, at(now_s), noted)


def spans(events):
    return [
        (
            event.kind,
            event.op,
            (event.start_ns - START) / SECOND,
            (event.seen_until_ns - START) / SECOND,
        )
        for event in events
    ]


def test_every_slow_stretch_is_found_from_its_first_to_its_last_slow_operation(store):
    events = found(store).slow
    wanted = [
        ("slow", "data_read", EARLY),
        ("slow", "data_read", MINUTE),
        ("slow", "data_read", MILD),
        ("partly_slow", "md_create", TENTH),
        ("slow", "md_create", NIGHT),
    ]
    assert [(event.kind, event.op) for event in events] == [one[:2] for one in wanted]
    for event, (_, _, trouble) in zip(events, wanted, strict=True):
        off = 60 if trouble is TENTH else 20
        assert abs(event.start_ns - at(trouble.begin_s)) <= off * SECOND
        assert abs(event.end_ns - at(trouble.end_s)) <= off * SECOND, "the alarm cleared later"


def test_a_partly_slow_stretch_is_said_as_such(store):
    (event,) = [one for one in found(store).slow if one.kind == "partly_slow"]
    assert event.cause in ("share", "tail")
    text = say_slow_event(event, at(LONG))
    assert text.startswith("some creates on /work were slow from ")
    assert 3 < event.ops[0].tail < 30


def test_each_number_is_of_the_op_beside_it(store):
    event = next(one for one in found(store).slow if len([s for s in one.ops if s.affected]) == 2)
    shares = {share.op: share for share in event.ops}
    reads, small = shares["data_read"], shares["md_read"]
    assert reads.median == pytest.approx(300, rel=0.2)
    assert small.median == pytest.approx(2.4, rel=0.1)
    assert small.peak < 4, "not that of reads"
    assert abs(small.start_ns - at(MILD.begin_s)) <= 10 * SECOND
    assert abs(reads.start_ns - at(HARD.begin_s)) <= 5 * SECOND
    assert at(HARD.begin_s - 60) <= reads.peak_ns <= at(HARD.end_s)
    first, second = say_slow_event(event, at(LONG)).split(". ")
    assert first.startswith("reads on /work were ")
    assert "from " in first
    assert second.startswith("Small reads were 2.4x slower from ")
    assert "300" not in second
    assert all(len(text.split()) <= 25 for text in (first, second))


def test_the_first_hour_is_judged_by_its_windows_so_far_and_that_is_said(store):
    young = found(store, 0, HOUR)
    (event,) = young.slow
    assert event.median == pytest.approx(8.0, rel=0.1)
    assert event.ops[0].lower < 8.0 < event.ops[0].upper
    assert abs(event.start_ns - at(EARLY.begin_s)) <= 5 * SECOND
    assert abs(event.end_ns - at(EARLY.end_s)) <= 10 * SECOND
    (span,) = young.not_judged
    assert (span.reason, span.begin_ns, span.end_ns) == (Reason.LEARNING, at(0), at(HOUR))
    assert not span.blind
    said = say_unjudged(span, at(2 * HOUR))
    assert said.startswith("/work from login2: what was usual until ")
    assert said.endswith("was learned from less than 1 h")
    assert found(store, 2 * HOUR, 3 * HOUR).not_judged == []


def test_losses_without_doubt_need_no_baseline(tmp_path):
    made(tmp_path, np.random.default_rng(3), START, HOUR, failed=0.3, ops=("md_stat",))
    (event,) = found(Store(tmp_path), 0, HOUR, HOUR).slow
    assert event.kind == "lost"
    assert event.median == pytest.approx(1.0, abs=0.1)
    assert event.lost == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("since_s", [24.5 * HOUR, 25.9 * HOUR])
def test_an_event_that_began_before_the_range_keeps_its_begin(store, since_s):
    (event,) = found(store, since_s).slow
    assert abs(event.start_ns - at(NIGHT.begin_s)) <= 20 * SECOND


def test_an_event_of_a_probe_that_stopped_is_not_still_open(tmp_path):
    slow = Trouble("md_create", 2 * HOUR, 3 * HOUR, 5.0)
    made(tmp_path, np.random.default_rng(2), START, 3 * HOUR, [slow], ops=("md_create",))
    store = Store(tmp_path)
    query = SlowdownQuery(since_ns=START)
    for late_s, stopped in ((60, False), (600, True)):
        (event,) = happened(store, query, at(3 * HOUR + late_s)).slow
        assert event.end_ns is None, "nobody saw its end"
        assert (event.unknown_since_ns is not None) == stopped
        assert ("not known since" in say_slow_event(event, at(4 * HOUR))) == stopped


def alarm(begin_s, end_s, op="md_create"):
    return Event(
        id="r-1",
        kind="slow",
        host="login2",
        target="/work",
        op=op,
        began_ns=at(begin_s),
        ended_ns=None if end_s is None else at(end_s),
        written_ns=at(begin_s),
        outcome=None,
        attempts=0,
    )


def test_of_a_noted_and_a_computed_begin_the_better_counts_and_an_alarm_is_told_once(store):
    for noted, off_s in (
        (alarm(20 * HOUR - 300, 22 * HOUR + 400), 300),
        (alarm(20.2 * HOUR, None), 0),
    ):
        log = EventLog([], [noted])
        seen = told_events(store.root, log, (at(19 * HOUR), at(22.8 * HOUR)), at(LONG))
        (event,) = seen.slow
        assert abs(event.start_ns - at(TENTH.begin_s - off_s)) <= 60 * SECOND
        assert abs(event.end_ns - at(TENTH.end_s)) <= 60 * SECOND, "an alarm's end never counts"
        assert seen.logged == []
    other = alarm(11 * HOUR, 11.1 * HOUR)
    seen = told_events(store.root, EventLog([], [other]), (at(10 * HOUR), at(12 * HOUR)), at(LONG))
    assert (seen.slow, seen.logged) == ([], [other])


def test_a_lasting_change_is_one_event_and_its_interim_ones_are_part_of_it(tmp_path):
    days = 30
    slow = [
        Trouble("data_read", 8 * DAY, days * DAY, 2.5),
        Trouble("data_read", 12 * DAY, 12 * DAY + HOUR, 8.0),
    ]
    ops = ("data_read", "md_stat")
    made(tmp_path, np.random.default_rng(2), START, days * DAY, slow, period_s=20, ops=ops)
    events = found(Store(tmp_path), 0, days * DAY, days * DAY).slow
    kinds = [(event.kind, event.op) for event in events]
    assert kinds == [("change", "data_read"), ("slow", "data_read")], spans(events)
    change, real = events
    assert change.median == pytest.approx(2.5, rel=0.1)
    assert abs(change.start_ns - at(8 * DAY)) <= HOUR * SECOND
    assert say_slow_event(change, at(days * DAY)).startswith(
        "reads on /work have been lastingly 2.5x slower since "
    )
    assert abs(real.start_ns - at(12 * DAY)) <= 600 * SECOND


@pytest.fixture
def written(tmp_path, monkeypatch):
    slow = Trouble("md_create", 2 * HOUR, 2.5 * HOUR, 5.0)
    made(tmp_path, np.random.default_rng(6), START, 3 * HOUR, [slow], ops=("md_create",))
    monkeypatch.setattr("time.time_ns", lambda: at(4 * HOUR))
    return tmp_path


def lines(root):
    return [
        json.loads(line)
        for path in sorted(root.glob("events/*/found-*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def test_closed_events_are_written_back_once_and_never_told_twice(written, capsys):
    for _ in range(3):
        assert run("events", "--format", "json", store=written) == 0
        told = json.loads(capsys.readouterr().out)
        assert (len(told["slow"]), told["events"]) == (1, [])
        (line,) = lines(written)
    event = told["slow"][0]
    assert (line["kind"], line["op"], line["source"]) == ("slow", "md_create", "samples")
    assert (line["began_ns"], line["ended_ns"]) == (event["start_ns"], event["end_ns"])
    assert line["peak"] == event["peak"] == pytest.approx(5, rel=0.2)
    query = f"SELECT id, median FROM read_json('{written}/events/*/*.jsonl', format='newline_delimited')"
    assert duckdb.sql(query).fetchall() == [(line["id"], line["median"])]
    out = written / "out.csv"
    assert run("events", "-o", str(out), store=written) == 0
    assert duckdb.sql(f"SELECT kind, source FROM '{out}'").fetchall() == [("slow", "samples")]


def test_what_was_written_stays_known_when_samples_are_gone(written, capsys):
    assert run("events", store=written) == 0
    (line,) = lines(written)
    for path in written.glob("samples/*/*/*.parquet"):
        path.unlink()
    for path in written.glob("rollups/*/*/*.parquet"):
        path.unlink()
    capsys.readouterr()
    assert run("events", "--format", "json", store=written) == 0
    told = json.loads(capsys.readouterr().out)
    assert [event["id"] for event in told["events"]] == [line["id"]]
    assert told["events"][0]["sentence"].startswith("creates on /work were slow from ")
    assert lines(written) == [line]


def test_a_line_that_is_computed_anew_with_other_numbers_is_replaced(written):
    assert run("events", store=written) == 0
    (path,) = written.glob("events/*/found-*.jsonl")
    stale = json.loads(path.read_text()) | {
        "peak": 99.0,
        "began_ns": at(2 * HOUR - 7),
        "id": "old-1",
    }
    path.write_text(json.dumps(stale) + "\n")
    assert run("events", store=written) == 0
    (line,) = lines(written)
    assert line["peak"] == pytest.approx(5, rel=0.2)
    before = path.stat().st_mtime_ns
    assert run("events", store=written) == 0
    assert path.stat().st_mtime_ns == before, "what says the same is not touched"
