"""What a report tells of a range: slow events, what comes back, lasting changes, and of kept windows no cost."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.engine.layout.segments import parquet_segments
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.timeline import happened
from iosonde.weather.report.html import Section, page
from iosonde.weather.report.report import reports
from iosonde.weather.report.words import change_words, recurrence_words, report_words
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND, START, simulated

HOUR, DAY = 3600, 86_400
MONDAY = 1_791_763_200 * SECOND
"""2026-10-12 00:00 UTC; on the 25th summer time ends in Berlin."""
BERLIN = ZoneInfo("Europe/Berlin")


def asked(since, until, **changes):
    return SlowdownQuery(
        since_ns=MONDAY + int(since * SECOND), until_ns=MONDAY + int(until * SECOND), **changes
    )


def one_report(store, since, until, zone=UTC):
    (report,) = reports(store, asked(since, until), zone, random=np.random.default_rng(1))
    return report


@pytest.fixture(scope="module")
def nightly(tmp_path_factory):
    """Three weeks; reads slow from 02:00 to 04:00 in Berlin, every night, through the end of summer time."""
    root = tmp_path_factory.mktemp("nightly")
    night = [datetime(2026, 10, day, 2, tzinfo=BERLIN).timestamp() for day in range(13, 32)]
    begins = [begin - MONDAY // SECOND for begin in night]
    slow = [Trouble("data_read", begin, begin + 2 * HOUR, 3.0) for begin in begins]
    made(root, np.random.default_rng(4), MONDAY, 21 * DAY, slow, period_s=20, ops=("data_read",))
    return Store(root)


def test_what_comes_back_is_told_in_the_zone_in_which_it_does(nightly):
    report = one_report(nightly, 14 * DAY, 20 * DAY, BERLIN)
    assert len(report.events) == 6, "of the range alone"
    assert all(event.median == pytest.approx(3.0, rel=0.1) for event in report.events)
    assert report.recurrence.looked_ns > 19 * DAY * SECOND, "further back than the range"
    (line,) = recurrence_words(report, "Europe/Berlin")
    assert re.fullmatch(
        r"reads of /work are [23]\.\dx slower daily 02:00-04:00: (18|19) of (19|20) days", line
    )
    (foreign,) = recurrence_words(report, "Asia/Tokyo")
    assert "(Europe/Berlin)" in foreign


def test_a_host_that_is_busy_every_night_is_no_storage_that_is_slow_every_night(tmp_path):
    nights = [day * DAY + 2 * HOUR for day in range(1, 15)]
    busy = [Trouble("data_read", begin, begin + 2 * HOUR, 3.0, queued=1.0) for begin in nights]
    made(
        tmp_path, np.random.default_rng(4), MONDAY, 15 * DAY, busy, period_s=20, ops=("data_read",)
    )
    report = one_report(Store(tmp_path), 8 * DAY, 15 * DAY)
    assert report.events == ()
    assert recurrence_words(report) == []
    assert report_words(report, UTC)["headline"].startswith("/work was as usual: ")


def test_too_little_history_says_so_and_nobody_looks_without_chance(nightly):
    short = one_report(nightly, 0, DAY)
    assert recurrence_words(short) == ["23 h of history are too short to find daily patterns"]
    (unasked,) = reports(nightly, asked(0, DAY), UTC)
    assert unasked.recurrence is None
    assert recurrence_words(unasked) is None


def test_a_lasting_change_of_what_is_usual(tmp_path):
    slow = [Trouble("data_read", 6 * DAY, 21 * DAY, 1.6)]
    ops = ("data_read", "md_stat")
    made(tmp_path, np.random.default_rng(2), MONDAY, 21 * DAY, slow, period_s=20, ops=ops)
    report = one_report(Store(tmp_path), 0, 21 * DAY)
    (change,) = report.changes
    assert change.factor == pytest.approx(1.6, rel=0.05)
    assert change.began_ns == pytest.approx(MONDAY + 6 * DAY * SECOND, abs=HOUR * SECOND)
    assert report.climate["data_read"] == pytest.approx(1.6, rel=0.05)
    assert change_words(report, UTC) == [
        "the baseline of reads has been 1.6x the earlier one since 2026-10-18 00:00",
        "the baseline of reads is 1.6x the first one",
    ]
    words = report_words(report, UTC)
    section = Section(report, words, [], None, [], change_words(report, UTC), ["data_read"])
    text = page("", "", [section], "")
    assert "usual now / at first" in text
    assert "<td>1.6x</td>" in text
    assert "<td>1.0x</td>" in text
    assert "has been 1.6x the earlier one" in text
    calm = page("", "", [Section(report, words, [], None, [])], "")
    assert "at first" not in calm


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """Three hours at 1 Hz: reads slow for 6 minutes, and at the end."""
    root = tmp_path_factory.mktemp("dense")
    slow = [
        Trouble("data_read", 2 * HOUR, 2 * HOUR + 360, 5.0),
        Trouble("data_read", 3 * HOUR - 600, 3 * HOUR, 5.0),
    ]
    made(root, np.random.default_rng(3), MONDAY, 3 * HOUR, slow, ops=("data_read",))
    return Store(root)


def test_events_are_minutes_sharp_and_what_nobody_saw_end_is_unknown(dense):
    query = asked(0, 3 * HOUR)
    for now, end in ((query.until_ns, None), (query.until_ns + DAY * SECOND, query.until_ns)):
        (found,) = happened(dense, query, now).places.values()
        first, last = found
        assert (first.start_ns - MONDAY) / SECOND == 2 * HOUR
        assert (first.end_ns - MONDAY) / SECOND == 2 * HOUR + 360
        assert first.peak == pytest.approx(5.0, rel=0.1)
        assert last.end_ns is None, "nobody saw its end"
        assert (last.unknown_since_ns is None) == (end is None)
        assert abs(last.seen_until_ns - query.until_ns) <= SECOND, "to the last slow operation"
    report = one_report(dense, 0, 3 * HOUR)
    assert [event.start_ns for event in report.events] == [first.start_ns, last.start_ns]


def test_kept_windows_say_nothing_of_what_the_probe_cost(tmp_path):
    simulated(tmp_path, 3600, window="600s")
    seal(tmp_path)
    store = Store(tmp_path)
    query = SlowdownQuery(since_ns=START, until_ns=START + 3600 * SECOND)

    def words():
        (report,) = reports(store, query, UTC)
        return report_words(report, UTC)

    whole = words()
    assert "(6 a second)" in whole["cost"]
    assert "only windows" not in whole["cost"]
    first, *others = parquet_segments(tmp_path)
    first.path.unlink()
    part = words()
    assert "(6 a second)" in part["cost"], "of the time that has samples"
    assert re.search(
        r"raw samples cover \d+ min( \d+ s)?, the rest has window statistics only", part["cost"]
    )
    for segment in others:
        segment.path.unlink()
    assert words()["cost"].startswith("only window statistics remain")
