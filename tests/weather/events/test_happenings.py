"""Slow events as data, and the sentences about what happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import numpy as np
import pytest

from iosonde.model.errors import UsageError
from iosonde.model.events import Recurring, WeekSpan, Witnesses
from iosonde.model.frames import Frame
from iosonde.weather.events import slow_words
from iosonde.weather.events import words as happenings
from iosonde.weather.events.events import slow_events

MINUTE = 60_000_000_000
START = 1_790_000_040_000_000_000
"""2026-09-21 14:14 UTC."""
NOW = START + 180 * MINUTE


def windows(**ops):
    """One column of typ (and optionally tail, lost) an op, a minute each."""
    columns = {name: [] for name in ("op", "start_ns", "typ", "tail", "lost")}
    for op, one in ops.items():
        typ, tail, lost = one if isinstance(one, tuple) else (one, None, None)
        n = len(typ)
        columns["op"] += [op] * n
        columns["start_ns"] += [START + i * MINUTE for i in range(n)]
        columns["typ"] += typ
        columns["tail"] += typ if tail is None else tail
        columns["lost"] += [0.0] * n if lost is None else lost
    n = len(columns["op"])
    fixed = {"host": "login2", "target": "/work", "window_ns": MINUTE, "n_due": 60}
    return Frame(
        {name: np.full(n, value) for name, value in fixed.items()}
        | {name: np.array(values) for name, values in columns.items()}
    )


QUIET, SLOW = [1.0] * 10, [3.0] * 20


def test_reads_and_creates_slow_together_are_one_event():
    frame = windows(
        md_create=QUIET + [2.5] * 20 + QUIET,
        data_read=QUIET + SLOW + QUIET,
        md_stat=[1.0] * 40,
    )
    (event,) = slow_events(frame)
    assert (event.start_ns, event.end_ns) == (START + 10 * MINUTE, START + 30 * MINUTE)
    assert [share.op for share in event.ops] == ["data_read", "md_create", "md_stat"]
    assert [share.affected for share in event.ops] == [True, True, False]
    assert event.area_s == 20 * 60 * (2 + 1.5)
    assert event.n == 3 * 20 * 60
    text = slow_words.say_slow_event(event, NOW, UTC)
    assert text == (
        "reads on /work were 3.0x slower than usual from 14:24 to 14:44. Creates were 2.5x slower meanwhile"
    )


def test_an_open_event_has_no_end():
    (event,) = slow_events(windows(data_read=QUIET + SLOW))
    assert event.end_ns is None
    assert event.seen_until_ns == START + 30 * MINUTE
    assert event.recovery_ns is None
    assert slow_words.say_slow_event(event, NOW, UTC).startswith(
        "reads on /work have been 3.0x slower than usual since 14:24"
    )


def test_a_slow_tail_is_said_as_such():
    usual = [1.0] * 40
    tail = QUIET + [24.0] * 20 + QUIET
    (event,) = slow_events(windows(data_read=(usual, tail, None)))
    assert slow_words.say_slow_event(event, NOW, UTC) == (
        "some reads on /work were slow from 14:24 to 14:44: the slowest twentieth up to 24x slower than usual"
    )


def test_lost_operations_slow_recovery_and_blindness_are_told():
    (event,) = slow_events(windows(data_read=QUIET + SLOW + QUIET))
    told = replace(event, lost=0.021, recovery_ns=5 * MINUTE, unobserved_ns=12 * MINUTE)
    told = replace(told, ops=(replace(told.ops[0], lost=0.021),))
    text = slow_words.say_slow_event(told, NOW, UTC)
    assert text.endswith(
        ". 2.1% of reads were late or missing. Reads took 5 min from half their peak to the end"
        ". No probe ran for 12 min of it"
    )


def test_rows_may_come_in_any_order_and_none_at_all():
    frame = windows(data_read=QUIET + SLOW + QUIET, md_stat=[1.0] * 40)
    mixed = frame.take(np.random.default_rng(1).permutation(len(frame)))
    assert slow_events(mixed) == slow_events(frame)
    assert slow_events(frame.take(slice(0))) == []


def test_a_missing_column_is_named():
    frame = windows(data_read=QUIET)
    without = Frame({name: frame[name] for name in frame.columns if name != "tail"})
    with pytest.raises(UsageError, match="no column 'tail'"):
        slow_events(without)


def recurring(**changes):
    whole = {
        "host": "login2",
        "target": "/home",
        "op": "data_read",
        "period_h": 168,
        "span": WeekSpan(5, 120, 330),
        "zone": "UTC",
        "seen": 8,
        "of": 8,
        "slowdown": 3.0,
        "p_omnibus": 0.2,
        "p_occupancy": 0.001,
        "p_events": 0.001,
        "sure": True,
    }
    return Recurring(**whole | changes)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, "reads of /home are 3.0x slower on Saturdays 02:00-05:30: 8 of 8 weeks"),
        (
            {"span": WeekSpan(5, 120, 1_920)},
            "reads of /home are 3.0x slower from Saturdays 02:00 to Sundays 08:00: 8 of 8 weeks",
        ),
        (
            {"span": WeekSpan(5, 1_200, 1_440)},
            "reads of /home are 3.0x slower on Saturdays 20:00-24:00: 8 of 8 weeks",
        ),
        (
            {"period_h": 24, "span": WeekSpan(None, 120, 240), "seen": 54, "of": 56},
            "reads of /home are 3.0x slower daily 02:00-04:00: 54 of 56 days",
        ),
        (
            {"seen": 3, "of": 4, "sure": False, "zone": "Europe/Berlin"},
            "reads of /home are 3.0x slower on Saturdays 02:00-05:30 (Europe/Berlin): 3 of 4 weeks,"
            " too few to be sure",
        ),
    ],
)
def test_what_recurs_has_a_name(changes, wanted):
    assert happenings.say_recurring(recurring(**changes), "UTC") == wanted


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (
            Witnesses("/work", "data_read", 0, 1, "storage", ("a", "b", "c"), 3, 9, 3.0),
            "reads on /work were 3.0x slower for 3 of 3 hosts: the storage was slow",
        ),
        (
            Witnesses("/work", "data_read", 0, 1, "client", ("a",), 3, 9, 1.0),
            "reads on /work were slow for a alone; 2 other hosts saw nothing unusual",
        ),
        (
            Witnesses("/work", "data_read", 0, 1, "undecided", (), 2, 0, None),
            "reads on /work: 2 hosts watched, too few to tell a host from the storage",
        ),
    ],
)
def test_host_or_storage(seen, wanted):
    assert slow_words.say_seen(seen) == wanted


def test_that_nothing_recurs_is_only_said_of_time_enough():
    day = 24 * 60 * MINUTE
    assert happenings.say_nothing_recurs(0).startswith("not enough history")
    assert happenings.say_nothing_recurs(2 * day).startswith("2 d of history are too short")
    assert happenings.say_nothing_recurs(20 * day).endswith("pattern in 20 d")
