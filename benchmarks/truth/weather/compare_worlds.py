"""Worlds that no formula of ``compare`` knows, for ``benchmarks.truth.weather.compare``: latencies of one period in s.

The loads of a world end within its period: what no period holds, none can tell (docs/methods/compare.md, "The limit").
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int, float], Floats]
BLOCK = 50


def path_of_load(rng: np.random.Generator, n: int, step_s: float, tau_s: float) -> Floats:
    """An Ornstein-Uhlenbeck path of variance 1."""
    kept = np.exp(-step_s / tau_s)
    steps = rng.normal(size=n) * np.sqrt(1 - kept**2)
    path = np.empty(n)
    value = rng.normal()
    for i in range(n):
        path[i] = value
        value = kept * value + steps[i]
    return path


def floor_and_tail(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
    """A floor of 1 ms; a tenth waits a Pareto time (index 1.2) on top."""
    late = np.where(rng.random(n) < 0.1, 1e-3 * rng.pareto(1.2, size=n), 0.0)
    return 1e-3 * (1 + 0.05 * np.abs(rng.normal(size=n))) + late


def stragglers(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
    """2% are more than ten times as long, without a mean (Pareto index 1)."""
    late = np.where(rng.random(n) < 0.02, 1 + 10 * (1 + rng.pareto(1.0, size=n)), 1.0)
    return 1.5e-3 * np.exp(0.2 * rng.normal(size=n)) * late


def drifting_hits(rng: np.random.Generator, n: int, step_s: float) -> Floats:
    """Two modes a hundred times apart; the logit of the hit share swings by 1 within a minute."""
    logit = np.log(0.45 / 0.55) + path_of_load(rng, n, step_s, 60.0)
    hit = rng.random(n) < 1 / (1 + np.exp(-logit))
    fast, slow = 1e-4 * np.exp(0.25 * rng.normal(size=n)), 1e-2 * np.exp(0.5 * rng.normal(size=n))
    return np.where(hit, fast, slow)


def bursts(rng: np.random.Generator, n: int, step_s: float) -> Floats:
    """Four times as long for 15 s, every 2 min, both exponential."""
    on = rng.random() < 15 / 135
    state = np.zeros(n, dtype=bool)
    for i, turns in enumerate(rng.random(n)):
        state[i] = on
        if turns < 1 - np.exp(-step_s / (15.0 if on else 120.0)):
            on = not on
    return 1.5e-3 * np.exp(0.4 * rng.normal(size=n)) * np.where(state, 4.0, 1.0)


def resampled(series: list[Floats]) -> Maker:
    """Blocks of ``BLOCK`` neighbours of real series, drawn anew for every period."""

    def make(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
        blocks = []
        for _ in range(-(-n // BLOCK)):
            one = series[rng.integers(len(series))]
            start = rng.integers(len(one) - BLOCK)
            blocks.append(one[start : start + BLOCK])
        return np.concatenate(blocks)[:n]

    return make


def worlds(folder: Path | None) -> dict[str, Maker]:
    """All worlds by name; with real ones for every gathered latency file (op,iter,rank,time_s,runtime_s) below."""
    found: dict[str, Maker] = {
        "floor + Pareto tail": floor_and_tail,
        "Pareto stragglers": stragglers,
        "two modes, hit share drifts": drifting_hits,
        "bursts of 15 s": bursts,
    }
    for path in sorted(folder.glob("**/mdreal-*.csv.gz")) if folder else []:
        for op, series in _gathered(path).items():
            found[f"{path.name.split('-')[1]} {op}, blocks"] = resampled(series)
    return found


def _gathered(path: Path) -> dict[str, list[Floats]]:
    rows: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            rows[row["op"]][row["iter"], row["rank"]].append(float(row["runtime_s"]))
    return {
        op: [np.array(v) for v in of_rank.values() if len(v) > BLOCK]
        for op, of_rank in sorted(rows.items())
    }
