"""A storage queue with few parameters for interactive use: equal processes, and endless writers.

Symbols are those of docs/methods/queue.md: N ticks an operation, a queue of M.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.queue.scenario import Process, Scenario, Storage
from iosonde.queue.sheet import executed_shares
from iosonde.queue.words import HEAD, client_rows, say_queue, say_simulated

if TYPE_CHECKING:
    from iosonde.queue.simulate import Simulated

CYCLE_OPERATIONS = 300
"""Reads and writes of a process in one cycle."""
PAUSE_TICKS = 1000
"""D0 and D1: a process waits before its reads and computes before its writes."""
WRITERS_BEGIN = 0.3
"""Share of the time after which writers start."""
TRACE_BINS = 200
"""Bins of a trace: a screen shows no more."""


@dataclass(frozen=True)
class Knobs:
    """``service_ticks``: N; ``queue``: M; ``writes``: share of a cycle's operations, 0 to 1.

    ``writers``: processes that write without end from ``WRITERS_BEGIN`` on. ``ticks``: length of the simulation.
    """

    service_ticks: int
    queue: int
    processes: int
    writers: int
    writes: float
    discipline: str
    ticks: int
    seed: int


def scenario_of_knobs(knobs: Knobs) -> Scenario:
    """The scenario: the pattern of a process is [D0, R, D1, W] with R + W = ``CYCLE_OPERATIONS``."""
    writes = round(knobs.writes * CYCLE_OPERATIONS)
    pattern = (PAUSE_TICKS, CYCLE_OPERATIONS - writes, PAUSE_TICKS, writes)
    idle = round(WRITERS_BEGIN * knobs.ticks)
    # More than a storage of N = 1 executes in the whole time.
    endless = knobs.ticks + knobs.queue
    return Scenario(
        ticks=knobs.ticks,
        storage=Storage(knobs.service_ticks, knobs.queue, discipline=knobs.discipline),
        clients=(
            *(Process(f"process {n}", pattern) for n in range(1, knobs.processes + 1)),
            *(Process(f"writer {n}", (0, 0, idle, endless)) for n in range(1, knobs.writers + 1)),
        ),
        seed=knobs.seed,
        bin_ticks=-(-knobs.ticks // TRACE_BINS),
    )


def explored_data(found: Simulated) -> dict[str, Any]:
    """Sentences, a table and traces. A trace has a number a bin; missing is null.

    ``reads`` and ``writes``: executed operations as a share of what the storage can execute in the bin.
    ``longest_read_ticks``: of the reads that ended in the bin. ``most_waiting``: operations in the storage.
    """
    scenario = found.scenario
    shares = executed_shares(found)
    longest = np.asarray(found.traces["longest_read_ticks"]).reshape(len(scenario.clients), -1)
    waiting = found.trace("most_waiting")[0]
    return {
        "sentence": say_queue(found),
        "say": say_simulated(found),
        "table": {"head": list(HEAD), "rows": [list(row) for row in client_rows(found)]},
        "ticks": found.ticks,
        "bin_ticks": scenario.trace_bin_ticks,
        "queue": None if scenario.storage.discipline == "fair" else scenario.storage.queue,
        "most_waiting": waiting.tolist(),
        "clients": [
            {
                "name": client.name,
                "reads": _rounded(shares["reads"][place]),
                "writes": _rounded(shares["writes_executed"][place]),
                "longest_read_ticks": _rounded(longest[place]),
            }
            for place, client in enumerate(scenario.clients)
        ],
    }


def _rounded(values: Any) -> list[float | None]:
    """Round to four significant digits; more would only be noise on the wire."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values.tolist()]
