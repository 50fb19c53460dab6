"""Host or storage: decided by the middle of three or more hosts."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.frames import Frame
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events.scope import scopes
from iosonde.weather.events.scope_test import WindowScope

MINUTE = 60_000_000_000


@pytest.mark.parametrize(
    ("row", "wanted", "slow"),
    [
        ([1.0, 1.1, 0.9], WindowScope.NOBODY, [False, False, False]),
        ([3.0, 1.1, 0.9], WindowScope.CLIENT, [True, False, False]),
        ([3.0, 3.1, 0.9], WindowScope.STORAGE, [True, True, False]),
        ([3.0, np.nan, 3.0], WindowScope.UNDECIDED, [False, False, False]),
        ([1.999, 1.999, 1.999], WindowScope.NOBODY, [False, False, False]),
    ],
)
def test_the_middle_host_decides(row, wanted, slow):
    got = scope.decide(np.array([row]), np.zeros(3))
    assert WindowScope(int(got.scope[0])) is wanted
    assert got.slow[0].tolist() == slow


def test_offsets_are_found_beside_a_slow_storage():
    random = np.random.default_rng(1)
    offset = np.array([0.0, 0.3, -0.2])
    log = offset + 0.05 * random.standard_normal((2_000, 3))
    log[:900] += np.log(5)  # slow for less than half of the time
    assert scope.offsets(np.exp(log)) == pytest.approx(offset, abs=0.08)  # a median with 45 % slow


def test_hosts_never_seen_have_no_offset_and_nothing_warns():
    assert scope.offsets(np.full((5, 3), np.nan)).tolist() == [0, 0, 0]
    assert scope.offsets(np.empty((0, 4))).tolist() == [0, 0, 0, 0]


def frame(table):
    """Columns of hosts h0, h1 ...: one row a minute."""
    minutes, hosts = table.shape
    n = minutes * hosts
    return Frame(
        {
            "host": np.tile([f"h{i}" for i in range(hosts)], minutes),
            "target": np.full(n, "/work"),
            "op": np.full(n, "data_read"),
            "start_ns": np.repeat(np.arange(minutes) * MINUTE, hosts),
            "window_ns": np.full(n, MINUTE),
            "typ": table.ravel(),
            "tail": np.ones(n),
            "lost": np.zeros(n),
            "n_due": np.full(n, 60),
        }
    )


def test_one_slow_host_is_named_and_two_hosts_are_not_enough():
    table = np.ones((100, 4))
    table[60:80, 2] = 4.0
    span = ("/work", "data_read", 60 * MINUTE, 80 * MINUTE)
    (seen,) = scopes(frame(table), [span])
    assert (seen.scope, seen.hosts, seen.of, seen.windows) == ("client", ("h2",), 4, 20)
    (alone,) = scopes(frame(table[:, 1:3]), [span])
    assert (alone.scope, alone.of, alone.slowdown) == ("undecided", 2, None)


def test_all_hosts_slow_is_the_storage():
    table = np.ones((100, 3))
    table[60:80] = 4.0
    (seen,) = scopes(frame(table), [("/work", "data_read", 60 * MINUTE, 80 * MINUTE)])
    assert (seen.scope, seen.hosts) == ("storage", ("h0", "h1", "h2"))
    assert seen.slowdown == pytest.approx(4.0)
