"""``iosonde bench kernel``: creates beside writers, from samples that are made and from real runs; nothing left."""

import contextlib
import json
import os
import signal

import numpy as np
import pytest

from iosonde.bench.kernel.caches import CacheDropper, say_dropped
from iosonde.bench.kernel.phases import kernel_phases, period_maxima
from iosonde.bench.kernel.plan import KernelPlan, phase_name
from iosonde.bench.kernel.run import KernelOutcome
from iosonde.bench.kernel.words import say, table_rows
from iosonde.bench.runs import store as runs
from iosonde.bench.selftest.effects import ProbeSamples
from iosonde.host.processes import Alone
from iosonde.model.phases import Phase
from iosonde.weather.store import Store
from tests.bench.test_ranks import MPIRUN
from tests.kit.commands import run
from tests.kit.runs.driven import command, ended, started, until, wait_for

SECOND = 1_000_000_000
SMALL = ("--duration", "400ms", "--quiet", "1s", "--pause", "50ms", "--every", "20ms")
SMALL += ("--file-size", "4M", "--period", "200ms", "--keep-caches")
BLOCKS = (1 << 10, 64 << 10, 1 << 20)


def made(factor, block=64 << 10, lost=0.0):
    """20 s of creates of 1 ms alone, then 10 s beside each block size; ``factor`` times as long beside ``block``."""
    random = np.random.default_rng(1)
    due = np.arange(0, 50 * SECOND, SECOND // 20)
    latency = 1e6 * np.exp(random.normal(0, 0.2, len(due)))
    outcome = KernelOutcome("kernel-1", "/work (kernel)", (0, 20 * SECOND))
    for number, each in enumerate(BLOCKS):
        begin = (20 + 10 * number) * SECOND
        outcome.phases.append(Phase(phase_name(each), begin, begin + 10 * SECOND))
        outcome.blocks[phase_name(each)] = each
        if each == block:
            inside = (due >= begin) & (due < begin + 10 * SECOND)
            latency[inside] *= factor
            latency[inside & (random.random(len(due)) < lost)] = np.nan
    late = np.full(len(due), 20_000.0)
    return kernel_phases(ProbeSamples(due, latency, latency, late), outcome, SECOND)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_size_that_slows_creates_is_the_one_named(block):
    phases = made(4.0, block)
    slow = {one.block: one.effect.verdict for one in phases[1:]}
    assert slow == {each: "slow" if each == block else "usual" for each in BLOCKS}
    (worst,) = (one for one in phases if one.block == block)
    assert worst.effect.lower < 4.0 < worst.effect.upper
    sentence = say("/work", phases)
    assert f"{phase_name(block).removeprefix('write ')} blocks slowed creates most, " in sentence
    assert len(sentence.split()) <= 25


def test_writers_that_do_nothing_to_creates_are_said_to_do_nothing():
    sentence = say("/work", made(1.0))
    assert "no block size slowed the median create for certain; the longest took" in sentence
    assert len(sentence.split()) <= 25


def test_lost_creates_come_before_slow_ones():
    assert "% of the creates were lost beside" in say("/work", made(4.0, lost=0.3))


def test_the_longest_create_of_each_period_is_kept():
    due = np.array([0.0, 0.9, 1.0, 3.2, 3.9]) * SECOND
    longest = period_maxima(due, np.array([5.0, 7.0, 2.0, 9.0, 1.0]), 4 * SECOND, SECOND)
    np.testing.assert_array_equal(longest, [7.0, 2.0, np.nan, 9.0])
    phases = made(4.0)
    assert [len(one.max_ns) for one in phases] == [20, 10, 10, 10]
    assert all(one.longest_ns == np.nanmax(one.max_ns) for one in phases)
    assert [len(line) for line in table_rows(phases)] == [11] * 4


def test_caches_are_dropped_over_and_over_where_that_is_allowed(tmp_path):
    pipe = tmp_path / "drop_caches"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    got = bytearray()

    def thrice():
        with contextlib.suppress(BlockingIOError):
            got.extend(os.read(reader, 100))
        return got.count(b"3\n") >= 3

    with CacheDropper(pipe) as caches:
        assert caches.allowed
        wait_for(thrice)
    os.close(reader)
    with CacheDropper(tmp_path / "none" / "drop_caches") as refused:
        assert not refused.allowed
    assert say_dropped(Alone(), "n1", False, True).endswith("are not dropped on n1: only root may")
    assert say_dropped(Alone(), "n1", True, True).endswith("dropped every 0.1 s on 1 node")


def test_a_real_run_measures_every_block_size_and_leaves_nothing(tmp_path, capsys):
    place, store, picture = tmp_path / "work", tmp_path / "store", tmp_path / "k.svg"
    place.mkdir()
    words = ("-n", "2", "--plot", str(picture), "--format", "json")
    assert run("bench", "kernel", str(place), *SMALL, *words, store=store) == 0
    out, err = capsys.readouterr()
    assert list(place.iterdir()) == []
    assert "caches of the kernel are kept" in err
    assert picture.read_text().startswith("<?xml")
    assert out.strip()
    stored = {one.run_id: one.rows for one in runs.read_runs(store)}
    (own,) = (name for name in stored if name.count("-") == 2)
    assert set(stored) == {own, *(f"{own}-{block}" for block in BLOCKS)}
    creates = {row.phase: row for row in stored[own] if row.op == "md_create"}
    assert set(creates) == {"quiet", *map(phase_name, BLOCKS)}
    for row in creates.values():
        assert max(v for v in row.parameters["period_max_ns"] if v is not None) == row.max_ns
        assert row.ops >= 10
    for block in BLOCKS:
        whole = [r for r in stored[f"{own}-{block}"] if r.rank is None and r.op == "data_write"]
        assert whole
        assert all(row.bytes == row.ops * block and row.ranks == 2 for row in whole)
        # Writers go on for the whole duration, in as many files as that takes.
        assert creates[phase_name(block)].duration_ns >= 0.4 * SECOND
    samples = Store(store).samples(("op",), target=KernelPlan(place).target)
    assert "md_create" in samples["op"].tolist()
    assert not list(store.glob("state/*/*.json"))


def test_ctrl_c_keeps_what_was_measured_and_removes_the_files(tmp_path):
    place, store = tmp_path / "work", tmp_path / "store"
    place.mkdir()
    words = (str(place), *SMALL, "--duration", "60s", "--file-size", "4G", "--store", str(store))
    with started(arguments=command(*words, benchmark="kernel")) as job:
        until(job, '"write"')
        job.send_signal(signal.SIGINT)
        code, out, err = ended(job)
    assert code == 130, err
    assert "1.00 KiB" in out
    assert "64.0 KiB" not in out
    assert list(place.iterdir()) == []
    found = {one.run_id.count("-"): one.rows for one in runs.read_runs(store)}
    assert {row.phase: row.complete for row in found[2]} == {"quiet": True, "write 1.00 KiB": False}
    assert found[3]


def test_what_measures_nothing_is_refused(tmp_path, capsys):
    for words in (("--quiet", "0s"), ("-b", "1K", "-b", "1024"), ("-b", "2G")):
        assert run("bench", "kernel", str(tmp_path), *words, "--no-store") == 2
    assert run("bench", "kernel", str(tmp_path / "none"), *SMALL, "--no-store") == 2
    assert "no directory" in capsys.readouterr().err


@pytest.mark.service
def test_processes_write_together_and_the_first_one_creates(tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    words = (str(place), *SMALL, "--store", str(tmp_path / "store"), "--format", "json")
    arguments = [str(MPIRUN), "-n", "2", *command(*words, benchmark="kernel")]
    with started(arguments=arguments) as job:
        code, out, err = ended(job)
    assert code == 0, err
    assert list(place.iterdir()) == []
    assert json.loads(out)
    rows = runs.read(tmp_path / "store")
    writers = {row.rank for row in rows if row.op == "data_write" and row.rank is not None}
    assert writers == {0, 1}
    assert {row.ranks for row in rows if row.op == "data_write"} == {2}
    assert {row.ranks for row in rows if row.op == "md_create"} == {1}
