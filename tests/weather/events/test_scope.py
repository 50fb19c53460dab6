"""Host or storage: decided by the middle of three or more hosts."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.events import SlowEvent
from iosonde.model.frames import Frame, SeriesKey
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.search import SearchedSeries
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.scope import witnesses
from iosonde.weather.events.scope_test import WindowScope
from iosonde.weather.events.slow_intervals import OpWindows

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
    assert scope.offsets(np.exp(log)) == pytest.approx(offset, abs=0.08)  # a median with 45% slow


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


def watched(table, *pieces, lost=None):
    """What was found of hosts h0, h1 ...; ``pieces``: (host, kind, begin, end) in minutes."""
    found = SearchedSeries({}, {})
    for number, typ in enumerate(table.T):
        key = SeriesKey(f"h{number}", "/work", "data_read", 10**9)
        n = len(typ)
        gone = np.zeros(n) if lost is None else lost[:, number]
        ones = OpWindows(np.arange(n) * MINUTE, typ, np.ones(n), gone, np.full(n, 60))
        mine = [(kind, a, b) for host, kind, a, b in pieces if host == number]
        whole = {
            kind: [
                SlowPiece("data_read", a * MINUTE, b * MINUTE, False)
                for k, a, b in mine
                if k == kind
            ]
            for kind in ("slow", "hung")
        }
        found.series[key] = JudgedSeries(ones, np.zeros(n, bool), **whole)
    return found


def event(kind, first, last):
    return SlowEvent(
        host="h0",
        target="/work",
        start_ns=first * MINUTE,
        end_ns=last * MINUTE,
        seen_until_ns=last * MINUTE,
        peak=None,
        peak_ns=None,
        median=None,
        area_s=0.0,
        recovery_ns=None,
        n=1,
        ops=(),
        lost=None,
        unobserved_ns=0,
        kind=kind,
        op="data_read",
    )


def test_one_slow_host_is_named_and_two_hosts_are_not_enough():
    table = np.ones((100, 4))
    table[60:80, 2] = 4.0
    one = event("slow", 60, 80)
    (seen,) = witnesses([one], watched(table), lambda: frame(table))
    assert (seen.scope, seen.hosts, seen.of, seen.windows) == ("client", ("h2",), 4, 20)
    assert witnesses([one], watched(table[:, 1:3]), lambda: frame(table)) == []


def test_all_hosts_slow_is_the_storage():
    table = np.ones((100, 3))
    table[60:80] = 4.0
    (seen,) = witnesses([event("slow", 60, 80)], watched(table), lambda: frame(table))
    assert (seen.scope, seen.hosts) == ("storage", ("h0", "h1", "h2"))
    assert seen.slowdown == pytest.approx(4.0)


def test_a_host_whose_operations_are_all_lost_is_slow_not_unknown():
    table, lost = np.ones((100, 4)), np.zeros((100, 4))
    table[60:65, 3], lost[60:65, 3] = np.nan, 1.0
    for kind in ("slow", "lost"):
        (seen,) = witnesses([event(kind, 60, 65)], watched(table, lost=lost), lambda: frame(table))
        assert (seen.scope, seen.hosts, seen.kind) == ("client", ("h3",), kind)


@pytest.mark.parametrize(
    ("hosts", "scope_word"), [((3,), "client"), ((0, 1), "client"), ((0, 1, 3), "storage")]
)
@pytest.mark.parametrize(("kind", "piece"), [("hang", "hung"), ("partly_slow", "slow")])
def test_hangs_and_partly_slow_stretches_are_compared_with_those_of_others(
    hosts, scope_word, kind, piece
):
    pieces = [(host, piece, 60, 61) for host in hosts]
    found = watched(np.ones((100, 4)), *pieces)
    (seen,) = witnesses([event(kind, 60, 61)], found, lambda: frame(np.ones((100, 4))))
    assert (seen.scope, seen.hosts) == (scope_word, tuple(f"h{host}" for host in hosts))
    assert (seen.kind, seen.slowdown) == (kind, None)
