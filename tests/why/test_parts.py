"""Parts that runs and servers' records name: in the stretch and of its target, and none elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import system
from iosonde.bench.locate.stored import stored_transfers
from iosonde.jobs.store.series import write_block
from iosonde.model.metrics import MetricBlock
from iosonde.weather.events.told import Happened
from iosonde.weather.store import Store
from iosonde.why.links import PartSource
from iosonde.why.located import located_parts
from iosonde.why.question import Weather
from iosonde.why.servers import server_parts
from tests.kit.runs.stored_run import put_run
from tests.why.made_links import BEGIN, S, stretch

HOUR = 3600 * S


def weather(root: Path) -> Weather:
    return Weather(Store(root), [], [], Happened([], [], [], []), [], 0, 0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A store with a run on /work in which OST0017 is slow; when its transfers began and ended."""
    root = tmp_path_factory.mktemp("run")
    machine = system(112)
    put_run(root, machine, with_ost(healthy(machine), np.array([17]), 0.6))
    moved = stored_transfers(root, "made-run")
    return root, int(moved.transfer_begin_ns.min()), int(moved.transfer_end_ns.max())


def test_a_run_in_the_stretch_names_the_ost(run):
    root, begin, end = run
    slow = stretch(begin_ns=begin - S, end_ns=end + S, seen_until_ns=end + S)
    (part,), looked = located_parts(weather(root), slow)
    assert (part.source, part.name, part.run) == (PartSource.LOCATED, "OST0017", "made-run")
    assert part.against_peers.lower > 1.2
    assert looked == 112


@pytest.mark.parametrize("change", ["before", "after", "elsewhere"])
def test_a_run_of_another_time_or_target_says_nothing(run, change):
    root, begin, end = run
    span = {"before": (begin - HOUR, begin - S), "after": (end + S, end + HOUR)}
    first, last = span.get(change, (begin - S, end + S))
    whole = "/home" if change == "elsewhere" else "/work"
    slow = stretch(begin_ns=first, end_ns=last, seen_until_ns=last, whole=whole)
    assert located_parts(weather(root), slow) == ([], 0)


def _cpu(root: Path, value, system_name: str = "work") -> None:
    n = len(value)
    time_ns = BEGIN - 6 * HOUR + 60 * S * np.arange(n, dtype=np.int64)
    names = tuple(f"oss{number}" for number in range(value.shape[1]))
    step = np.full(n, 60 * S, dtype=np.int64)
    write_block(
        root,
        MetricBlock(
            *("lmt", system_name, "oss", "cpu_percent", "percent", "gauge", names),
            time_ns,
            step,
            value,
        ),
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_busy_server_stands_out_and_healthy_ones_do_not(tmp_path, seed):
    rng = np.random.default_rng(seed)
    value = 20 * np.exp(0.3 * rng.standard_normal((420, 4)) + 0.2 * rng.standard_normal(4))
    _cpu(tmp_path, value, "home")
    busy = value.copy()
    busy[360:, 2] = rng.uniform(85, 100, 60)
    _cpu(tmp_path, busy)
    (part,), looked = server_parts(weather(tmp_path), stretch())
    assert (part.source, part.name, part.metric) == (PartSource.SERVERS, "oss2", "cpu_percent")
    assert part.value is not None
    assert part.value > 85
    assert looked == 4
    home = stretch(whole="/home", target="/home", component=None)
    assert server_parts(weather(tmp_path), home) == ([], 4)
    assert server_parts(weather(tmp_path), stretch(whole="/scratch")) == ([], 0)


def test_a_server_that_is_always_busy_does_not_explain_the_stretch(tmp_path):
    value = np.full((420, 4), 20.0)
    value[:, 1] = 95.0
    _cpu(tmp_path, value)
    assert server_parts(weather(tmp_path), stretch()) == ([], 4)


def test_missing_samples_are_not_zero(tmp_path):
    value = np.full((420, 4), 20.0)
    value[360:, 1:] = np.nan
    _cpu(tmp_path, value)
    assert server_parts(weather(tmp_path), stretch()) == ([], 1)
