"""Adaptive runs of md-workbench, imported: the table, the corrected rate and the verdict of a run measured here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.rates import LEVELS
from iosonde.bench.adaptive.verdict import RateTrend
from iosonde.bench.runs import store as runs
from iosonde.queue.closed_network import Network
from tests.kit.commands import run
from tests.kit.records import peers
from tests.kit.samples.latencies import MEASURING, write

RANKS, OPS = 8, 40
BUSY = Network(RANKS, 1 / 1000, 0.004 - 1 / 1000)
"""One server that does 1000 ops/s, kept busy by 4 clients."""
IDLE = Network(RANKS, 1e-5, 0.004)


def files(folder, network, repetitions, levels=LEVELS, ending="-all", seed=5):
    """What md-workbench -T -L writes: a rank waits T times as long as its operation took. T has two decimals."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for factor in levels:
        mean_s = RANKS / float(network.corrected_per_s(np.array([factor]))[0])
        for repetition in range(repetitions):
            lines = []
            for _ in range(RANKS if ending else 1):
                took = mean_s * np.exp(0.1 * rng.standard_normal(OPS))
                began = np.concatenate([[0], np.cumsum(took * (1 + factor))[:-1]])
                lines += [f"{t:.7f},{s:.4e}" for t, s in zip(began, took, strict=True)]
            write(folder / f"mdw-{factor:.2f}-{repetition}-stat{ending}.csv", lines)
    return [str(path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A store with five repetitions where the server is the limit."""
    folder = tmp_path_factory.mktemp("busy")
    words = ("--target", "/work", "--started", "2026-09-21T14:13:20")
    assert run("import", *files(folder / "f", BUSY, 5), *words, store=folder / "store") == 0
    return folder / "store"


def test_each_repetition_is_a_measurement(busy):
    found = adaptive(runs.read(busy, run_id="mdw"))
    assert found.rates.level.tolist() == list(LEVELS), "0.06 and 0.12 are 1/16 and 1/8"
    assert (found.clients, found.rates.measurements) == (RANKS, 5)
    truth = BUSY.corrected_per_s(np.array(LEVELS))
    assert [per_s for _, per_s, _ in found.levels()] == pytest.approx(truth.tolist(), rel=0.03)
    assert found.verdict.trend is RateTrend.INCREASES
    assert found.capacity.max_per_s.value == pytest.approx(1000, rel=0.05)
    assert found.capacity.saturating_clients.value == pytest.approx(4, rel=0.15)


def test_the_run_is_printed_with_its_verdict(busy, capsys):
    assert run("runs", "mdw", store=busy) == 0
    out = capsys.readouterr().out
    (head,) = [line for line in out.splitlines() if line.startswith("T ")]
    assert head.split() == ["T", "measurements", "corrected/s", "ratio", "90%"]
    table = out.split(head)[1].strip().splitlines()[: len(LEVELS)]
    assert [line.split()[0] for line in table] == ["0", "1/16", "1/8", "1/4", "1/2", "1", "2", "4"]
    assert "/work: servers are the limit" in out
    assert "server capacity: " in out


def test_programs_get_the_verdict(busy, capsys):
    assert run("runs", "mdw", "--format", "json", store=busy) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["verdict"], verdict["measurements"]) == ("increases", 5)


def test_clients_are_the_limit(tmp_path):
    root = tmp_path / "store"
    run("import", *files(tmp_path / "f", IDLE, 5), store=root)
    assert adaptive(runs.read(root)).verdict.trend is RateTrend.SIMILAR


def test_two_repetitions_decide_nothing(tmp_path, capsys):
    root = tmp_path / "store"
    run("import", *files(tmp_path / "f", BUSY, 2), store=root)
    capsys.readouterr()
    assert run("runs", "mdw", store=root) == 0
    out = capsys.readouterr().out
    assert "not decided" in out
    assert "it takes at least 5" in out
    assert "2 measurements cannot identify" in out
    assert "server capacity: 1" not in out


def test_files_of_rank_0_say_nothing_of_the_others(tmp_path, capsys):
    root = tmp_path / "store"
    run("import", *files(tmp_path / "f", BUSY, 5, ending=""), store=root)
    capsys.readouterr()
    assert run("runs", "mdw", "--format", "json", store=root) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["verdict"], verdict["clients"], verdict["max_per_s"]) == (
        "increases",
        None,
        None,
    )
    assert run("runs", "mdw", store=root) == 0
    out = capsys.readouterr().out
    assert "rank 0 alone" in out.splitlines()[1]
    assert "the files hold rank 0 alone" in out


def test_a_text_has_no_corrected_rate_and_says_what_has(tmp_path, capsys):
    root, path = tmp_path / "store", tmp_path / "mdw.txt"
    path.write_text(peers.adaptive())
    run("import", str(path), store=root)
    capsys.readouterr()
    assert run("runs", "mdw", store=root) == 0
    err = capsys.readouterr().err
    assert "there is no verdict on this run" in err
    assert "-L" in err


@pytest.mark.skipif(not MEASURING.is_dir(), reason=f"no files in {MEASURING} (IOSONDE_DATA)")
def test_the_first_operations_of_a_real_run_decide_nothing(tmp_path, capsys):
    root = tmp_path / "store"
    paths = map(str, sorted((MEASURING / "md-workbench").glob("mdwior-ad-*.csv")))
    assert run("import", *paths, store=root) == 0
    capsys.readouterr()
    assert run("runs", "mdwior-ad", store=root) == 0
    assert "not decided" in capsys.readouterr().out
