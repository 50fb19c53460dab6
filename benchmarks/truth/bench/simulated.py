"""Runs of ``benchmarks/closed_network``: adaptive mode against a store whose limit is known."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

from iosonde.bench.adaptive.rates import Rates, rates

ROOT = Path(__file__).resolve().parents[3]


@cache
def simulator() -> str:
    """The program, built if it must be."""
    command = ("cargo", "build", "--release", "--quiet", "-p", "iosonde-closed-network")
    built = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(str(m["executable"]) for m in messages if m.get("executable"))


def runs(seed: int, n: int = 1, **options: float) -> list[Rates]:
    """``n`` runs with seeds from ``seed`` on; ``options`` are the program's: ``clients=20``."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    told = subprocess.run(
        [simulator(), f"--seed={seed}", f"--runs={n}", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    lines = told.stdout.splitlines()[1:]
    rows = np.array([line.split(",") for line in lines], dtype=np.float64)
    return [rates(*rows[rows[:, 0] == one, 1:].T) for one in np.unique(rows[:, 0])]


def first(run: Rates, measurements: int) -> Rates:
    """The first measurements of a run."""
    return Rates(run.level, run.measured, run.corrected_per_s[:measurements])
