"""Bursts: what was planted is found, what was not is not, and the median alone misses it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from iosonde.model.errors import NothingMeasuredError
from iosonde.model.ops import SLOW_AT, SLOW_LOWER_AT
from iosonde.weather.bursts.bursts import bursts
from iosonde.weather.bursts.ranks import (
    BY_RANKS,
    FEWEST_RANKS,
    STALL_NS,
    RunOperations,
    expected_coincidences,
    fewest_seen,
    find_stalls,
    waiting_ranks,
)
from iosonde.weather.bursts.search import (
    CHANCE,
    DEVIATIONS,
    FACTOR_AT,
    FEWEST,
    FEWEST_LONG,
    FEWEST_WINDOWS,
    LONG_AT,
    LOWER_AT,
    WANTED,
    WINDOWS_S,
    find_bursts,
    windows_for,
)
from iosonde.weather.bursts.words import largest_burst, say_burst, say_bursts, say_limit, say_runs
from iosonde.weather.samples.periods import Part
from iosonde.weather.store import Store
from tests.kit.commands import put, run
from tests.kit.samples.latencies import (
    COOLEY,
    MEASURING,
    MISTRAL,
    closed_loop,
    gathered,
    import_runs,
)
from tests.kit.samples.makers import SECOND, START, state

N, SPAN = 12_000, 20.0
STALLS = ((3.0, 0.8), (8.0, 0.5), (13.0, 1.0))


def open_loop(rng, kind, share=0.0, at=(8.0, 9.0), factor=1.0):
    """Latencies of one op that begins at random; ``share`` of those in ``at`` (s) are ``factor`` times as long."""
    began = np.sort(rng.uniform(0, SPAN * 1e9, N)).astype(np.int64)
    service = 1e6 * np.exp(0.4 * rng.normal(size=N))
    if kind == "two modes":
        slow = rng.random(N) < 0.01
        service[slow] = 1.5e7 * np.exp(0.5 * rng.normal(size=slow.sum()))
    if kind == "stragglers":
        rare = rng.random(N) < 5e-4
        service[rare] = np.minimum(1e8 / (1 - rng.random(rare.sum())), 1e11)
    inside = (began >= at[0] * 1e9) & (began < at[1] * 1e9) & (rng.random(N) < share)
    service[inside] *= factor
    return began, service


@pytest.mark.parametrize("kind", ["lognormal", "two modes", "stragglers"])
def test_nothing_is_found_where_nothing_is(kind):
    rng = np.random.default_rng(1)
    found = [
        len(find_bursts(began, service, windows_for(began)).bursts)
        for began, service in (open_loop(rng, kind) for _ in range(30))
    ]
    # CHANCE is 1% a run; 3 of 30 would be a probability of 0.3%
    assert sum(n > 0 for n in found) <= 2


@pytest.mark.parametrize("kind", ["lognormal", "two modes", "stragglers"])
@pytest.mark.parametrize(("share", "factor"), [(0.05, 30.0), (0.2, 10.0), (0.3, 5.0)])
def test_a_share_of_slow_operations_is_found_and_the_median_does_not_see_it(kind, share, factor):
    rng = np.random.default_rng(2)
    began, service = open_loop(rng, kind, share, factor=factor)
    got = find_bursts(began, service, windows_for(began))
    (burst,) = got.bursts
    assert burst.start_ns == pytest.approx(8.0e9, abs=0.2e9)
    assert burst.end_ns == pytest.approx(9.0e9, abs=0.3e9)
    assert burst.peaks["q99"] > 2
    assert not got.median_sees(burst.start_ns, burst.end_ns)


def test_when_all_are_slow_the_median_sees_it_too():
    rng = np.random.default_rng(3)
    began, service = open_loop(rng, "lognormal", 1.0, factor=6.0)
    got = find_bursts(began, service, windows_for(began))
    (burst,) = got.bursts
    assert got.median_sees(burst.start_ns, burst.end_ns)
    assert burst.peaks["q50"] == pytest.approx(6, rel=0.2)


def test_stragglers_alone_are_no_burst():
    rng = np.random.default_rng(4)
    began, service = open_loop(rng, "lognormal")
    service[6000 : 6000 + FEWEST_LONG - 1] = 1e10
    assert find_bursts(began, service, windows_for(began)).bursts == []


def test_windows_follow_the_density():
    at = np.arange(20_000)
    assert windows_for(at * 1_000_000)[0] == 100_000_000
    assert windows_for(at * 10_000_000)[0] == SECOND
    assert windows_for(at * SECOND) == (30 * SECOND, 60 * SECOND)
    assert windows_for(at[:100]) == ()
    assert windows_for(at * 600 * SECOND) == ()
    assert find_bursts(at[:0], at[:0] * 1.0, (SECOND,)) is None
    with pytest.raises(ValueError, match="above 0"):
        find_bursts(at, at * 1.0, (0,))


@pytest.fixture(scope="module")
def stalled(tmp_path_factory):
    """A store with a run in which all ranks wait three times, and one in which they never do."""
    root = tmp_path_factory.mktemp("stalled")
    for name, stalls in (("stalls", STALLS), ("calm", ())):
        rows = closed_loop(np.random.default_rng(5), SPAN, stalls=stalls)
        import_runs(root, [gathered(root / f"{name}.csv", rows)], started_ns=START)
    return root


def test_stalls_of_all_ranks_are_found_with_start_and_length(stalled):
    (found,) = bursts(Store(stalled), Part(target="stalls"))
    assert len(found.bursts) == len(STALLS)
    for burst, (begin, length) in zip(found.bursts, STALLS, strict=True):
        assert (burst.start_ns - START) / 1e9 == pytest.approx(begin, abs=0.05)
        assert (burst.end_ns - START) / 1e9 == pytest.approx(begin + length, abs=0.05)
        assert {"mean", "q99"} <= set(burst.seen_by)
        assert burst.peak("mean") > 5
        assert burst.share < 0.5
    assert sum(burst.median_sees for burst in found.bursts) < len(STALLS)
    assert "3 bursts on stalls" in say_bursts(found)
    assert "small reads on stalls waited for 8" in say_burst(found.bursts[0], START)


def test_a_calm_run_has_none(stalled):
    (found,) = bursts(Store(stalled), Part(target="calm"))
    assert found.bursts == []
    assert say_bursts(found).startswith("no burst in ")


def test_nothing_measured(stalled):
    with pytest.raises(NothingMeasuredError):
        bursts(Store(stalled), Part(target="nowhere"))


def test_command(stalled, capsys, utc, now):
    assert run("bursts", "stalls", store=stalled) == 0
    out = capsys.readouterr().out
    assert out.startswith("run stalls-i0: 3 bursts on stalls")
    assert "into the run" in out
    assert run("bursts", "stalls", "--format", "json", store=stalled) == 0
    (got,) = json.loads(capsys.readouterr().out)["runs"]
    assert [round((b["start_ns"] - START) / 1e9) for b in got["bursts"]] == [3, 8, 13]
    assert (
        run(
            "bursts",
            "--since",
            "2026-01-01",
            "--until",
            "2027-01-01",
            "--format",
            "csv",
            store=stalled,
        )
        == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(STALLS)
    assert run("bursts", "run:stal", store=stalled) == 0
    assert capsys.readouterr().out.startswith("run stalls-i0:")
    assert run("bursts", "stalls", "--window", "0", store=stalled) == 2
    assert run("bursts", "nobody", store=stalled) == 2


def test_runs_whose_ids_begin_alike_are_all_looked_at(tmp_path, capsys, utc, now):
    """As ``iosonde figure bursts --run`` takes them; and a target by the path where it is watched."""
    for number, stalls in enumerate(((), STALLS)):
        rows = closed_loop(np.random.default_rng(5), SPAN, stalls=stalls)
        path = gathered(tmp_path / f"{number}.csv", rows)
        started_ns = START + number * 3600 * SECOND
        import_runs(tmp_path, [path], target="lat", run=f"mdw-lat-{number}", started_ns=started_ns)
    assert run("bursts", "mdw-lat", store=tmp_path) == 0
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("run ")] == [
        "mdw-lat-0-i0:",
        "mdw-lat-1-i0:",
    ]
    assert run("compare", "mdw-lat", "mdw-lat-0", store=tmp_path) == 2
    assert "begins 2 runs" in capsys.readouterr().err
    put(tmp_path, lat=state(target="lat", path="/mnt/lat"))
    year = ("--since", "2026-01-01", "--until", "2027-01-01")
    assert run("bursts", "/mnt/lat/", *year, "--format", "json", store=tmp_path) == 0
    assert {one["target"] for one in json.loads(capsys.readouterr().out)["runs"]} == {"lat"}


def test_the_page_says_what_the_code_does():
    page = " ".join(
        (Path(__file__).parents[2] / "docs" / "methods" / "bursts.md").read_text().split()
    )
    first, *more, last = (f"{factor:g}" for factor in LONG_AT)
    assert f"{', '.join([first, *more])} or {last} times the usual q95" in page
    assert " ".join(f"{window:g}" for window in WINDOWS_S) + " s" in page
    assert f"holds {WANTED} operations ({FEWEST} if no length gives" in page
    assert f"the run has {FEWEST_WINDOWS} windows" in page
    assert f"at least {FACTOR_AT:g}, and beyond {DEVIATIONS:g} scaled" in page
    assert f"a probability of {CHANCE * 100:g}% for any" in page
    assert f"interval at least {LOWER_AT}" in page
    assert f"reaches a `k >= {FEWEST_LONG}`" in page
    assert f"in runs of fewer than {FEWEST_RANKS} ranks" in page
    assert f"`E(k)` at most {CHANCE * 100:g}%" in page
    assert f"stall for {STALL_NS // SECOND} s for their number" in page
    assert (FACTOR_AT, LOWER_AT) == (SLOW_AT, SLOW_LOWER_AT)


def ranked(rng, length, stalled=3, ranks=12, seconds=10.0):
    """Rows of a closed loop in which ``stalled`` of the ranks wait at 4 s for ``length`` s."""
    found = closed_loop(rng, seconds, ranks=stalled, stalls=[(4.0, length)], slow_share=0.0)
    others = closed_loop(rng, seconds, ranks=ranks - stalled, slow_share=0.0)
    return found + [(op, rank + stalled, at, took) for op, rank, at, took in others]


def test_a_stall_of_a_quarter_of_the_ranks_is_found(tmp_path):
    rows = ranked(np.random.default_rng(6), 0.15)
    import_runs(tmp_path, [gathered(tmp_path / "part.csv", rows)], started_ns=START)
    (found,) = bursts(Store(tmp_path), Part(target="part"))
    (burst,) = found.bursts
    assert (burst.start_ns - START) / 1e9 == pytest.approx(4.0, abs=0.05)
    assert (burst.end_ns - START) / 1e9 == pytest.approx(4.15, abs=0.05)
    assert BY_RANKS in burst.seen_by
    assert (burst.ranks, burst.of_ranks) == (3, 12)
    assert burst.lost_ns == pytest.approx(3 * 0.15e9, rel=0.1)


def operations(began_s, length_s, rank, origin_ns=START):
    began = origin_ns + (np.asarray(began_s) * 1e9).astype(np.int64)
    ended = began + (np.asarray(length_s) * 1e9).astype(np.int64)
    return RunOperations(np.asarray(rank), began, ended, np.full(len(began), 100.0))


def test_coincidences_are_counted_as_the_binomial_does():
    """Ten ranks that each begin to wait five times, for 1% of the run in all."""
    rank = np.repeat(np.arange(10), 5)
    got = expected_coincidences(rank, np.full(50, SECOND // 500), SECOND, 10)
    expected = [50 * binom.sf(k - 2, 9, 0.01) for k in range(1, 11)]
    assert got[1:] == pytest.approx(expected)
    unlike = expected_coincidences(np.array([0, 1, 2]), np.array([SECOND // 10] * 3), SECOND, 4)
    assert unlike[1:4] == pytest.approx([3, 3 * (1 - 0.9**2), 3 * 0.1**2])


def test_ranks_that_wait_together_are_found_and_those_that_wait_apart_are_not():
    rng = np.random.default_rng(7)
    apart = operations(rng.uniform(0, 100, 200), np.full(200, 0.05), rng.integers(0, 20, 200))
    assert find_stalls(apart, 20) == []
    together = operations(
        np.append(rng.uniform(0, 100, 200), np.full(5, 50.0)),
        np.append(np.full(200, 0.05), np.full(5, 0.5)),
        np.append(rng.integers(0, 20, 200), np.arange(5)),
    )
    (stall,) = find_stalls(together, 20)
    assert (stall.start_ns - START, stall.end_ns - START) == (
        50 * SECOND,
        50 * SECOND + SECOND // 2,
    )
    assert waiting_ranks(together).most(stall.start_ns, stall.end_ns) >= 5
    assert find_stalls(together, FEWEST_RANKS - 1) == []


def test_independent_waits_are_called_a_stall_in_at_most_the_share_promised():
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(200):
        n = int(rng.poisson(150))
        length = np.minimum(0.02 * (1 + rng.pareto(1.2, n)), 20.0)
        wrong += bool(
            find_stalls(operations(rng.uniform(0, 60, n), length, rng.integers(0, 30, n)), 30)
        )
    # 8 or more of 200 have a probability of 0.1% when the rate is 1%
    assert wrong < 8


def test_the_largest_is_the_one_that_cost_the_most_time(stalled):
    (found,) = bursts(Store(stalled), Part(target="stalls"))
    lost = [burst.lost_ns for burst in found.bursts]
    assert lost == pytest.approx([10 * length * 1e9 for _, length in STALLS], rel=0.15)
    assert largest_burst(found.bursts) is found.bursts[2]
    short, *_ = found.bursts
    loud = [replace(op, peaks=dict.fromkeys(op.peaks, 1e6)) for op in short.ops]
    assert largest_burst([replace(short, ops=tuple(loud)), *found.bursts[1:]]) is found.bursts[2]
    told = say_runs([found], START)
    assert "waited for 1.0" in next(line for line in told if line.startswith("the largest:"))
    assert all(len(line.split()) <= 25 for line in [*told, say_limit(found)])
    assert say_limit(found).startswith("stalls of 1.00 s in fewer than ")


def test_a_stall_of_as_many_ranks_as_it_says_is_found_and_one_of_two_is_not():
    rng = np.random.default_rng(9)
    n, ranks = 300, 24
    calm = (rng.uniform(0, 60, n), rng.uniform(0.05, 0.2, n), rng.integers(0, ranks, n))
    k = fewest_seen(operations(*calm), ranks)
    assert 3 < k < ranks

    def stalls(count):
        more = (np.full(count, 30.0), np.full(count, 1.0), np.arange(count))
        both = operations(*(np.append(*pair) for pair in zip(calm, more, strict=True)))
        return find_stalls(both, ranks)

    assert len(stalls(k + 1)) == 1
    assert stalls(2) == []
    assert fewest_seen(operations(*calm), FEWEST_RANKS - 1) is None


@pytest.mark.skipif(
    not MEASURING.is_dir(), reason=f"real latency files are not in {MEASURING} (IOSONDE_DATA)"
)
def test_the_bursts_of_real_runs(tmp_path):
    """Lustre of Mistral: all ranks wait about a second every five. GPFS of Cooley: a few creates, for seconds."""
    import_runs(tmp_path, [MEASURING / MISTRAL], target="lustre02", started_ns=START)
    iterations = bursts(Store(tmp_path), Part(target="lustre02"))
    begins = [[(b.start_ns - it.first_ns) / 1e9 for b in it.bursts] for it in iterations]
    for found, expected in zip(
        begins, ([5.2, 10.2, 15.2], [1.5, 6.5, 11.5, 16.6], [0.0, 5.0, 10.0, 15.0]), strict=True
    ):
        assert all(min(abs(begin - e) for begin in found) < 0.3 for e in expected)
    every = [burst for it in iterations for burst in it.bursts]
    assert all(0.3e9 < burst.end_ns - burst.start_ns < 1.5e9 for burst in every)
    assert all("mean" in burst.seen_by and burst.peak("mean") > 2 for burst in every)
    assert all(burst.peak("q99") > 5 for burst in every)
    assert sum(burst.median_sees for burst in every) <= len(every) // 4
    import_runs(tmp_path, [MEASURING / COOLEY], target="cooley", started_ns=START)
    (run_,) = bursts(Store(tmp_path), Part(target="cooley"))
    first = run_.bursts[0]
    assert first.start_ns - run_.first_ns < 0.1e9
    assert 3e9 < first.end_ns - first.start_ns < 7e9
    assert [op.op for op in first.ops if op.found] == ["md_create"]
    assert not any(burst.median_sees for burst in run_.bursts)
