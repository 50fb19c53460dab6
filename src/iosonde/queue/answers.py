"""Entry points for doors: simulations, sweeps, fits and what-if."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.model.answer import Block, TableBlock
from iosonde.model.errors import UsageError
from iosonde.queue import fit_words, words
from iosonde.queue.explore import Knobs, explored_data, scenario_of_knobs
from iosonde.queue.fit import QueueFit, fit
from iosonde.queue.read_samples import read_samples
from iosonde.queue.scenario import DISCIPLINES, ParameterSweep, Scenario
from iosonde.queue.scenario_file import Setting, read_scenario
from iosonde.queue.simulate import Simulated, simulate
from iosonde.queue.sweep import run_sweep, sweep_scenarios
from iosonde.queue.what_if import WhatIf, what_if

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.arrays import Floats
    from iosonde.model.frames import Frame

__all__ = ["DISCIPLINES", "FitAnswer", "Knobs", "SimulatedAnswer", "SweepAnswer", "explored"]
__all__ += ["fitted", "read_samples", "simulated", "swept"]
SCHEMA_VERSION = 1
Going = Callable[[int, int], bool]
"""Callback with progress and total; False stops the work with the results so far."""


class SimulatedAnswer(NamedTuple):
    """One simulation. ``rows``: those of its table: clients, traces, reads or phases."""

    found: Simulated
    rows: str = "traces"

    def sentences(self) -> list[str]:
        """The queue, then a line a client."""
        return words.say_simulated(self.found)

    def shown(self) -> list[Block]:
        """Sentences, a row a client."""
        rows = words.client_rows(self.found)
        return [*self.sentences(), "", TableBlock(words.HEAD, rows)]

    def data(self) -> dict[str, Any]:
        """Totals; a missing number is null."""
        return {
            "schema_version": SCHEMA_VERSION,
            "title": self.found.scenario.title,
            "ticks": self.found.ticks,
            "of_ticks": self.found.scenario.ticks,
            "tick_s": self.found.scenario.tick_s,
            "seed": self.found.scenario.seed,
            "utilisation": self.found.utilisation,
            "mean_inside": self.found.mean_inside,
            "sentences": self.sentences(),
            "clients": _records(self.found.clients),
        }

    def table(self) -> Frame:
        """``rows``; ticks, not seconds."""
        frame: Frame = getattr(self.found, self.rows)
        return frame

    def page(self) -> dict[str, Any]:
        """Sentences, a table and traces for a page."""
        return explored_data(self.found)

    @property
    def sentence(self) -> str:
        """The queue in one line."""
        return words.say_queue(self.found)

    def picture(self, said: Sequence[str] | None = None) -> Sheet:
        """Loads and waits over time; ``said``: sentences below (None: the first two)."""
        from iosonde.queue.sheet import queue_sheet

        return queue_sheet(self.found, self.sentences()[:2] if said is None else said)


class SweepAnswer(NamedTuple):
    """Simulations of several values of a field."""

    scenario: Scenario
    rows: Frame

    def shown(self) -> list[Block]:
        """A row a value and client."""
        parameter = self.scenario.sweep.parameter if self.scenario.sweep else ""
        rows = words.sweep_rows(self.scenario, self.rows.columns)
        return [f"sweep of {parameter}", "", TableBlock(words.SWEEP_HEAD, rows, left=2)]

    def data(self) -> dict[str, Any]:
        """Rows; a missing number is null."""
        parameter = self.scenario.sweep.parameter if self.scenario.sweep else ""
        rows = _records(self.rows)
        return {"schema_version": SCHEMA_VERSION, "parameter": parameter, "rows": rows}

    def table(self) -> Frame:
        """A row a value, seed and client."""
        return self.rows

    def picture(self) -> Sheet | None:
        """Reads over the field; None: nothing was simulated."""
        from iosonde.queue.sheet import sweep_sheet

        return sweep_sheet(self.scenario, self.rows) if len(self.rows) else None


class FitAnswer(NamedTuple):
    """A fit to reads, and what another queue would change."""

    found: QueueFit
    what_if: WhatIf | None

    def shown(self) -> list[Block]:
        """Sentences, the table of quantiles."""
        said = [] if self.what_if is None else [fit_words.say_what_if(self.what_if, self.found)]
        table = TableBlock(fit_words.HEAD, fit_words.fit_rows(self.found))
        return [*fit_words.say_fit(self.found), *said, "", table]

    def data(self) -> dict[str, Any]:
        """The fit and what follows from it."""
        return {"schema_version": SCHEMA_VERSION, **fit_words.fit_json(self.found, self.what_if)}


def simulated(path: Path, settings: Sequence[Setting], going: Going) -> SimulatedAnswer:
    """One simulation. Raises UsageError, OSError."""
    return SimulatedAnswer(simulate(read_scenario(path, settings), going))


def swept(
    path: Path,
    settings: Sequence[Setting],
    chosen: tuple[str, tuple[Any, ...]] | None,
    seeds: int | None,
    going: Going,
) -> SweepAnswer:
    """The sweep of the file, or ``chosen`` (field, values): rows of ``run_sweep``. Raises UsageError, OSError."""
    scenario = read_scenario(path, settings)
    sweep = scenario.sweep if chosen is None else ParameterSweep(*chosen)
    if sweep is None:
        raise UsageError(f"{path} has no [sweep]", hint="--sweep storage.queue=5,50,500")
    sweep = replace(sweep, seeds=sweep.seeds if seeds is None else seeds)
    points = sweep_scenarios(path, settings, sweep)
    return SweepAnswer(replace(scenario, sweep=sweep), run_sweep(points, going))


def explored(knobs: Knobs) -> SimulatedAnswer:
    """A queue of few parameters, simulated; single reads and phases have no rows."""
    return SimulatedAnswer(simulate(scenario_of_knobs(knobs), most_records=0))


def fitted(
    reads: tuple[Floats, Floats], queue: int | None, load_per_s: float | None, seed: int
) -> FitAnswer:
    """A fit to reads, and what another queue would change. ``reads``: latencies (s), loads (operations/s).

    ``what_if`` is None without ``queue``, or where the model does not explain the reads. Raises UsageError.
    """
    found = fit(*reads, seed=seed)
    if queue is None or not found.explained:
        return FitAnswer(found, None)
    return FitAnswer(found, what_if(found, queue, load_per_s))


def _records(frame: Frame) -> list[dict[str, Any]]:
    columns = {
        name: [None if isinstance(v, float) and not np.isfinite(v) else v for v in col.tolist()]
        for name, col in frame.columns.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
