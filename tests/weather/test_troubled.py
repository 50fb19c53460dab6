"""What every door says of stores in trouble whose truth is known: sentence, table, JSON, report.

``/metrics`` says the same of the same troubles: rust/agent/src/exposition/tests.rs.
"""

from __future__ import annotations

import json
import re
from datetime import UTC

import numpy as np
import pytest

from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.log import EventLog
from iosonde.weather.events.slow_words import say_seen, say_slow_event
from iosonde.weather.events.told import told_events
from iosonde.weather.report.heat import heat_table
from iosonde.weather.report.report import reports
from iosonde.weather.report.words import report_words
from iosonde.weather.slowdown.findings import from_state
from iosonde.weather.slowdown.words import say
from iosonde.weather.store import Store
from tests.kit.commands import put, run
from tests.kit.samples import troubled
from tests.kit.samples.made import made
from tests.kit.samples.makers import SECOND, state, with_ops
from tests.kit.samples.troubled import (
    CACHED_SLOW,
    FAULT,
    HARD,
    HOUR,
    HUNG_HOST,
    MILD,
    THIRD,
    UNCACHED,
    at,
)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return troubled.several_ops(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return troubled.one_of_four(tmp_path_factory.mktemp("four"))


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    return troubled.busy_host(tmp_path_factory.mktemp("busy"))


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    return troubled.cached_reads(tmp_path_factory.mktemp("cached"))


@pytest.fixture
def evening(monkeypatch, utc):
    """Ten hours after the stores begin."""
    monkeypatch.setattr("time.time_ns", lambda: at(10 * HOUR))


def told(capsys, store, *arguments):
    """What a command prints."""
    assert run(*arguments, store=store.root) == 0
    return capsys.readouterr().out


def as_json(capsys, store, *arguments):
    return json.loads(told(capsys, store, *arguments, "--format", "json"))


def report_of(store, since_s=7 * HOUR, until_s=10 * HOUR):
    query = SlowdownQuery(since_ns=at(since_s), until_ns=at(until_s))
    return reports(store, query, UTC, now_ns=at(10 * HOUR))


def short(text):
    """Whether every sentence of a text has at most 25 words."""
    return all(len(one.split()) <= 25 for one in text.split(". "))


def near(ns, seconds, off_s=20):
    return abs(ns - at(seconds)) <= off_s * SECOND


def test_each_of_several_slow_ops_has_its_own_numbers_in_the_events(several, capsys, evening):
    (event,) = as_json(capsys, several, "events")["slow"]
    assert (event["kind"], event["op"]) == ("slow", "data_read")
    shares = {share["op"]: share for share in event["ops"]}
    for trouble in (MILD, HARD, THIRD):
        share = shares[trouble.op]
        assert share["median"] == pytest.approx(trouble.factor, rel=0.1)
        assert near(share["start_ns"], trouble.begin_s)
        assert near(share["end_ns"], trouble.end_s)
    assert event["sentence"].startswith(
        "reads on /work were 40x slower than usual from 08:20 to 08:21. Small reads were 2.4x"
    )
    assert event["sentence"].endswith(". 1 more operation was slow, too")
    assert short(event["sentence"])
    (row,) = [line for line in told(capsys, several, "events").splitlines() if "slow:" in line]
    assert "/work slow: reads 40x, creates 3.0x, small reads 2.4x" in row


def test_each_of_several_slow_ops_has_its_own_stretch(several, capsys, evening):
    found = as_json(capsys, several, "slowdown")
    spans = {span["op"]: span for span in found["spans"]}
    assert len(found["spans"]) == 3
    assert found["lost"] == []
    for trouble in (MILD, HARD, THIRD):
        span = spans[trouble.op]
        assert span["slowdown"] == pytest.approx(trouble.factor, rel=0.1)
        assert span["slowdown_lower"] < trouble.factor < span["slowdown_upper"]
        assert near(span["start_ns"], trouble.begin_s)
        assert near(span["end_ns"], trouble.end_s, 60)
        assert not span["host_busy"]
        assert short(span["sentence"])
    table = told(capsys, several, "slowdown")
    assert re.search(r"reads +\S+ ms .* (39|40|41)x at 08:20", table)
    assert "small reads on /work were 2.4x slower than usual (" in table


def test_a_report_begins_with_what_cost_most_and_tells_all(several):
    (report,) = report_of(several)
    words = report_words(report, UTC)
    assert re.match(
        r"reads on /work were (39|40|41)x slower than usual \(.*\) from", words["headline"]
    )
    assert short(words["headline"])
    heats = {heat.op: heat for heat in report.heats}
    assert np.nanmax(heats["md_read"].value) == pytest.approx(2.4, rel=0.1)
    assert np.nanmax(heats["md_create"].value) == pytest.approx(3.0, rel=0.1)


SLOW = {"state": "slow", "slowdown": 40.0, "slowdown_lower": 36.0, "slowdown_upper": 45.0}
SLOW |= {"since_ns": at(HARD.begin_s), "alarm": "typ"}
MILDLY = {"state": "slow", "slowdown": 2.4, "slowdown_lower": 2.1, "slowdown_upper": 2.7}
MILDLY |= {"since_ns": at(MILD.begin_s), "alarm": "typ"}


def now_is(*states):
    """States of probes that run, written ten hours after the stores begin."""
    return [one | {"written_ns": at(10 * HOUR), "error": None} for one in states]


def test_now_names_the_hardest_and_the_mildest(tmp_path, capsys, evening):
    (one,) = now_is(with_ops(data_read=SLOW, md_read=MILDLY))
    put(tmp_path, work=one)
    line = told(capsys, Store(tmp_path), "now")
    assert line.startswith(
        "slow    reads on /work are 40x slower than usual (36-45) since 08:20, "
        "small reads 2.4x (2.1-2.7) since 08:00"
    )
    (found,) = as_json(capsys, Store(tmp_path), "now")["targets"]
    assert [op["op"] for op in found["ops"]] == ["data_read", "md_read"]
    assert run("check", store=tmp_path) == 2
    assert capsys.readouterr().out.startswith("IOSONDE CRITICAL - reads on /work are 40x slower")


@pytest.mark.parametrize("extra", [{}, {"host_busy": True}])
def test_all_ops_slow_at_once_are_one_short_sentence(extra):
    ops = {op["op"]: SLOW | extra for op in state()["ops"]}
    (one,) = now_is(with_ops(**ops))
    text = say(from_state(one, at(10 * HOUR)), UTC)
    assert short(text)
    assert re.search(r", and [345] more", text)


def test_the_host_that_hangs_is_named_wherever_it_is_told(four, capsys, evening):
    found = as_json(capsys, four, "events")
    (event,) = found["slow"]
    assert (event["kind"], event["host"], event["op"]) == ("hang", HUNG_HOST, "md_create")
    assert near(event["start_ns"], troubled.GONE.begin_s, 1)
    assert near(event["end_ns"], troubled.GONE.end_s, 2)
    (seen,) = found["seen"]
    assert seen["sentence"] == (
        "creates on /work hung for login3 alone; 3 other hosts saw nothing unusual"
    )
    assert "creates on /work hung  " in told(capsys, four, "events")


def test_slowdown_says_what_was_lost(four, capsys, evening):
    found = as_json(capsys, four, "slowdown")
    assert found["spans"] == []
    (lost,) = found["lost"]
    assert (lost["host"], lost["op"], lost["n_lost"], lost["n_due"]) == (
        HUNG_HOST,
        "md_create",
        300,
        300,
    )
    line = "all 300 creates on /work were late, missing or failed from 08:00 to 08:05"
    assert lost["sentence"] == line
    pages = told(capsys, four, "slowdown").split("/work as seen from ")[1:]
    for page in pages:
        hung = page.startswith(HUNG_HOST)
        assert (f"- {line}" in page) == hung
        assert ("No slow stretch" in page) != hung
        assert ("- creates on /work hung for 5 min" in page) == hung
        assert ("'iosonde events' says whether other hosts saw it" in page) == hung


def test_a_report_of_a_hang_does_not_begin_with_as_usual(four):
    for report in report_of(four, until_s=9 * HOUR):
        hung = report.place.host == HUNG_HOST
        headline = report_words(report, UTC)["headline"]
        assert headline.startswith(
            "creates on /work hung for 5 min" if hung else "/work was as usual"
        )


def test_now_says_which_host_hangs(tmp_path, capsys, evening):
    stuck = {"state": "hung", "inflight_ns": 90 * SECOND}
    stuck |= {"inflight_due_ns": at(10 * HOUR - 90)}
    for number, host in enumerate(troubled.HOSTS):
        one = with_ops(md_create=stuck) if host == HUNG_HOST else state()
        (one,) = now_is(one | {"host": host})
        put(tmp_path, **{f"work{number}": one})
    first, *others, summary = told(capsys, Store(tmp_path), "now").splitlines()
    assert summary == "1 target seen from 4 hosts: 1 hanging or failing, 3 as usual"
    assert "creates on /work have been hanging for 90 s (since 09:58:30)" in first
    assert first.endswith(f"from {HUNG_HOST})")
    assert len(others) == 3
    assert all("is as usual" in line for line in others)


def happened(store, since_s, until_s):
    log = EventLog([], [])
    return told_events(store.root, log, (at(since_s), at(until_s)), at(10 * HOUR)).slow


def test_a_busy_host_is_no_event_and_excuses_none(busy):
    assert happened(busy, 7 * HOUR, 9 * HOUR) == [], "four times slower, and a tenth sixty times"
    creates, reads = happened(busy, 9 * HOUR, 10 * HOUR)
    for event, trouble in ((creates, FAULT), (reads, UNCACHED)):
        assert (event.kind, event.op) == ("slow", trouble.op)
        assert near(event.start_ns, trouble.begin_s), say_slow_event(event, at(10 * HOUR))
        assert near(event.end_ns, trouble.end_s)
    assert [share.op for share in creates.ops if share.affected] == ["md_create"]


def test_slowdown_keeps_a_busy_host_apart_from_the_storage(busy, capsys, evening):
    spans = as_json(capsys, busy, "slowdown", "--since", "2026-09-07T07:00")["spans"]
    found = [(span["op"], span["host_busy"]) for span in spans]
    assert found == [
        ("data_read", True),
        ("data_read", True),
        ("data_read", False),
        ("md_create", False),
    ]
    assert near(spans[2]["start_ns"], UNCACHED.begin_s), "after the host was busy"
    assert all(span["sentence"].startswith("the probing host was busy") for span in spans[:2])
    table = told(capsys, busy, "slowdown", "--since", "2026-09-07T07:00")
    (reads,) = [line for line in table.splitlines() if line.startswith("reads ")]
    assert "10 of 180, host busy in 40" in reads
    assert re.search(r"x at 09:2\d", reads), "the worst window is one of the storage"


def test_slow_reads_are_not_excused_by_a_median_that_waits_for_a_cpu(cached, capsys, evening):
    (event,) = happened(cached, 7 * HOUR, 10 * HOUR)
    assert (event.kind, event.median) == ("slow", pytest.approx(CACHED_SLOW.factor, rel=0.15))
    assert near(event.start_ns, CACHED_SLOW.begin_s, 60)
    assert near(event.end_ns, CACHED_SLOW.end_s, 60)
    spans = as_json(capsys, cached, "slowdown", "--since", "2026-09-07T07:00")["spans"]
    assert [span["host_busy"] for span in spans] == [True, False]
    (report,) = report_of(cached)
    assert report.heats[0].busy.sum() == 2
    headline = report_words(report, UTC)["headline"]
    assert re.match(r"reads on /work were (3\.[5-9]|4\.\d)x slower than usual", headline)


def test_a_report_draws_no_busy_minute_as_slow(busy):
    (report,) = report_of(busy, until_s=9 * HOUR)
    reads = next(heat for heat in report.heats if heat.op == "data_read")
    assert np.nanmax(reads.value) < 1.5
    assert reads.busy.sum() == 2
    assert np.isnan(reads.value[:2, 8]).all()
    assert 'title="08:00: the probing host explains it"' in heat_table(reads)
    assert report_words(report, UTC)["headline"].startswith("/work was as usual: ")
    (later,) = report_of(busy)
    headline = report_words(later, UTC)["headline"]
    assert re.match(
        r"creates on /work were (4\.9|5\.[0-3])x slower than usual \(.*\) from 09:05", headline
    )
    assert "the worst of 2 slow stretches" in headline
    assert short(headline)


def test_now_excuses_the_reads_and_not_the_creates(tmp_path, capsys, evening):
    waits = MILDLY | {"host_busy": True, "alarm": None}
    (one,) = now_is(with_ops(data_read=waits, md_create=SLOW))
    put(tmp_path, work=one)
    line = told(capsys, Store(tmp_path), "now")
    assert line.startswith(
        "slow    creates on /work are 40x slower than usual (36-45) since 08:20  ("
    )
    (one,) = now_is(with_ops(data_read=waits))
    put(tmp_path, work=one)
    assert told(capsys, Store(tmp_path), "now").startswith(
        "info    the probing host is busy: reads"
    )
    assert run("check", store=tmp_path) == 0


def test_losses_are_said_though_the_typical_operation_is_as_usual(tmp_path, capsys, evening):
    some = {"lost": 0.3, "lost_lower": 0.2, "lost_upper": 0.43, "alarm": "lost"}
    (one,) = now_is(with_ops(md_create=some, md_stat={"lost": 0.05, "lost_lower": 0.01}))
    put(tmp_path, work=one)
    line = told(capsys, Store(tmp_path), "now")
    assert line.startswith("slow    30% of creates on /work are late, missing or failed")
    assert run("check", store=tmp_path) == 1
    (one,) = now_is(with_ops(md_create=some, data_read=MILDLY))
    assert say(from_state(one, at(10 * HOUR)), UTC) == (
        "reads on /work are 2.4x slower than usual (2.1-2.7) since 08:00, 30% of creates lost"
    )


def test_the_first_hour_says_from_how_little_usual_is_learnt():
    young = {"stage": "learning", "baseline_windows": 12}
    ops = {op["op"]: young for op in state()["ops"]}
    (calm,) = now_is(with_ops(**ops))
    assert say(from_state(calm, at(10 * HOUR)), UTC).startswith(
        "/work is as usual (learned from 12 min): the slowest operation, "
    )
    (slow,) = now_is(with_ops(**ops | {"data_read": MILDLY | young}))
    text = say(from_state(slow, at(10 * HOUR)), UTC)
    assert text == (
        "reads on /work are 2.4x slower than usual (2.1-2.7) since 08:00; "
        "usual is learned from 12 min"
    )
    (known,) = now_is(state())
    assert "learnt" not in say(from_state(known, at(10 * HOUR)), UTC)


def test_every_door_says_the_same_of_the_first_hour(tmp_path, capsys, monkeypatch, utc):
    slow = troubled.Trouble("data_read", 2400, 3000, 4.0)
    made(tmp_path, np.random.default_rng(4), troubled.START, 3300, [slow], ops=("data_read",))
    store = Store(tmp_path)
    (report,) = report_of(store, 0, 3300)
    headline = report_words(report, UTC)["headline"]
    assert re.match(
        r"reads on /work were (3\.9|4\.[01])x slower than usual \(.*\) from 00:40 to 00:50",
        headline,
    )
    (event,) = happened(store, 0, 3300)
    (span,) = report.spans
    share = event.ops[0]
    assert (span.start_ns, span.end_ns, span.slowdown) == (
        share.start_ns,
        share.end_ns,
        share.median,
    )
    monkeypatch.setattr("time.time_ns", lambda: at(3300))
    page = tmp_path / "r.html"
    assert run("report", "--since", "2026-09-07", "-o", str(page), store=tmp_path) == 0
    text = page.read_text()
    assert "no verdict" not in text, "above an event"
    assert say_slow_event(event, 0) in text
    capsys.readouterr()
    (told_span,) = as_json(capsys, store, "slowdown")["spans"]
    assert (told_span["start_ns"], told_span["slowdown"]) == (span.start_ns, span.slowdown)


def test_a_calm_first_hour_says_from_how_little_usual_is_learned(tmp_path):
    made(tmp_path, np.random.default_rng(4), troubled.START, 720, ops=("data_read",))
    (report,) = report_of(Store(tmp_path), 0, 720)
    assert report_words(report, UTC)["headline"] == "/work was as usual (learned from 12 min)"
    made(tmp_path / "new", np.random.default_rng(4), troubled.START, 240, ops=("data_read",))
    (report,) = report_of(Store(tmp_path / "new"), 0, 240)
    assert report_words(report, UTC)["headline"].endswith("no verdict yet")


def test_sentences_about_witnesses_are_short(four):
    found = told_events(four.root, EventLog([], []), (at(7 * HOUR), None), at(10 * HOUR))
    assert all(short(say_seen(one)) for one in found.seen)
