"""Clock times without a zone, also in the hours in which clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.local_time import local_times
from iosonde.model.frames import NULL_NS

BERLIN = ZoneInfo("Europe/Berlin")


def seconds(texts, zone=BERLIN):
    return [None if t == NULL_NS else t // 10**9 for t in local_times(texts, zone).time_ns.tolist()]


def test_the_hour_that_comes_twice_goes_on_where_it_was():
    texts = [
        f"2023-10-29 {hour}:{minute:02d}:00" for hour in ("02", "02") for minute in range(0, 60, 15)
    ]
    found = local_times(["2023-10-29 01:45:00", *texts, "2023-10-29 03:00:00"], BERLIN)
    assert (np.diff(found.time_ns) == 15 * 60 * 10**9).all()
    assert found.ambiguous.tolist() == [False, *[True] * 8, False]
    notes = {note.flag: note for note in found.notes(BERLIN)}
    assert notes["ambiguous-time"].n == 8
    assert "Europe/Berlin" in notes["naive-time"].what


def test_the_hour_that_never_was_is_marked():
    found = local_times(
        ["2023-03-26 01:59:55", "2023-03-26 02:30:00", "2023-03-26 03:00:05"], BERLIN
    )
    assert found.ambiguous.tolist() == [False, True, False]
    assert found.time_ns[1] == int(datetime(2023, 3, 26, 1, 30, tzinfo=UTC).timestamp()) * 10**9


def test_a_zone_that_is_stated_needs_no_other():
    assert seconds(["2020-01-01T00:00:00Z", "2020-01-01 01:00:00+01:00"]) == [1577836800] * 2
    assert not local_times(["2020-01-01T00:00:00Z"], None).naive


def test_what_is_no_time_is_none():
    texts = [
        "",
        "nan",
        "0000-00-00 00:00:00",
        "9999-12-31 00:00:00",
        "1969-12-31",
        None,
        3,
        b"2020",
        "x" * 99,
    ]
    assert seconds(texts) == [None] * len(texts)


@given(st.lists(st.integers(631_152_000, 4_102_444_800), max_size=20))
def test_outside_of_changes_it_is_what_the_zone_says(instants):
    moments = [datetime.fromtimestamp(instant, BERLIN).replace(tzinfo=None) for instant in instants]
    found = local_times([moment.isoformat(sep=" ") for moment in moments], BERLIN)
    for moment, time_ns, unsure in zip(
        moments, found.time_ns.tolist(), found.ambiguous, strict=True
    ):
        if not unsure:
            assert datetime.fromtimestamp(time_ns // 10**9, BERLIN).replace(tzinfo=None) == moment


@settings(max_examples=50)
@given(st.lists(st.text(max_size=45), max_size=10))
def test_any_text_gives_a_time_or_none(texts):
    assert len(local_times(texts, None).time_ns) == len(texts)
