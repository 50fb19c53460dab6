"""What explain says on made histories: sizes, values never seen, dead monitors, counts, twins, shares of a loss."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.jobs import slow_jobs as jobs
from benchmarks.truth.jobs.why_slow import said
from benchmarks.truth.jobs.year_sentences import broken_but_usual, read, tell
from iosonde.jobs.climate.climate import climate
from iosonde.jobs.correlate.correlate import correlate
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.explain.loss_share import FEWEST, loss_share
from iosonde.jobs.explain.own_doing import own_changes
from iosonde.jobs.explain.shortened import LONGEST, MOST_WORDS, Clause, shortened
from iosonde.jobs.explain.twins import twins
from iosonde.jobs.explain.unseen import beyond
from iosonde.jobs.explain.words import judge
from iosonde.jobs.table.answers import select
from iosonde.jobs.table.derived import with_derived
from iosonde.jobs.table.from_files import merged
from iosonde.jobs.table.leakage import GROWS, judged
from iosonde.jobs.table.sizes import sized
from iosonde.jobs.umami.diagram import umami
from tests.kit.jobs.jobs_made import table
from tests.kit.samples.latencies import DATA

YEAR = DATA / "umami" / "tables" / "year_edison.csv.gz"


def draws(seed: int):
    return ((name, draw, np.random.default_rng(seed)) for name, draw in jobs.DRAWS.items())


def test_small_and_large_runs_are_no_history_of_each_other():
    for name, draw, random in draws(1):
        made, place = jobs.of_two_sizes(random, draw, 40)
        ready = judged(with_derived(made).table)
        kinds = set(ready.motif.tolist())
        assert kinds == {"sim shared write, 16 nodes", "sim shared write, 128 nodes"}, name
        verdicts = {
            row: judge(explain(ready, str(row), history="all")).verdict for row in range(80)
        }
        better = [verdicts[row] for row in range(80) if place[row] % 2 > 0.5 and place[row] < 1]
        assert "slow" not in better, name
        slowest = int(np.flatnonzero(place == place[place >= 2].min())[0])
        assert verdicts[slowest] == "slow", name


def test_sizes_are_seen_by_all_that_compares_runs():
    made, _ = jobs.of_two_sizes(np.random.default_rng(2), jobs.normal, 60)
    names = {"sim shared write, 16 nodes", "sim shared write, 128 nodes"}
    raw = replace(made, metrics={**made.metrics, "fraction_of_peak_ratio": made.metrics["performance_bytes_per_s"] / 4e9})  # fmt: skip  # noqa: E501
    found = correlate(raw, "performance_bytes_per_s", ["concurrent_jobs"])
    assert {row.group[1] for row in found.rows if row.group} == names
    assert {one.motif for one in climate(raw).series} == names
    assert umami(raw, "5").others < 60
    ready = with_derived(made).table
    assert (ready.metrics["fraction_of_peak_ratio"][ready.motif == min(names)] == 1).sum() == 1
    one = select(ready, None, "sim shared write, 16 nodes")
    assert len(one) == 60
    assert len(select(ready, None, "sim shared write")) == 120
    again = merged([ready.take(slice(0, 50)), ready.take(slice(50, None))])
    assert set(again.motif.tolist()) == {"sim shared write"}
    assert set(sized(again).motif.tolist()) == names


def test_a_run_that_did_something_else_is_said_to_first():
    base = {
        "performance_bytes_per_s": 1e9 * np.exp(0.05 * np.random.default_rng(3).normal(size=40)),
        "own_bytes": np.full(40, 2.0**40),
        "own_reads": np.full(40, 2.0**20),
        "own_writes": np.zeros(40),
    }
    base["performance_bytes_per_s"][-1] = 0.6e9
    sizes = {"ranks": np.full(40, 512.0)}
    for what, change, words in (
        ("bytes", {"own_bytes": 4.0, "own_reads": 4.0}, "itself had 4x the bytes (4.00 TiB, usual 1 TiB); it was "),
        ("transfer size", {"own_reads": 16.0}, "itself had 0.0625x the transfer size (64.0 KiB, usual 1.00 MiB)"),
        ("ranks", {}, "itself had half the ranks (256, usual 512); it was 4"),
    ):  # fmt: skip
        metrics = {name: column.copy() for name, column in base.items()}
        for name, factor in change.items():
            metrics[name][-1] *= factor
        made = replace(table(metrics), sizes={"ranks": sizes["ranks"].copy()})
        made.sizes["ranks"][-1] = 256 if what == "ranks" else 512
        verdict = said(made, "40")
        assert words.split(" (")[0] in verdict.sentence, verdict.sentence
        assert verdict.sentence.index("itself had") < verdict.sentence.index("slower than usual")
        assert verdict.data()["own"][0] == what
        assert verdict.evidence[0].startswith("the run itself had ")
        assert len(verdict.sentence) <= LONGEST


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_runs_like_all_others_did_nothing_else(spread):
    flagged = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        sizes = np.exp(27 + spread * random.standard_t(3, 40))
        made = table({"own_bytes": sizes, "performance_bytes_per_s": np.ones(40)})
        flagged += bool(own_changes(made, 39, np.arange(39)))
    assert flagged <= 2


def test_a_new_value_is_named_however_long_the_history():
    for name, draw, random in draws(4):
        for n in (8, 30, 90, 200):
            hits = 0
            for _ in range(4):
                made, cause = jobs.never_seen(random, draw, n)
                verdict = said(made, str(n))
                hits += cause in [one.metric for one in verdict.told[:3]]
                assert cause in verdict.data()["unseen"], (name, n)
                assert "no metric stood out" not in verdict.sentence
            assert hits >= 3, (name, n)
    assert re.search(
        r"; (new: )?probed .*(never seen in 200 runs )?\(chance: 0.04 of 8\)$", verdict.sentence
    )
    assert any("so history cannot say what it costs" in line for line in verdict.evidence)


def test_nothing_is_backed_where_nothing_is_there():
    claims = 0
    for _, draw, random in draws(5):
        for n in (8, 15, 30, 90):
            for _ in range(3):
                verdict = said(jobs.of_nothing(random, draw, n), str(n))
                claims += bool(verdict.data()["backed"])
    assert claims <= 2


@pytest.mark.parametrize("how", ["missing", "dead", "over-covered"])
def test_what_was_not_measured_is_never_as_usual(how):
    for name, draw, random in draws(6):
        verdict = said(jobs.unmeasured(random, draw, how), "59")
        group = "contention for bandwidth" if how == "over-covered" else "server CPU"
        assert group in verdict.data()["not_measured"], name
        assert group not in verdict.data()["as_usual"], name
        assert f"not measured: {group}" in verdict.rejected


def test_zeros_that_may_be_true_stay():
    column = np.array([0.0, 1, 2, 0, 3, 1, 0, 2, 1, 1, 0, 4])
    whole = {"mds_cpu_max_percent": column, "performance_bytes_per_s": np.ones(12)}
    assert with_derived(table(whole)).table.flags == {}
    removed = {"server_rmdirs": np.where(np.arange(12) == 5, 0, 300.0), "own_bytes": np.ones(12)}
    assert with_derived(table(removed)).table.flags == {}
    dead = {"mds_cpu_max_percent": np.where(np.arange(12) == 5, 0, 20.0 + column)}
    found = with_derived(table({**dead, "performance_bytes_per_s": np.ones(12)})).table
    assert found.flags == {(5, "mds_cpu_max_percent"): ("monitor-down",)}
    assert np.isnan(found.metrics["mds_cpu_max_percent"][5])


def test_explain_and_correlate_judge_a_count_of_the_run_time_alike():
    for name, draw, random in draws(7):
        made = jobs.counted(random, draw)
        found = explain(judged(with_derived(made).table), "89")
        (one,) = (c for c in found.candidates if c.metric == "lock_retries")
        assert one.leak == GROWS, name
        (row,) = correlate(made, "performance_bytes_per_s", ["lock_retries"], ()).rows
        assert row.contaminated, name


def test_a_cause_that_slows_a_run_is_no_count_of_its_run_time():
    random = np.random.default_rng(8)
    heat = random.normal(30, 5, 90)
    slow = np.exp(0.04 * (heat - 30) + 0.02 * random.normal(size=90))
    metrics = {"performance_bytes_per_s": 1e9 / slow, "mds_cpu_max_percent": heat}
    made = jobs.made({**metrics, "own_bytes": np.full(90, 1e11)}, 100 * slow)
    assert [c.leak for c in explain(made, "89").candidates] == [""]
    assert not correlate(made, "performance_bytes_per_s", ["mds_cpu_max_percent"], ()).rows[0].contaminated  # fmt: skip


def test_twins_are_one_reason():
    for name, draw, random in draws(9):
        made, pair = jobs.twins(random, draw)
        verdict = said(made, "89")
        assert len(set(pair) & {one.metric for one in verdict.told}) == 1, name
        assert any("together" in line for line in (verdict.sentence, *verdict.evidence)), name
    x = np.arange(20.0)
    found = twins({"a": x, "b": -x, "c": np.tile([0.0, 1.0], 10)})
    assert found == {"a": ("b",), "b": ("a",), "c": ()}


def test_the_share_of_a_loss_and_its_interval():
    told = inside = 0
    for _, draw, random in draws(10):
        for form in jobs.FORMS:
            made, cause, truth = jobs.lost(random, draw, form, 90)
            for metric, share, low, high in said(made, "90").shares:
                if metric == cause:
                    told += 1
                    inside += low - 0.005 <= truth <= high + 0.005
                    assert 0 <= low <= share <= high <= 1
    assert told >= 8
    assert inside >= 0.8 * told


def test_a_share_of_what_is_not_lost_or_not_known_is_none():
    x, y = np.arange(40.0), np.linspace(2.0, 1.0, 40)
    assert loss_share(y, x, (1.6, 39.0), 40.0) is None
    assert loss_share(y, np.ones(40), (1.0, 1.0), 40.0) is None
    assert loss_share(y[: FEWEST - 1], x[: FEWEST - 1], (0.5, 29.0), 29.0) is None
    assert loss_share(y, np.where(x < 14, np.nan, x), (0.5, 7.0), 7.0) is None
    found = loss_share(y, x, (1.0, 39.0), 40.0)
    assert found.share == pytest.approx(1.0, abs=0.05)
    assert loss_share(y, x, (0.0, 39.0), 40.0).share == pytest.approx(1 / 3, abs=0.05)


def test_how_far_beyond_is_by_the_scale_that_says_less():
    history = np.exp(np.random.default_rng(11).normal(size=50))
    assert beyond(history, float(history.max()) * 1.2, 1.0, 0.0) < 0.3
    assert beyond(history, float(history.max()), 1.0, 0.0) == 0
    assert beyond(history, float(history.min()) / 2, 1.0, 0.0) == 0
    assert beyond(history, float(history.min()) / 2, 0.0, 0.0) > 0
    assert beyond(history[:4], 1e9, 1.0, 0.0) == 0
    assert beyond(np.full(10, 5.0), 6.0, 1.0, 0.0) > 2
    assert beyond(history, np.nan, 1.0, 0.0) == 0


def test_a_sentence_gives_up_what_matters_least():
    parts = [
        Clause(("a" * 150,), 9),
        Clause(("b" * 60, "b" * 40, ""), 1),
        Clause(("c" * 20, ""), 2),
    ]
    assert shortened(parts) == "a" * 150 + "b" * 0 + "c" * 20
    parts[1] = Clause(("b" * 60, "b" * 20, ""), 1)
    assert shortened(parts) == "a" * 150 + "b" * 20 + "c" * 20
    words = [Clause(("a " * MOST_WORDS,), 9), Clause(("b b", ""), 5), Clause(("c",), 1)]
    assert shortened(words) == "a " * MOST_WORDS + "c"
    kinds = [Clause(("a " * MOST_WORDS, "a"), 5), Clause(("d d", "d", ""), 3), Clause(("e", ""), 6)]
    assert shortened(kinds) == "ae"


@pytest.mark.parametrize(("rank", "said_so"), [(1, "faster than 1 of 312"), (310, "faster than all but 2 of 312")])  # fmt: skip  # noqa: E501
def test_nobody_is_faster_than_no_percent(rank, said_so):
    rate = 1e9 + np.arange(313.0)
    rate[-1] = rate[rank] - 0.5
    verdict = judge(explain(table({"performance_bytes_per_s": rate}), "313"))
    assert said_so in " ".join((verdict.sentence, *verdict.evidence))


@pytest.mark.skipif(not YEAR.is_file(), reason=f"no recorded table {YEAR}")
def test_sentences_of_a_real_year_are_short_and_call_nothing_usual_that_is_broken():
    made = read(YEAR)
    rows = np.random.default_rng(12).choice(len(made), 150, replace=False).tolist()
    told = tell(made, rows)
    assert not [one for one in told if one.wrong]
    assert not any("faster than 0%" in one.sentence for one in told)
    assert max(len(one.sentence) for one in told) <= LONGEST
    assert max(len(one.sentence.split()) for one in told) <= MOST_WORDS


def test_a_group_that_is_called_usual_and_is_broken_is_seen():
    random = np.random.default_rng(3)
    made = judged(with_derived(jobs.unmeasured(random, jobs.normal, "normal")).table)
    found = explain(made, "59")
    verdict = judge(found)
    name = "contention for bandwidth"
    assert name in verdict.looked.as_usual
    assert broken_but_usual(found, verdict) == ()
    gone = [
        replace(one, stood=replace(one.stood, value=np.nan))
        if one.about.group == "contention" and not one.leak
        else one
        for one in found.candidates
    ]
    assert broken_but_usual(replace(found, candidates=tuple(gone)), verdict) == (name,)
