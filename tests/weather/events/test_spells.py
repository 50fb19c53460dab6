"""Spells of slowdown: begin, end, gaps, peaks, and several ops of one target."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.model.frames import TargetRef
from iosonde.weather.events import slow_intervals as spells
from iosonde.weather.events.joining import joined, spell_pieces
from iosonde.weather.events.pieces.piece import SlowPiece, united
from iosonde.weather.events.slow_intervals import RULE, OpWindows

MINUTE = 60_000_000_000


def series(typ, tail=None, lost=None, start=None):
    typ = np.array(typ, dtype=float)
    n = len(typ)
    return OpWindows(
        np.arange(n) * MINUTE if start is None else np.array(start) * MINUTE,
        typ,
        np.ones(n) if tail is None else np.array(tail, dtype=float),
        np.zeros(n) if lost is None else np.array(lost, dtype=float),
        np.full(n, 60),
    )


def found(one):
    return [(s.begin_ns // MINUTE, s.end_ns // MINUTE, s.open) for s in spells.spells(one)]


def by_hand(typ):
    """The rule, one minute after the other, for a series without gaps."""
    out, start, hot, quiet = [], None, 0, 0
    for minute, value in enumerate(typ):
        if start is None:
            hot = hot + 1 if value >= 2 else 0
            if hot == 3:
                start, quiet = minute - 2, 0
        else:
            quiet = quiet + 1 if value < 1.5 else 0
            if quiet == 5:
                out.append((start, minute - 4, False))
                start, hot = None, 0
    if start is not None:
        out.append((start, len(typ), True))
    return out


@given(st.lists(st.sampled_from([1.0, 1.7, 2.5]), min_size=1, max_size=60))
def test_vectors_say_what_the_rule_says_minute_by_minute(typ):
    assert found(series(typ)) == by_hand(typ)


def test_two_slow_minutes_are_no_spell_and_four_quiet_ones_no_end():
    assert found(series([1, 3, 3, 1, 1])) == []
    assert found(series([1, 3, 3, 3, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1])) == [(1, 9, False)]


@pytest.mark.parametrize("column", ["tail", "lost"])
def test_tail_and_lost_operations_begin_a_spell_too(column):
    value = {"tail": 12.0, "lost": 0.06}[column]
    usual = {"tail": 1.0, "lost": 0.0}[column]
    one = series([1.0] * 12, **{column: [usual] * 2 + [value] * 4 + [usual] * 6})
    assert found(one) == [(2, 6, False)]


def test_an_open_spell_says_so():
    assert found(series([1, 3, 3, 3, 1])) == [(1, 5, True)]


def test_a_gap_neither_begins_nor_ends_a_spell():
    gone = np.nan
    inside = series([1, 3, 3, 3, *[gone] * 20, 3, 1, 1, 1, 1, 1])
    assert found(inside) == [(1, 25, False)]
    unseen = inside._replace(lost=np.where(np.isnan(inside.typ), np.nan, 0.0))
    (spell,) = spells.spells(unseen)
    assert spells.measure(unseen, spell[1:3]).unobserved_ns == 20 * MINUTE
    missing = series([1, 3, 3, 3, 3, 1, 1, 1, 1, 1], start=[0, 1, 2, 3, *range(24, 30)])
    assert found(missing) == [(1, 25, False)]
    # two slow minutes before a long gap and one after it: nobody saw three in a row
    assert found(series([1, 3, 3, 3, 1, 1, 1, 1, 1], start=[0, 1, 2, *range(40, 46)])) == []
    # quiet minutes count on both sides of a gap; the end is where they begin
    ended = series([1, 3, 3, 3, 1, 1, 1, 1, 1], start=[0, 1, 2, 3, 4, 5, 50, 51, 52])
    assert found(ended) == [(1, 4, False)]


def test_nothing_seen_is_nothing_found():
    assert found(series([np.nan] * 9)) == []
    assert spells.spells(series([])) == []


def test_measures_of_a_known_shape():
    shape = [1, 1, 3, 5, 9, 9, 9, 9, 9, 5, 3, 2, 2, 1, 1, 1, 1, 1]
    (spell,) = spells.spells(series(shape))
    got = spells.measure(series(shape), spell[1:3])
    inside = np.array(shape[2:13])
    assert spell[1:4] == (2 * MINUTE, 13 * MINUTE, False)
    assert got.median == np.median(inside)
    assert got.peak == 9
    assert got.peak_ns == 4 * MINUTE  # the middle of the first five
    assert got.area_s == 60 * np.sum(inside - 1)
    assert got.recovery_ns == 3 * MINUTE  # the last minute at 4.5 or more is minute 9
    assert got.n == 11 * 60
    assert got.unobserved_ns == 0


def test_ops_that_overlap_are_one_event_each_with_its_own_begin_and_end():
    long = [1] * 5 + [3] * 40 + [1] * 15
    short = [1] * 6 + [4] * 6 + [1] * 48
    ops = {"a": series(long), "b": series(short), "c": series([1] * 60)}
    pieces = [piece for op, one in ops.items() for piece in spell_pieces(op, one, RULE)]
    (event,) = joined(TargetRef("h", "/t"), ops, pieces, RULE)
    assert (event.start_ns, event.end_ns) == (5 * MINUTE, 45 * MINUTE)
    shares = {share.op: share for share in event.ops}
    assert (shares["a"].start_ns, shares["a"].end_ns) == (5 * MINUTE, 45 * MINUTE)
    assert (shares["b"].start_ns, shares["b"].end_ns) == (6 * MINUTE, 12 * MINUTE)
    assert (shares["b"].median, shares["b"].peak) == (4, 4)
    assert [op for op, share in shares.items() if share.affected] == ["b", "a"]
    assert shares["c"].start_ns is None
    assert (event.op, event.peak, event.median) == ("b", 4, 4), "of the hardest op"


def test_events_three_minutes_apart_are_one_four_are_two():
    first = SlowPiece("", 0, 10 * MINUTE, False)
    near = SlowPiece("", 13 * MINUTE, 20 * MINUTE, True)
    far = SlowPiece("", 14 * MINUTE, 20 * MINUTE, False)
    gap = RULE.merged_windows * MINUTE
    assert [one[1:4] for one in united([near, first], gap)] == [(0, 20 * MINUTE, True)]
    assert united([first, far], gap) == [first, far]


def test_a_hang_without_one_answer_is_a_spell_of_lost_operations():
    typ = [1.0] * 3 + [np.nan] * 6 + [1.0] * 6
    one = series(typ, tail=typ, lost=[0] * 3 + [1] * 6 + [0] * 6)
    (spell,) = spells.spells(one)
    got = spells.measure(one, spell[1:3])
    assert (spell.begin_ns, spell.end_ns) == (3 * MINUTE, 9 * MINUTE)
    assert got.lost == 1.0
    assert got.unobserved_ns == 0
    assert np.isnan(got.peak)


def test_while_learning_lost_operations_begin_a_spell_and_their_absence_ends_it():
    nan, n = np.nan, 20
    lost = [0.0] * 5 + [0.5] * 6 + [0.0] * 9
    one = series([nan] * n, tail=[nan] * n, lost=lost)
    assert found(one._replace(learning=np.ones(n, bool))) == [(5, 11, False)]
    assert found(one) == [(5, 11, True)], "where nothing is known nothing ends it"
