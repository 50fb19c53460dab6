"""Runs a scenario in the core, and returns tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde import _core
from iosonde.model.frames import Frame
from iosonde.queue.scenario import MOST_RECORDS, ArrivalProcess, Process, Scenario

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

_STEPS = 200_000
Report = Callable[[int, int], bool]
"""Callback with ticks done and total; False stops the simulation."""


@dataclass(frozen=True)
class Simulated:
    """Results of ticks 0 to ``ticks - 1``; fewer than the scenario's after Ctrl-C.

    ``clients``: a row a client, with counts, ``blocked_*_ticks``, waits of reads in ticks (NaN = no read) and
    ``share`` of all executed operations. ``traces``: a row a client and bin. ``reads``: client (row), due_tick,
    ended_tick. ``phases``: client, writes, began_tick, ended_tick. ``unrecorded`` reads and phases have no row.
    ``utilisation``: busy share of the servers; ``mean_inside``: operations in the storage, on average over time.
    """

    scenario: Scenario
    ticks: int
    clients: Frame
    traces: Frame
    reads: Frame
    phases: Frame
    unrecorded: int
    utilisation: float
    mean_inside: float

    def trace(self, column: str) -> Ints:
        """A column of the traces, shape (clients, bins)."""
        return np.asarray(self.traces[column], dtype=np.int64).reshape(
            len(self.scenario.clients), -1
        )

    def between(self, column: str, first: int, last: int) -> Ints:
        """Sum of a column over ticks [first, last), which are edges of bins; one per client."""
        width = self.scenario.trace_bin_ticks
        return np.asarray(self.trace(column)[:, first // width : last // width].sum(axis=1))


def simulate(
    scenario: Scenario, report: Report | None = None, *, most_records: int = MOST_RECORDS
) -> Simulated:
    """Simulate a scenario. Raises ValueError for an impossible one."""
    run = {
        "ticks": scenario.ticks,
        "bin_ticks": scenario.trace_bin_ticks,
        "random": scenario.order == "random",
        "seed": scenario.seed,
        "most_records": most_records,
    }
    core = _core.QueueSimulation(run, _storage(scenario), [_client(c) for c in scenario.clients])
    while not core.advance(_STEPS):
        if report is not None and not report(core.now(), scenario.ticks):
            break
    return _tables(scenario, core.now(), core.account())


def _storage(scenario: Scenario) -> dict[str, Any]:
    storage = scenario.storage
    cache = storage.cache
    return {
        "service": storage.service,
        "service_ticks": storage.service_ticks,
        "variation": storage.variation,
        "values": np.array(storage.values, dtype=np.float64),
        "servers": storage.servers,
        "queue": storage.queue,
        "discipline": storage.discipline,
        "cache": None if cache is None else (cache.writes, cache.high, cache.low),
    }


def _client(client: Process | ArrivalProcess) -> dict[str, Any]:
    if isinstance(client, Process):
        return {"weight": client.weight, "pattern": client.pattern}
    fields = ("op", "times", "every_ticks", "at", "batch", "lose", "weight")
    return {"pattern": None, **{name: getattr(client, name) for name in fields}}


def _tables(scenario: Scenario, ticks: int, found: dict[str, Any]) -> Simulated:
    def ints(name: str) -> Ints:
        return np.frombuffer(found[name], dtype=np.int64)

    names = np.array([client.name for client in scenario.clients], dtype=object)
    counts = (
        *("reads", "writes_stored", "writes_executed", "blocked_read_ticks"),
        *("blocked_write_ticks", "cycles", "lost"),
    )
    columns: dict[str, Any] = {"client": names} | {name: ints(name) for name in counts}
    reads = columns["reads"].astype(np.float64)
    reads[reads == 0] = np.nan
    columns["mean_read_ticks"] = ints("read_ticks") / reads
    for name in ("median_read_ticks", "q99_read_ticks", "longest_read_ticks"):
        columns[name] = np.where(np.isnan(reads), np.nan, ints(name))
    executed = columns["reads"] + columns["writes_executed"]
    columns["share"] = executed / max(1, int(executed.sum()))
    width = scenario.trace_bin_ticks
    bins = -(-ticks // width)
    traces = _traces(names, found, bins, width)
    phases = {
        "client": ints("phase_client"),
        "writes": np.frombuffer(found["phase_writes"], dtype=np.uint8) > 0,
        "began_tick": ints("phase_began"),
        "ended_tick": ints("phase_ended"),
    }
    single = ("client", "due", "ended")
    servers = scenario.storage.servers
    return Simulated(
        scenario,
        ticks,
        Frame(columns),
        traces,
        Frame(
            {name if name == "client" else f"{name}_tick": ints(f"read_{name}") for name in single}
        ),
        Frame(phases),
        int(found["unrecorded"]),
        _share(found["busy_ticks"], ticks * servers),
        _share(found["inside_ticks"], ticks),
    )


def _share(part: float, whole: int) -> float:
    return float(part) / whole if whole else 0.0


def _traces(names: Any, found: dict[str, Any], bins: int, width: int) -> Frame:
    """A row per client and started bin."""
    every = int(found["bins"])

    def cut(name: str) -> Ints:
        rows = np.frombuffer(found[name], dtype=np.int64).reshape(-1, every)
        return np.ascontiguousarray(rows[:, :bins]).reshape(-1)

    length = np.frombuffer(found["trace_length"], dtype=np.int64)[:bins]
    longest: Floats = cut("trace_longest").astype(np.float64)
    reads = cut("trace_reads")
    longest[reads == 0] = np.nan
    return Frame(
        {
            "client": np.repeat(names, bins),
            "first_tick": np.tile(np.arange(bins, dtype=np.int64) * width, len(names)),
            "reads": reads,
            "writes_executed": cut("trace_writes"),
            "writes_stored": cut("trace_stored"),
            "longest_read_ticks": longest,
            "most_waiting": np.tile(length, len(names)),
        }
    )
