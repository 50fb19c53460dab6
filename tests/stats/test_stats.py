from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iosonde._core import minimum_count
from iosonde.stats.ranks import quantile_ranks
from iosonde.weather.slowdown.onset import onset
from iosonde.weather.slowdown.trailing import trailing_median


@given(st.integers(1, 3000), st.sampled_from([0.25, 0.5, 0.75, 0.9, 0.95, 0.99]))
def test_ranks_are_in_order_or_absent(n, q):
    ranks = quantile_ranks(n, q)
    assert (ranks is None) == (n < minimum_count(q))
    if ranks is not None:
        lower, point, upper = ranks
        assert 1 <= lower <= point <= upper <= n
        assert point == max(1, int(np.ceil(round(q * n, 9))))


def test_smallest_counts():
    assert [minimum_count(q) for q in (0.25, 0.5, 0.9, 0.95, 0.99)] == [13, 6, 36, 72, 368]


def test_a_baseline_never_looks_at_its_own_window_nor_before_its_reach():
    starts = np.arange(20, dtype=np.int64) * 10
    medians = np.arange(1.0, 21.0)
    medians[3] = np.nan
    baseline = trailing_median(starts, medians, 80)
    for i in range(20):
        known = [medians[k] for k in range(max(0, i - 8), i) if not np.isnan(medians[k])]
        if len(known) < 5:
            assert np.isnan(baseline[i])
        else:
            assert baseline[i] == sorted(known)[(len(known) + 1) // 2 - 1]


def test_nothing_has_no_baseline():
    empty = np.empty(0)
    assert len(trailing_median(empty.astype(np.int64), empty, 10)) == 0


def test_an_onset_counts_samples_that_were_given_not_those_that_were_known():
    service = np.array([1e6] * 20 + [np.nan] * 5 + [4e6] * 10)
    due = np.arange(len(service), dtype=np.int64)
    assert onset(due, service, 1e6, 4.0) == 25
    assert onset(due[:20], service[:20], 1e6, 4.0) is None
    assert onset(due[20:25], service[20:25], 1e6, 4.0) is None
