"""docs/scaling.md: its arithmetic, and the moments at which agents strike."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.soak import scaling
from iosonde.weather.store import Store
from tests.kit import harness

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
SECOND = 1_000_000_000


def test_moments_are_those_of_the_agent(tmp_path):
    """A real probe: clocks drift by less than a millisecond while it runs."""
    watched, period = tmp_path / "work", SECOND // 2
    watched.mkdir()
    command = [
        harness.IOSONDE,
        "probe",
        watched,
        "--store",
        tmp_path / "store",
        "--host",
        "nid001234",
    ]
    options = ["--duration", "3s", "--period", "500ms", "--file-size", "4MiB", "--pool", "16"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    due = Store(tmp_path / "store").samples(("due_ns",))["due_ns"]
    expected = scaling.moments(["nid001234"], [str(watched)], period)
    apart = np.abs(due[:, None] % period - expected)
    nearest = np.minimum(apart, period - apart).argmin(axis=1)
    assert set(nearest.tolist()) == set(range(scaling.OPS))
    assert np.minimum(apart, period - apart).min(axis=1).max() < 10**6


def test_the_load_of_a_centre_is_no_higher_than_chance_would_make_it():
    period = 60 * SECOND
    targets = [f"/fs{number}" for number in range(4)]
    chance = scaling.by_chance(2000 * 4, period)
    for name in scaling.NAMES.values():
        moments = scaling.moments([name(i) for i in range(2000)], targets, period)
        assert scaling.highest(moments, period) <= chance


def numbers(row: str) -> list[float]:
    cells = [re.sub(r" \(.*", "", cell).strip() for cell in row.strip("|").split("|")]
    scale = {"M": 1e6, "s": 1}
    return [float(re.sub(r"[ ,Ms]", "", cell)) * scale.get(cell[-1], 1) for cell in cells if cell]


def test_the_table_follows_from_its_rules():
    rows = re.findall(r"^\| ([\d,]+) \u00d7 (\d+)[^|]*(\|.*)$", PAGE, re.MULTILINE)
    assert len(rows) == 4
    for nodes, targets, rest in rows:
        period, operations, rate, samples, sealed, rolled = numbers(rest)
        pairs = int(nodes.replace(",", "")) * int(targets)
        expected = (6 / period, 2 / period, 518_400 / period, 6.0e-3 / period, 0.17e-3)
        found = (operations, rate, samples, sealed, rolled)
        for value, each in zip(found, expected, strict=True):
            assert value == pytest.approx(pairs * each, rel=0.03, abs=0.005)
