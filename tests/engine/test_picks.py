"""Lists side by side are what lists are one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.engine.order_statistics import Ragged

PAIRS = st.lists(
    st.tuples(st.lists(st.integers(0, 9), max_size=4), st.lists(st.integers(0, 9), max_size=4)),
    max_size=6,
)


def ragged(lists):
    values = np.array([value for one in lists for value in one], dtype=np.int64)
    return Ragged.of(values, np.array([len(one) for one in lists], dtype=np.int64))


def lists_of(found):
    edges = found.offsets.tolist()
    return [found.values[a:b].tolist() for a, b in pairwise(edges)]


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_each_list_is_followed_by_the_others(pairs):
    one, other = (ragged([pair[place] for pair in pairs]) for place in (0, 1))
    assert lists_of(one.followed_by(other)) == [a + b for a, b in pairs]


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_some_lists_in_any_order(pairs, random):
    lists = [pair[0] for pair in pairs]
    rows = [random.randrange(len(lists)) for _ in range(5)] if lists else []
    found = ragged(lists).take(np.array(rows, dtype=np.intp))
    assert lists_of(found) == [lists[row] for row in rows]
