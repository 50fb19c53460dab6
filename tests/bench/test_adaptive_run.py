"""--adaptive as a user starts it: what is measured, in which order, and what is said."""

import contextlib
import io
import json

import pytest

from iosonde.bench.metadata.plan import LEVELS
from tests.kit.runs.driven import bench, left_in, rows_of, whole

NULL = ("null:", "-n", 2, "-D", 1, "-P", 10, "-I", 4, "--fault", "all:+2ms")
"""Latencies that do not depend on the load: the servers are never the limit."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Exit code, store and output of one such run."""
    store, out = tmp_path_factory.mktemp("adaptive") / "store", io.StringIO()
    with contextlib.redirect_stdout(out):
        code = bench(*NULL, "--adaptive", "--measurements", 4, "--seed", 7, store=store)
    return code, store, out.getvalue()


def test_every_level_once_a_repeat_in_an_order_of_its_own(measured):
    code, store, _ = measured
    assert code == 0
    rows = whole(rows_of(store))
    assert len(rows) == 8 * 4
    orders = []
    for measurement in range(4):
        mine = sorted((r for r in rows if r.measurement == measurement), key=lambda r: r.began_ns)
        orders.append([row.waiting_factor for row in mine])
        assert sorted(orders[-1]) == list(LEVELS)
    assert len({tuple(order) for order in orders}) == 4
    assert list(LEVELS) not in orders
    assert {row.ops for row in rows} == {2 * 4 * 4}
    assert all(row.parameters["adaptive"] for row in rows)


def test_waits_are_as_long_as_was_asked(measured):
    for row in whole(rows_of(measured[1])):
        assert row.wait_time_ns / row.op_time_ns >= 0.9 * row.waiting_factor - 0.07


def test_who_is_the_limit_is_said(measured):
    """Clients; a machine that is busy otherwise may leave it undecided, but nothing else is true."""
    (line,) = [line for line in measured[2].splitlines() if line.startswith("null: ")]
    assert any(one in line for one in ("clients are the limit", "this client", "not decided"))
    assert "4 measurements" in measured[2]


def test_programs_get_the_verdict_too(capsys):
    words = ("null:", "-D", 1, "-P", 10, "-I", 4, "--fault", "all:+1ms", "--adaptive")
    assert bench(*words, "--measurements", 3, "--format", "json") == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert verdict["measurements"] >= 3
    assert verdict["clients"] == 1
    assert verdict["sentences"]


def test_a_run_that_never_waited_has_no_verdict_and_says_why(capsys):
    assert bench("null:", "-D", 1, "-P", 4, "-I", 2, "--adaptive", "--measurements", 2) == 0
    seen = capsys.readouterr()
    assert "there is no verdict on this run" in seen.out + seen.err


def test_on_a_directory_the_tree_goes(place):
    words = ("-n", 2, "-D", 1, "-P", 20, "-I", 10, "--adaptive", "--measurements", 2)
    assert bench(place, *words) == 0
    assert left_in(place) == []
