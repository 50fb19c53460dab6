"""The one cache: values in memory, each made once for all who ask."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from iosonde.engine.kept import Kept
from iosonde.model.errors import NothingMeasuredError
from tests.kit.page.browser import wait_until


class Making:
    """Counts what is made."""

    def __init__(self):
        self.times = 0

    def __call__(self, _before):
        self.times += 1
        return self.times


def test_a_value_is_made_once_for_each_version():
    kept, make = Kept(), Making()
    assert [kept.get("a", make, version) for version in (1, 1, 2, 2, 1)] == [1, 1, 2, 2, 3]
    assert (kept.peek("a", 1), kept.peek("a", 2), kept.peek("b")) == (3, None, None)


def test_the_maker_gets_the_value_before():
    kept = Kept(keep=0)
    grown = [kept.get("a", lambda before: [*(before or []), len(before or [])]) for _ in range(3)]
    assert grown[-1] == [0, 1, 2]


@pytest.mark.parametrize(("later", "value"), [(9.9, 1), (10.0, 2), (-1.0, 2)])
def test_an_old_value_is_made_anew_and_one_of_the_future_too(later, value):
    now = 100.0
    kept, make = Kept(keep=10.0, clock=lambda: now), Making()
    kept.get("a", make)
    now += later
    assert kept.peek("a") == (1 if value == 1 else None)
    assert kept.get("a", make) == value


def test_the_least_recently_used_go_first():
    kept = Kept(2)
    for key in "abac":
        kept.get(key, str)
    assert ["a" in kept, "b" in kept, "c" in kept] == [True, False, True]
    kept.put("d", "")
    assert (len(kept), "a" in kept, kept.peek("d")) == (2, False, "")


def test_sizes_are_bounded_and_the_newest_stays():
    kept = Kept(most_size=10, size=len)
    for key, length in (("a", 4), ("b", 5), ("c", 1), ("b", 6), ("d", 40)):
        kept.put(key, "x" * length)
        assert kept.size <= 10 or len(kept) == 1
    assert (kept.size, "d" in kept) == (40, True)
    kept.put("e", "x")
    kept.drop_oldest(lambda key: key < "e")
    assert (len(kept), kept.size) == (1, 1)
    kept.drop_oldest(lambda key: key == "e")
    assert (len(kept), kept.size) == (0, 0)


def test_several_readers_wait_for_one_maker_and_other_keys_do_not():
    kept, go, begun, times = Kept(), threading.Event(), threading.Event(), []

    def slow(_before):
        times.append(1)
        begun.set()
        assert go.wait(10)
        return "made"

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(kept.get, "a", slow) for _ in range(8)]
        assert begun.wait(10)
        assert kept.get("b", lambda _: "other") == "other"
        go.set()
        assert [one.result(10) for one in asked] == ["made"] * 8
    assert len(times) == 1


def test_an_error_reaches_who_asked_and_is_not_kept():
    kept = Kept()

    def wrong(_before):
        raise NothingMeasuredError("gone")

    with pytest.raises(NothingMeasuredError):
        kept.get("a", wrong)
    assert len(kept) == 0
    assert kept.get("a", lambda _: 1) == 1
    with pytest.raises(NothingMeasuredError):
        kept.get("a", wrong, version=2)
    assert kept.peek("a") == 1


def test_an_entry_that_went_while_it_was_made_counts_once():
    kept = Kept(1, most_size=5, size=len)

    def making(_before):
        kept.put("b", "xx")
        kept.put("c", "xx")
        return "xxx"

    assert kept.get("a", making) == "xxx"
    assert ("a" in kept, len(kept), kept.size) == (True, 1, 3)


def test_behind_nobody_waits_for_a_new_value_and_an_error_leaves_the_old_one():
    now, go, tried = 0.0, threading.Event(), []
    kept = Kept(keep=10, clock=lambda: now, behind=True)

    def make(before):
        tried.append(before)
        if before is not None:
            assert go.wait(10)
        if before == 2:
            raise NothingMeasuredError("gone")
        return (before or 0) + 1

    assert kept.get(None, make) == 1
    now = 10.0
    assert [kept.get(None, make) for _ in range(5)] == [1] * 5
    go.set()
    wait_until("the second value", lambda: kept.get(None, make) == 2)
    assert tried == [None, 1]
    now = 20.0
    assert kept.get(None, make) == 2, "the old one, however quick the new one is"
    wait_until("a third try", lambda: tried == [None, 1, 2])
    wait_until("its end", lambda: kept.peek(None) == 2)


def test_many_threads_keep_the_books_right():
    kept = Kept(5, most_size=40, size=lambda value: value)

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            key = int(rng.integers(1, 12))
            assert kept.get(key, lambda _, key=key: key, version=int(rng.integers(2))) == key

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    kept.put(1, 1)
    assert len(kept) <= 5
    assert kept.size == sum(key for key in range(12) if key in kept) <= 40
