"""Sheets of a simulation: executed operations of each client over time, and effects of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.marks import LevelLine, Mark, NumberLine, Ruler
from iosonde.drawing.sheet import SECONDS, SHARE, TICKS, Pane, Sheet
from iosonde.model.units import format_count

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats
    from iosonde.model.frames import Frame
    from iosonde.queue.scenario import Scenario
    from iosonde.queue.simulate import Simulated

MOST_PANES = 12
"""Most clients drawn; the caption gives the number of others."""
READS, WRITES = "reads executed", "writes executed"
_LINES = 20
_AXIS = "share of what the storage can execute"


def queue_sheet(found: Simulated, say: Sequence[str] = ()) -> Sheet:
    """A pane per client: operations executed in each bin, as a share of the storage's capacity.

    ``say``: sentences for the caption, which ``queue.words`` writes.
    """
    scenario = found.scenario
    shares = executed_shares(found)
    reads, writes = found.trace("reads"), found.trace("writes_executed")
    width, scale = scenario.trace_bin_ticks, scenario.tick_s or 1.0
    first = np.arange(reads.shape[1]) * width
    edges = np.append(first, min(first[-1] + width, found.ticks) if len(first) else 0) * scale
    every = _round(found.ticks * scale / _LINES)
    across = "seconds" if scenario.tick_s else "ticks"
    panes = []
    for place, client in enumerate(scenario.clients[:MOST_PANES]):
        parts = [
            (READS, "read", shares["reads"][place]),
            (WRITES, "write", shares["writes_executed"][place]),
        ]
        n = int(reads[place].sum() + writes[place].sum())
        marks: list[Mark] = [Ruler(every, 1.0)]
        marks += [
            NumberLine(name, role, *_steps(edges, values))
            for name, role, values in parts
            if values.any()
        ]
        share = float(found.clients["share"][place])
        note = f"{format_count(n)} executed, {share:.1%} of all"
        row = f"{client.name}: {_AXIS}"
        panes.append(
            Pane(row, "", SHARE, tuple(marks), n, note, empty="nothing executed", across=across)
        )
    left_out = len(scenario.clients) - len(panes)
    step = f"{width} ticks" if scenario.tick_s is None else f"{width * scale:g} s"
    how = f"bins of {step}; a dotted line every {every:g} {across}"
    how += f"; {left_out} more clients are not drawn" if left_out else ""
    title = scenario.title or "Operations that the storage executed"
    stack = len(panes)
    return Sheet("queue", title, ("",), tuple(panes), None, None, (*say, how), stack=stack)


def executed_shares(found: Simulated) -> dict[str, Floats]:
    """``reads`` and ``writes_executed`` as a share of the storage's capacity; shape (clients, bins)."""
    width = found.scenario.trace_bin_ticks
    counts = {name: found.trace(name) for name in ("reads", "writes_executed")}
    first = np.arange(counts["reads"].shape[1]) * width
    ticks = np.minimum(first + width, max(found.ticks, 1)) - first
    can = np.maximum(ticks * found.scenario.capacity_per_tick, 1e-9)
    return {name: count / can for name, count in counts.items()}


def _steps(edges: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Coordinates of a step function."""
    return np.repeat(edges, 2)[1:-1], np.repeat(values, 2)


def _round(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-12)))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.999))


def sweep_sheet(scenario: Scenario, rows: Frame, say: Sequence[str] = ()) -> Sheet:
    """Reads and shares of each client at each value of a sweep: the mean over seeds, and the range.

    ``rows``: those of ``queue.sweep``.
    """
    values = list(dict.fromkeys(rows["value"].tolist()))
    place = np.array([values.index(value) for value in rows["value"].tolist()])
    unit = SECONDS if scenario.tick_s else TICKS
    panes = []
    for client in scenario.clients[: MOST_PANES // 2]:
        mine = rows["client"] == client.name
        reads = rows["mean_read_ticks"] * (scenario.tick_s or 1.0)
        mean = "mean read" + (", ticks" if scenario.tick_s is None else "")
        for name, of, column in (
            (mean, unit, reads),
            ("share of all operations", SHARE, rows["share"]),
        ):
            line = _over_seeds(place[mine], column[mine], len(values))
            if n := int(np.isfinite(line.value).sum()):
                panes.append(Pane(f"{client.name}: {name}", "", of, (line,), n))
    left_out = len(scenario.clients) - MOST_PANES // 2
    how = "mean over seeds; bars reach from the least to the largest"
    how += f"; {left_out} more clients are not drawn" if left_out > 0 else ""
    title = (scenario.title + ": " if scenario.title else "") + "sweep"
    parameter = scenario.sweep.parameter if scenario.sweep else ""
    return Sheet(
        *("queue-sweep", title, ("",), tuple(panes), None, None, (*say, how)),
        levels=tuple(str(value) for value in values),
        levels_of=parameter,
    )


def _over_seeds(place: Floats, column: Floats, count: int) -> LevelLine:
    mean, low, high = np.full((3, count), np.nan)
    for level in range(count):
        some = column[place == level]
        some = some[np.isfinite(some)]
        if len(some):
            mean[level], low[level], high[level] = some.mean(), some.min(), some.max()
    places = np.arange(count, dtype=np.float64)
    return LevelLine("mean over seeds, least to largest", "median", places, mean, low, high)
