"""Entry points for doors: simulations, sweeps, fits and what-if."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import UsageError
from iosonde.queue.explore import Knobs, scenario_of_knobs
from iosonde.queue.fit import QueueFit, fit
from iosonde.queue.scenario import ParameterSweep, Scenario
from iosonde.queue.scenario_file import Setting, read_scenario
from iosonde.queue.simulate import Simulated, simulate
from iosonde.queue.sweep import run_sweep, sweep_scenarios
from iosonde.queue.what_if import WhatIf, what_if
from iosonde.queue.words import say_simulated

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.model.arrays import Floats
    from iosonde.model.frames import Frame

SCHEMA_VERSION = 1
Going = Callable[[int, int], bool]
"""Callback with progress and total; False stops the work with the results so far."""


def simulated(path: Path, settings: Sequence[Setting], going: Going) -> Simulated:
    """Run one simulation. Raises UsageError, OSError."""
    return simulate(read_scenario(path, settings), going)


def swept(
    path: Path,
    settings: Sequence[Setting],
    chosen: tuple[str, tuple[Any, ...]] | None,
    seeds: int | None,
    going: Going,
) -> tuple[Scenario, Frame]:
    """Run the sweep of the file, or ``chosen`` (field, values): rows of ``run_sweep``. Raises UsageError, OSError."""
    scenario = read_scenario(path, settings)
    sweep = scenario.sweep if chosen is None else ParameterSweep(*chosen)
    if sweep is None:
        raise UsageError(f"{path} has no [sweep]", hint="--sweep storage.queue=5,50,500")
    sweep = replace(sweep, seeds=sweep.seeds if seeds is None else seeds)
    points = sweep_scenarios(path, settings, sweep)
    return replace(scenario, sweep=sweep), run_sweep(points, going)


def explored(knobs: Knobs) -> Simulated:
    """Simulate a queue of few parameters, without rows of single reads and phases."""
    return simulate(scenario_of_knobs(knobs), most_records=0)


def fitted(
    reads: tuple[Floats, Floats], queue: int | None, load_per_s: float | None, seed: int
) -> tuple[QueueFit, WhatIf | None]:
    """Fit a queue to reads, and predict another queue. ``reads``: latencies (s), loads (operations/s).

    The second is None without ``queue``, or where the model does not explain the reads. Raises UsageError.
    """
    found = fit(*reads, seed=seed)
    if queue is None or not found.explained:
        return found, None
    return found, what_if(found, queue, load_per_s)


def as_json(found: Simulated) -> dict[str, Any]:
    """Totals of a simulation; a missing number is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "title": found.scenario.title,
        "ticks": found.ticks,
        "of_ticks": found.scenario.ticks,
        "tick_s": found.scenario.tick_s,
        "seed": found.scenario.seed,
        "utilisation": found.utilisation,
        "mean_inside": found.mean_inside,
        "sentences": say_simulated(found),
        "clients": _records(found.clients),
    }


def sweep_json(scenario: Scenario, rows: Frame) -> dict[str, Any]:
    """Rows of a sweep; a missing number is null."""
    parameter = scenario.sweep.parameter if scenario.sweep else ""
    return {"schema_version": SCHEMA_VERSION, "parameter": parameter, "rows": _records(rows)}


def _records(frame: Frame) -> list[dict[str, Any]]:
    columns = {
        name: [None if isinstance(v, float) and not np.isfinite(v) else v for v in col.tolist()]
        for name, col in frame.columns.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
