"""Counts, times and rates of mdtest: with a plan, a time limit, a count of an earlier limit, and contradictions."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.benchmarks.mdtest.counts import PhaseCount, Stated, amount_of
from iosonde.connectors.benchmarks.mdtest.text import read_text
from iosonde.connectors.lines import FileDefaults
from tests.kit.samples.makers import SECOND

HEAD = """\
mdtest-4.1.0 was launched with 4 total task(s) on 2 node(s)
Command line used: ./mdtest '-n' '1000000' '-u' '-F' '-d' '/made/mdt' {options}
4 tasks, 4000000 files
{said}
SUMMARY rate: (of {iterations} iterations)
   File {verb}   {rates}
   Tree removal   50.000   50.000   50.000   0.000

SUMMARY time: (of {iterations} iterations)
   File {verb}   {times}
   Tree removal   0.020   0.020   0.020   0.000
-- finished at 03/01/2026 12:00:01 --
"""
EARLIER = "'-T' '-x' '/made/easy.stonewall' '-W' '300'"


def text(verb, rate, seconds, options=EARLIER, said="", iterations=1):
    rates, times = (f"{x:.3f}   {x:.3f}   {x:.3f}   0.000" for x in (rate, seconds))
    return HEAD.format(
        verb=verb, rates=rates, times=times, options=options, said=said, iterations=iterations
    )


def rows_of(tmp_path, content):
    path = tmp_path / "mdtest.txt"
    path.write_text(content)
    rows = list(read_text(path, FileDefaults("run", zone=UTC), pytest.fail))
    return {(row.phase, row.op): row for row in rows}


@pytest.mark.parametrize(
    ("verb", "phase"), [("stat", "stat"), ("read", "read"), ("removal", "delete")]
)
def test_a_count_of_an_earlier_limit_is_rate_times_time(tmp_path, verb, phase):
    """Not the plan of 4,000,000: 490,900 objects in 726.1 s."""
    rows = rows_of(tmp_path, text(verb, 490_900 / 726.1, 726.1))
    for op in (None, f"md_{phase}"):
        row = rows[phase, op]
        assert (row.ops, row.duration_ns) == (490_900, 7261 * SECOND // 10)
        assert row.rate_per_s == pytest.approx(490_900 / 726.1, abs=1e-3)
    assert "flags" not in rows[phase, None].parameters["reported"]
    assert (rows["tree_delete", None].ops, rows["tree_delete", None].duration_ns) == (
        None,
        SECOND // 50,
    )


@pytest.mark.parametrize("options", ["'-x=/made/easy.stonewall'", "-W=300"])
def test_options_with_an_equals_sign(tmp_path, options):
    assert rows_of(tmp_path, text("stat", 2000, 10, options))["stat", None].ops == 20_000


def test_without_a_time_nothing_is_made_up(tmp_path):
    content = text("stat", 2000, 10).partition("SUMMARY time")[0]
    row = rows_of(tmp_path, content)["stat", None]
    assert (row.rate_per_s, row.ops, row.duration_ns) == (2000, None, None)


def test_creates_after_a_limit_are_those_of_the_longest_rank(tmp_path):
    said = "Continue stonewall hit min: 900 max: 1250 avg: 1000.0"
    row = rows_of(tmp_path, text("creation", 500, 10, EARLIER, said))["create", None]
    assert (row.ops, row.duration_ns) == (5000, 10 * SECOND)
    assert "flags" not in row.parameters["reported"]


def test_a_plan_that_was_not_done_is_told(tmp_path):
    row = rows_of(tmp_path, text("stat", 2000, 10, options=""))["stat", None]
    assert (row.ops, row.duration_ns, row.rate_per_s) == (20_000, 10 * SECOND, 2000)
    reported = row.parameters["reported"]
    assert (reported["flags"], reported["printed_ops"]) == (["count-recomputed"], 4_000_000)


def test_means_of_iterations_are_no_count(tmp_path):
    row = rows_of(tmp_path, text("stat", 2000, 10, iterations=3))["stat", None]
    assert (row.ops, row.duration_ns) == (None, 10 * SECOND)
    row = rows_of(tmp_path, text("stat", 4e6, 1.2, options="", iterations=3))["stat", None]
    assert (row.ops, row.duration_ns) == (4_000_000, SECOND)


@given(
    st.integers(1, 100_000),
    st.integers(1, 5000),
    st.floats(0.1, 5000),
)
def test_counts_are_exact_where_digits_allow(each, tasks, seconds):
    """Rounded to three decimals as mdtest prints them."""
    ops = each * tasks
    printed, rate = round(seconds, 3), round(ops / seconds, 3)
    found = amount_of(Stated(None, printed, rate, tasks))
    if found.ops is None or rate == 0:
        assert rate == 0
        return
    error = 0.0005 / printed + 0.0005 / rate
    assert abs(found.ops / ops - 1) <= 2 * error + 1 / ops
    if error * each < 0.25:
        assert found == PhaseCount(ops, printed)
