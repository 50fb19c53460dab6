"""``iosonde compare`` of two bandwidth runs: ratio, interval and verdict from repetitions that a test knows."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from iosonde.bench.bandwidth.compare import compare_rates
from iosonde.bench.bandwidth.compare_words import say_rates
from iosonde.bench.runs import store as runs
from iosonde.model.runs import RunRow
from tests.kit.commands import run
from tests.kit.made_runs import benchmark
from tests.kit.makers import SECOND, START

MARGIN = 1.2
MIB = 1 << 20


def rows(run_id, rates, phase="write", **more):
    """A run with a repetition a rate."""
    common = {"run_id": run_id, "source": "iosonde", "instrument": "bandwidth", "host": "h"}
    common |= {"target": "/work", "backend": "posix", "pattern": "own", "phase": phase, "ranks": 4}
    common |= {"ops": 9, "began_ns": START, "duration_ns": 9 * SECOND, "bytes": MIB}
    return [
        RunRow(
            **(common | more), repetition=n, sustained_bytes_per_s=1.5 * rate, last_bytes_per_s=rate
        )
        for n, rate in enumerate(rates)
    ]


def last(a, b, margin=MARGIN):
    (found,) = (one for one in compare_rates(a, b, margin) if one.rate == "until the last rank")
    return found


def noisy(seed, factor=1.0, n=6, sd=0.05):
    return factor * 1e9 * np.exp(np.random.default_rng(seed).normal(0, sd, n))


def test_the_ratio_is_that_of_geometric_means_with_its_interval():
    one = last(rows("a", [100.0, 400.0]), rows("b", [200.0, 800.0]))
    assert one.ratio == pytest.approx(2.0)
    assert (one.a, one.b) == pytest.approx((200.0, 400.0))
    # Logarithms of a and of b: standard error ln(4)/2 each, Welch: 2 degrees of freedom, t = 4.3027.
    half = 4.302652729 * np.sqrt(2) * np.log(4) / 2
    assert one.upper == pytest.approx(2 * np.exp(half))
    assert one.lower == pytest.approx(2 / np.exp(half))
    assert one.verdict == "unknown"


@pytest.mark.parametrize(("factor", "verdict"), [(1.5, "faster"), (0.6, "slower"), (1.0, "same")])
def test_a_change_and_no_change_get_their_verdict(factor, verdict):
    one = last(rows("a", noisy(1)), rows("b", noisy(2, factor)))
    assert one.verdict == verdict
    assert verdict in say_rates([one], MARGIN)[0]


def test_alike_runs_are_rarely_called_different_and_the_interval_holds():
    called = held = 0
    for seed in range(400):
        one = last(rows("a", noisy(seed, n=3)), rows("b", noisy(seed + 1000, n=3)), margin=1.01)
        called += one.verdict in ("faster", "slower")
        held += one.lower <= 1 <= one.upper
    assert called <= 24
    assert held >= 376


def test_one_repetition_gives_a_ratio_and_no_verdict():
    one = last(rows("a", [1e9]), rows("b", [2e9, 2e9]))
    assert (one.ratio, one.lower, one.verdict) == (pytest.approx(2.0), None, "unknown")
    assert "one repetition cannot tell" in say_rates([one], MARGIN)[0]


def test_the_command_prints_both_directions_and_what_was_asked_for_differently(tmp_path, capsys):
    for name, factor, ranks in (("bw-old", 1.0, 4), ("bw-new", 2.0, 8)):
        both = [
            *rows(name, noisy(1, factor), ranks=ranks),
            *rows(name, noisy(3), "read", ranks=ranks),
        ]
        runs.write(tmp_path, both, START)
    assert run("compare", "bw-old", "bw-new", store=tmp_path) == 0
    out = capsys.readouterr().out
    assert "writes are faster in B: its rate until the last rank is 2.00 (1." in out
    assert "reads are the same within 20%" in out
    assert "the runs differ (A / B): ranks 4 / 8" in out
    assert run("compare", "bw-old", "bw-new", "--format", "json", store=tmp_path) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["a"], len(document["rates"])) == ("bw-old", 4)
    assert run("compare", "bw-old", "bw-new", "--format", "csv", store=tmp_path) == 0
    assert capsys.readouterr().out.startswith("direction,rate,verdict,")


def test_what_cannot_be_compared_is_said_in_a_line(tmp_path, capsys):
    runs.write(tmp_path, rows("bw-one", [1e9]), START)
    runs.write(tmp_path, rows("bw-two", [1e9], "read"), START)
    runs.write(tmp_path, [replace(row, run_id="md") for row in benchmark()], START)
    for words, said in (
        (("bw-one", "md"), "is no bandwidth run"),
        (("bw-one", "bw-one"), "both sides are bw-one"),
        (("bw-one", "bw-two"), "no rate in common"),
        (("bw", "bw-one"), "begins 2 runs"),
        (("bw-one", "bw-two", "--quantiles"), "samples of a probe"),
    ):
        assert run("compare", *words, store=tmp_path) in (1, 2)
        assert said in capsys.readouterr().err
