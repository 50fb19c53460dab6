"""A scenario with several values of one parameter, each with several seeds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import UsageError
from iosonde.model.frames import Frame
from iosonde.queue.scenario import ParameterSweep, Scenario
from iosonde.queue.scenario_file import Setting, read_scenario
from iosonde.queue.simulate import Simulated, simulate

if TYPE_CHECKING:
    from pathlib import Path

Progress = Callable[[int, int], bool]
"""Callback with runs done and total; False stops the sweep."""


def sweep_scenarios(
    path: Path, settings: Sequence[Setting], sweep: ParameterSweep
) -> list[tuple[str, Scenario]]:
    """Every value (as text) and seed as a scenario; all are checked before the first run. Raises UsageError."""
    found = []
    for value in sweep.values:
        made = read_scenario(path, [*settings, (sweep.parameter, value)])
        seeds = range(made.seed, made.seed + sweep.seeds)
        found += [(str(value), replace(made, seed=seed, sweep=sweep)) for seed in seeds]
    if not found:
        raise UsageError("a sweep without values", expected="storage.queue=5,50,500")
    return found


def run_sweep(points: Sequence[tuple[str, Scenario]], progress: Progress) -> Frame:
    """A row per value, seed and client, in the order of ``points``; only the finished ones after Ctrl-C.

    Columns: value (text), seed, those of ``Simulated.clients``, utilisation.
    """
    ended: dict[int, Simulated] = {}
    stopped = False
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        going: dict[Future[Simulated], int] = {}
        todo: Iterator[int] = iter(range(len(points)))

        def feed() -> None:
            while len(going) < 2 * (os.cpu_count() or 1) and (at := next(todo, None)) is not None:
                scenario = points[at][1]
                going[pool.submit(simulate, scenario, lambda *_: not stopped, most_records=0)] = at

        feed()
        while going:
            done, _ = wait(going, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                at, found = going.pop(future), future.result()
                if found.ticks >= points[at][1].ticks:
                    ended[at] = found
            stopped = stopped or not progress(len(ended), len(points))
            if not stopped:
                feed()
    return _rows(points, ended)


def _rows(points: Sequence[tuple[str, Scenario]], ended: dict[int, Simulated]) -> Frame:
    parts: dict[str, list[Any]] = {"value": [], "seed": []}
    for at in sorted(ended):
        value, scenario = points[at]
        found = ended[at]
        count = len(found.clients)
        parts["value"].append(np.full(count, value, dtype=object))
        parts["seed"].append(np.full(count, scenario.seed, dtype=np.int64))
        for name, column in found.clients.columns.items():
            parts.setdefault(name, []).append(column)
        parts.setdefault("utilisation", []).append(np.full(count, found.utilisation))
    return Frame({name: np.concatenate(part) for name, part in parts.items() if part})
