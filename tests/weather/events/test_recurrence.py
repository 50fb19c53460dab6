"""What comes back: folds, the three tests, names of days."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.model.frames import Frame
from iosonde.weather.events import recurrence_test as test
from iosonde.weather.events.events import slow_events
from iosonde.weather.events.recurrence import recurrences

HOUR = 3_600_000_000_000
MONDAY = 1_790_553_600_000_000_000
"""2026-09-28 00:00 UTC."""


def nothing():
    return np.empty((0, 2))


def test_a_fold_puts_hours_where_they_belong():
    hour = np.array([5, 6, 24, 29, 77])
    folded = test.fold(hour, np.array([1.0, 2, 3, 4, 5]), 24)
    assert folded.shape == (4, 24)
    assert folded[0, [5, 6]].tolist() == [1, 2]
    assert folded[1, [0, 5]].tolist() == [3, 4]
    assert folded[3, 5] == 5
    assert np.isnan(folded).sum() == 96 - 5


def test_an_hour_that_occurs_twice_keeps_the_slower():
    assert test.fold(np.array([2, 2]), np.array([1.0, 7.0]), 24)[0, 2] == 7


def test_agreement_is_the_mean_over_phases_of_turned_periods():
    random = np.random.default_rng(2)
    high = random.random((3, 7))
    seen = random.random((3, 7)) < 0.7
    high[~seen] = 0
    agree = test._agreement(high, seen)
    turns = random.integers(0, 7, (4, 3))
    got = test._turned_sum(agree, turns)
    for number, turn in enumerate(turns):
        rolled = [np.roll(high[i], -turn[i]) for i in range(3)]
        known = [np.roll(seen[i], -turn[i]) for i in range(3)]
        wanted = sum(
            rolled[i] @ rolled[j] / max(1, (known[i] & known[j]).sum())
            for i in range(3)
            for j in range(i + 1, 3)
        )
        assert got[number] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        ((2, 6), (2, 6), True),
        ((2, 6), (4, 8), False),  # 2 of 6 hours are shared
        ((2, 6), (3, 7), True),  # 3 of 5
        ((22, 26), (-1, 3), True),  # around midnight
        ((2, 6), (14, 18), False),
    ],
)
def test_events_meet_modulo_the_period(one, other, meets):
    start = np.array([[one[0] % 24, other[0] % 24]], dtype=float)
    length = np.array([one[1] - one[0], other[1] - other[0]], dtype=float)
    met = test._meet(start, length, 24)[0]
    assert met[0, 1] == met[1, 0] == meets
    assert met[0, 0]


def test_slow_at_one_hour_every_week_is_found_and_placed():
    folded = np.ones((6, 168))
    folded[:, 50:54] = 2.0
    got = test.recurrence(folded, nothing(), np.random.default_rng(3))
    assert got.p_occupancy == 0.001
    assert [(p.start_h, p.end_h, p.share) for p in got.phases] == [(50, 54, 1.0)]
    assert got.found


def test_a_phase_around_the_end_of_the_week_is_one():
    folded = np.ones((6, 168))
    folded[:, 160:] = folded[:, :4] = 3.0
    (phase,) = test.recurrence(folded, nothing(), np.random.default_rng(3)).phases
    assert (phase.start_h, phase.end_h) == (160, 172)


def test_slow_always_or_never_is_no_recurrence_and_two_periods_are_too_few():
    random = np.random.default_rng(4)
    for level in (1.0, 3.0):
        assert not test.recurrence(np.full((5, 24), level), nothing(), random).found
    folded = np.ones((2, 24))
    folded[:, 3] = 9
    assert not test.recurrence(folded, nothing(), random).found


def windows(weeks, slow, factor=3.0, missing=None):
    """Ten-minute windows of one op; ``slow(minute of week)`` says when."""
    step = 10
    start = np.arange(0, weeks * 7 * 1_440, step)
    typ = np.where([slow(m % 10_080) for m in start.tolist()], factor, 1.0)
    if missing is not None:
        typ[[missing(m) for m in start.tolist()]] = np.nan
    n = len(start)
    return Frame(
        {
            "host": np.full(n, "login2"),
            "target": np.full(n, "/home"),
            "op": np.full(n, "data_read"),
            "start_ns": MONDAY + start * 60_000_000_000,
            "window_ns": np.full(n, step * 60_000_000_000),
            "typ": typ,
            "tail": np.ones(n),
            "lost": np.zeros(n),
            "n_due": np.full(n, 600),
        }
    )


SATURDAY = 5 * 1_440


def found(frame, zone=None):
    return recurrences(frame, slow_events(frame), np.random.default_rng(5), zone)


def test_saturday_nights_have_a_name():
    frame = windows(8, lambda m: SATURDAY + 120 <= m < SATURDAY + 330)
    (got,) = found(frame)
    assert (got.span.weekday, got.span.start_min, got.span.end_min) == (5, 120, 330)
    assert (got.period_h, got.seen, got.of, got.sure) == (168, 8, 8, True)
    assert got.slowdown == 3.0


def test_weeks_that_nobody_saw_are_not_counted():
    hidden = 3 * 10_080
    frame = windows(
        8,
        lambda m: SATURDAY + 120 <= m < SATURDAY + 330,
        missing=lambda m: hidden <= m < hidden + 10_080,
    )
    (got,) = found(frame)
    assert (got.seen, got.of) == (7, 7)


def test_every_night_is_daily_and_not_seven_times_weekly():
    (got,) = found(windows(3, lambda m: 120 <= m % 1_440 < 240))
    assert (got.period_h, got.span.weekday, got.seen, got.of) == (24, None, 21, 21)
    assert (got.span.start_min, got.span.end_min) == (120, 240)


def test_the_wall_clock_that_fits_better_is_named():
    """Clocks in Berlin went back on 2026-10-25, after four weeks."""
    berlin = ZoneInfo("Europe/Berlin")
    change = 27 * 1_440 + 60

    def slow(minute):
        return None

    frame = windows(8, slow, factor=1.0)
    minute = (frame["start_ns"] - MONDAY) // 60_000_000_000
    local = (minute + np.where(minute < change, 120, 60)) % 10_080
    typ = np.where((local >= SATURDAY + 120) & (local < SATURDAY + 180), 3.0, 1.0)
    (got,) = found(frame.with_columns({"typ": typ}), berlin)
    assert got.zone == "Europe/Berlin"
    assert (got.span.weekday, got.span.start_min, got.span.end_min) == (5, 120, 180)
    assert (got.seen, got.of) == (8, 8)


@pytest.mark.parametrize(
    ("p_values", "share", "wanted"),
    [
        ((0.001, 0.2, 1.0), 0.7, False),  # the omnibus test alone, and not in most weeks
        ((0.001, 0.2, 1.0), 0.75, True),
        ((0.5, 0.005, 1.0), 0.6, True),
        ((0.5, 1.0, 0.006), 1.0, False),
    ],
)
def test_evidence_that_is_believed(p_values, share, wanted):
    phase = test.WeeklyHours(2.0, 4.0, share)
    assert test.RecurrenceTest(168, 8, *p_values, (phase,)).found is wanted
    assert not test.RecurrenceTest(168, 8, *p_values, ()).found
