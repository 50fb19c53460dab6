"""``iosonde compare RUN RUN``: verdicts on runs whose truth a test knows, and what cannot be compared."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from iosonde.bench.compare.alike import others_alike
from iosonde.bench.compare.judge import judge
from iosonde.bench.compare.measures import BANDWIDTHS, LATENCIES, RATES, Subject, run_values
from iosonde.bench.compare.spread import (
    ASSUMED_FREEDOM,
    ENOUGH,
    FLOOR,
    LEAST,
    NEIGHBOUR,
    separate,
)
from iosonde.bench.runs import store as runs
from iosonde.bench.runs.store import StoredRun
from iosonde.model.runs import RunRow
from tests.kit.commands import run
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import SECOND, START

MARGIN = 1.2
OPS = ("md_create", "md_stat", "md_read", "md_delete")


def bandwidth_rows(run_id, rates, phase="write", **more):
    """A run with a repetition a rate."""
    common = {"run_id": run_id, "source": "iosonde", "instrument": "bandwidth", "host": "h"}
    common |= {"target": "/work", "backend": "posix", "pattern": "own", "phase": phase, "ranks": 4}
    common |= {"ops": 9, "began_ns": START, "duration_ns": 9 * SECOND, "bytes": 1 << 20}
    return [
        RunRow(
            **(common | more), repetition=n, sustained_bytes_per_s=1.5 * rate, last_bytes_per_s=rate
        )
        for n, rate in enumerate(rates)
    ]


def metadata_rows(run_id, rng, shift=1.0, sd=0.05, began=START, **more):
    """Three repetitions of a run whose values scatter; ``shift`` makes every latency longer."""
    found = []
    for repetition in range(3):
        for row in benchmark(run_id, repetition=repetition, began_ns=began, **more):
            scale = shift * float(np.exp(rng.normal(0, sd)))
            times = {
                f"{q}_ns": factor * scale * 1e6
                for q, factor in (("q50", 1), ("mean", 2), ("q99", 9))
            }
            rate = None if row.rate_per_s is None else row.rate_per_s / scale
            found.append(replace(row, rate_per_s=rate, **(times if row.op else {})))
    return found


def made(rng, kind, shift=0.0):
    """The values of one run in a world that the formula does not know; a run has its own offset."""
    found = {}
    common = rng.standard_t(3) * 0.1
    for op in (None, *OPS):
        offset = (
            common
            + {
                "normal": lambda: rng.normal(0, 0.2),
                "heavy tails": lambda: rng.standard_t(2.5) * 0.1,
                "two modes": lambda: rng.choice([0.0, 0.7]) + rng.normal(0, 0.02),
            }[kind]()
        )
        values = np.exp(shift + offset + rng.normal(0, 0.03, 3))
        measures = RATES if op is None else LATENCIES
        found[Subject("benchmark", op)] = {one: tuple(values) for one in measures}
    return found


def wrong(a, b, others=()):
    return any(one.verdict in ("slower", "faster") for one in judge(a, b, others, MARGIN))


@pytest.mark.parametrize(
    ("kind", "n"),
    [("normal", 1), ("heavy tails", 1), ("two modes", 1), ("normal", 5), ("heavy tails", 5)],
)
def test_runs_of_the_same_are_seldom_called_different(kind, n):
    """Alone with other runs like them, and in fives; at most 5 % may be (here within luck of 200)."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        a, b = ([made(rng, kind) for _ in range(n)] for _ in "ab")
        others = [[*[made(rng, kind) for _ in range(4)], side[0]] for side in (a, b)]
        found.append(wrong(a, b, others if n == 1 else ()))
    assert np.mean(found) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_a_known_shift_is_found_and_the_smallest_is_what_it_says():
    rng = np.random.default_rng(6)
    hits, smallest = [], []
    for _ in range(100):
        a = [made(rng, "normal") for _ in range(4)]
        b = [made(rng, "normal", np.log(3)) for _ in range(4)]
        found = judge(a, b, (), MARGIN)
        hits.append(all(one.verdict == "slower" for one in found if one.subject.op))
        smallest += [one.shown.smallest for one in found]
    assert np.mean(hits) > 0.9
    assert 1.3 < np.median(smallest) < 3


def test_the_interval_is_that_of_the_formula():
    found = separate([[0.0], [0.4]], [[1.0], [1.2]])
    squares, unseen = 0.2**2 * 2 + 0.1**2 * 2, 1 - 2 / ENOUGH
    freedom = unseen * ASSUMED_FREEDOM + 2
    variance = (unseen * ASSUMED_FREEDOM * LEAST**2 + squares) / freedom
    assert found.freedom == pytest.approx(freedom)
    assert (found.difference, found.error) == pytest.approx((0.9, np.sqrt(variance)))
    low, high = found.interval(0.95)
    half = stats.t.ppf(0.975, freedom) * found.error
    assert (np.log(low), np.log(high)) == pytest.approx((0.9 - half, 0.9 + half))
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.9 / found.error, freedom))


def test_with_enough_runs_it_is_student_s_test():
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 0.3, 4), rng.normal(0.5, 0.3, 4)
    found = separate([[x] for x in a], [[x] for x in b])
    assert found.p_value == pytest.approx(stats.ttest_ind(a, b).pvalue)
    alike = separate([[0.0]] * 4, [[0.0]] * 4)
    assert alike.error == pytest.approx(FLOOR * np.sqrt(0.5))


def test_other_runs_count_by_what_neighbours_differ():
    found = separate([[0.0]], [[0.0]], [[[0.0], [0.6], [0.6]]])
    unseen = 1 - 2 * NEIGHBOUR / ENOUGH
    assert found.freedom == pytest.approx(unseen * ASSUMED_FREEDOM + 2 * NEIGHBOUR)
    expected = (unseen * ASSUMED_FREEDOM * LEAST**2 + NEIGHBOUR * 0.18) / found.freedom
    assert found.error == pytest.approx(np.sqrt(2 * expected))


def test_repetitions_that_scatter_widen_what_is_assumed():
    calm, wild = separate([[0.0, 0.0]], [[0.0, 0.0]]), separate([[0.0, 1.0]], [[0.0, 1.0]])
    assert calm.error == pytest.approx(np.sqrt(2) * np.hypot(LEAST, FLOOR))
    assert wild.error > 5 * calm.error


def test_others_alike_never_lie_across_the_change():
    def stored(name, at, **more):
        return StoredRun(name, tuple(benchmark(name, **more)), at, True)

    every = [stored(f"r{at}", at) for at in range(10)]
    every.append(stored("other", 4, target="/home"))
    near_a, near_b = others_alike(every[3], every[6], every)
    assert [run.run_id for run in near_a] == ["r0", "r1", "r2", "r3", "r4"]
    assert [run.run_id for run in near_b] == ["r5", "r6", "r7", "r8", "r9"]


def test_the_smallest_waiting_factor_and_the_benchmark_phase_count():
    rows = benchmark("r", phase="precreate") + benchmark("r", factor=4.0, rate=1.0) + benchmark("r")
    found = run_values(rows)
    assert {subject.phase for subject in found} == {"benchmark"}
    assert found[Subject("benchmark", None)][RATES[0]] == (400.0,)


def test_bandwidth_has_the_rates_of_each_direction():
    found = run_values(bandwidth_rows("a", [1.0, 2.0]) + bandwidth_rows("a", [3.0], phase="read"))
    assert found[Subject("write", None)][BANDWIDTHS[0]] == (1.0, 2.0)
    assert BANDWIDTHS[1] not in found[Subject("write", None)]


# ---- the command


@pytest.fixture
def two(store):
    """Ten runs like A, ten like B: twice as slow."""
    rng = np.random.default_rng(1)
    for n in range(10):
        at = START + n * 60 * SECOND
        shift, letter = (1.0, "a") if n < 5 else (2.0, "b")
        rows = metadata_rows(f"metadata-{letter}{n}", rng, shift, began=at)
        runs.write(store, rows, START)
    return store


def answer(capsys, store, *words):
    """Exit code, output and errors of a comparison."""
    code = run("compare", *words, store=store)
    done = capsys.readouterr()
    return code, done.out, done.err


def test_two_runs_of_the_list_are_compared(two, capsys):
    code, out, err = answer(capsys, two, "metadata-a4", "metadata-b5")
    assert code == 0, err
    assert "creates: slower in B; " in out
    assert "8 other runs like these showed how far apart" in out
    _, same, _ = answer(capsys, two, "metadata-a1", "metadata-a3")
    assert "slower" not in same
    assert "faster" not in same
    assert "would have been seen" in same or "the same within 20%" in same


def test_several_runs_a_side_and_data(two, capsys):
    sides = ("metadata-a0,metadata-a1,run:metadata-a2", "metadata-b5,metadata-b6,metadata-b7")
    _, text, _ = answer(capsys, two, *sides)
    assert "A: 3 runs, 2 ranks on /work: metadata-a0, metadata-a1, metadata-a2" in text
    assert "all runs of one side came first" in " ".join(text.split())
    found = json.loads(answer(capsys, two, *sides, "--format", "json")[1])
    assert found["a"] == ["metadata-a0", "metadata-a1", "metadata-a2"]
    verdicts = {one["op"]: one["verdict"] for one in found["subjects"]}
    assert verdicts["md_create"] == "slower"
    _, one, _ = answer(capsys, two, *sides, "--op", "md_read", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(one)))
    assert {row["op"] for row in rows} == {"md_read"}
    assert float(rows[0]["ratio"]) == pytest.approx(2, rel=0.3)


def test_sentences_are_short(two, capsys):
    _, out, _ = answer(capsys, two, "metadata-a4", "metadata-a3", "--format", "json")
    found = json.loads(out)
    assert max(len(text.split()) for text in found["sentences"] + found["notes"]) <= 25


def test_different_parameters_are_named(store, capsys):
    rng = np.random.default_rng(2)
    runs.write(store, metadata_rows("metadata-a", rng), START)
    more = {"data_sets": 9, "iterations": 2000, "objects": 10_000}
    runs.write(store, metadata_rows("metadata-b", rng, target="/scratch", parameters=more), START)
    _, out, _ = answer(capsys, store, "metadata-a", "metadata-b")
    assert "the runs differ (A / B): target /work / /scratch, data_sets 4 / 9" in out
    assert "a spread of at least 10% from run to run is assumed" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("metadata-a", "metadata-a"), "named twice"),
        (("metadata-a", "bandwidth-a"), "measure different things"),
        (("metadata-a", "/work"), "no benchmark run"),
        (("metadata-a", "cleanup-a"), "no operation in common"),
        (("metadata-aa", "metadata-ab"), "try 'metadata-a'"),
        (("metadata-a", "bulk-a", "--plot", "x.png"), "--samples"),
        (("metadata-a", "bulk-a"), ""),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_reason(store, capsys, words, said):
    rng = np.random.default_rng(3)
    runs.write(store, metadata_rows("metadata-a", rng), START)
    runs.write(store, bandwidth_rows("bandwidth-a", [1.0, 2.0]), START)
    whole = [row for row in metadata_rows("cleanup-a", rng, phase="x") if not row.op]
    runs.write(store, whole, START)
    bulk = [
        replace(row, phase=f"{row.op}".removeprefix("md_"), pattern="bulk")
        for row in metadata_rows("bulk-a", rng)
        if row.op
    ]
    runs.write(store, bulk, START)
    code, _, err = answer(capsys, store, *words)
    assert code in (1, 2)
    assert said in err
    assert err.startswith("iosonde: ")


def test_a_tie_has_no_direction():
    a = [{Subject("benchmark", None): {RATES[0]: (5.0, 5.0)}}]
    (found,) = judge(a, a, (), 2.0)
    assert found.verdict == "same"
    assert SimpleNamespace(**found.shown._asdict()).ratio == pytest.approx(1)
