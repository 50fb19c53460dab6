"""A query is a value: it survives pickling, and how its range is cut does not show in the answer."""

from __future__ import annotations

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.engine import slices
from iosonde.engine.ordering import in_order
from iosonde.engine.query import run
from iosonde.engine.reader import SampleFilter
from iosonde.weather import store
from iosonde.weather.samples.boxes import boxes_query
from iosonde.weather.samples.windows import pooled_query, windows_query
from iosonde.weather.store import Store
from tests.kit.samples import brute
from tests.kit.samples.makers import SECOND, START, sealed

MINUTE = 60 * SECOND
BEGIN = START // MINUTE * MINUTE


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    random = np.random.default_rng(5)
    for number in range(6):
        begin = BEGIN + number * 600 * SECOND
        samples = brute.troubled(random, 600, begin)
        sealed(folder, f"r-{number}", samples + brute.troubled(random, 5, begin, "md_stat"))
    return folder


@pytest.fixture
def asked(monkeypatch, root):
    """Every query that a use of a store runs."""
    found = []

    def noted(folder, queries):
        found.extend(queries)
        return run(folder, queries)

    monkeypatch.setattr(store, "run", noted)
    return found


def same(one, other):
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if not hasattr(one, "columns"):
        return one == other
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
        for name in one.keys()  # noqa: SIM118 - a frame is no mapping
    )


def by_rows(frame):
    """In an order of its own: samples that are due at once come in any."""
    return sorted(
        map(repr, zip(*(column.tolist() for column in frame.columns.values()), strict=True))
    )


def test_every_query_of_a_store_survives_pickling(root, asked):
    one = Store(root)
    windows = one.windows(MINUTE, levels=True)
    one.targets(), one.samples(), one.count(), one.cells(MINUTE, 5), one.levels(5), one.tally()
    one.sparse(100, 10**9, seed=1), one.boxes(1.5, 4)
    tags = {name: windows[name] for name in ("host", "target", "op", "period_ns", "start_ns")}
    tags["tag"] = np.arange(len(windows)) // 3
    one.tagged_samples(tags, MINUTE), one.pooled(tags, MINUTE, ["mean_ns", "q95_ns"])
    assert len(asked) == 11
    for query in asked:
        before = run(root, [query])[0]
        after = run(root, [pickle.loads(pickle.dumps(query))])[0]
        if query.merge and isinstance(before, list):
            before, after = in_order(before, MINUTE), in_order(after, MINUTE)
        assert same(before, after) or by_rows(before) == by_rows(after)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.data(), number=st.integers(0, 2))
def test_merges_are_associative(monkeypatch, root, asked, cut, number):
    """(a b) c = a (b c) for the answers of consecutive parts, and both are the answer of the whole."""
    store_ = Store(root)
    asked.clear()
    (store_.targets, store_.count, lambda: store_.windows(7 * MINUTE, levels=True))[number]()
    query = asked[0]
    edges = cut.draw(st.lists(st.integers(0, 60), min_size=2, max_size=4, unique=True).map(sorted))
    width = query.cut_ns or MINUTE
    cuts = [None, *sorted({(BEGIN + edge * MINUTE) // width * width for edge in edges}), None]

    def answers():
        scopes = [SampleFilter(since_ns=a, until_ns=b) for a, b in pairwise(cuts)]
        return [run(root, [_of(query, scope)])[0] for scope in scopes]

    def whole(found):
        return in_order(found, width) if isinstance(found, list) else found

    left = reduce(query.merge, answers())
    right = reduce(lambda later, earlier: query.merge(earlier, later), reversed(answers()))
    left, right, at_once = map(whole, (left, right, run(root, [query])[0]))
    assert same(left, right)
    assert same(left, at_once)


def _of(query, scope):
    return type(query)(**{**vars(query), "scope": scope})


def test_queries_that_cannot_be_cut_are_not(root, monkeypatch):
    """A box is no sum of boxes: it sees all samples at once, however large a slice may be."""
    whole = run(root, [boxes_query(SampleFilter(), 1.5, 4)])[0]
    monkeypatch.setattr(slices, "_SMALL_BYTES", 0)
    monkeypatch.setattr(slices, "SLICE_ROWS", 600)
    assert same(run(root, [boxes_query(SampleFilter(), 1.5, 4)])[0], whole)


def test_several_queries_are_answered_in_order(root):
    windows = windows_query(SampleFilter(), MINUTE, ["mean_ns"])
    table = in_order(run(root, [windows])[0], MINUTE)
    tags = {name: table[name] for name in ("host", "target", "op", "period_ns", "start_ns")}
    tags["tag"] = np.arange(len(table))
    pooled = pooled_query(SampleFilter(), tags, MINUTE, ["mean_ns"])
    both = run(root, [windows, pooled])
    assert same(in_order(both[0], MINUTE), table)
    assert np.array_equal(both[1]["mean_ns"], table["mean_ns"], equal_nan=True)
