"""Sentences about simulations, fits and what-if answers. A sentence has at most 25 words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_duration

if TYPE_CHECKING:
    from iosonde.queue.scenario import Scenario
    from iosonde.queue.simulate import Simulated

SAID = 6
"""Most clients that get a sentence."""


def say_ticks(ticks: float, tick_s: float | None) -> str:
    """``2,008 ticks``, or their duration."""
    if tick_s is not None:
        return format_duration(ticks * tick_s * 1e9)
    digits = 0 if ticks >= 100 or ticks == int(ticks) else 1
    return f"{format_count(ticks, digits)} ticks"


def say_simulated(found: Simulated) -> list[str]:
    """A summary of the storage, then a sentence per client."""
    tick_s = found.scenario.tick_s
    clients = found.clients
    executed = int((clients["reads"] + clients["writes_executed"]).sum())
    lines = []
    if found.ticks < found.scenario.ticks:
        lines.append(
            f"Stopped after {say_ticks(found.ticks, tick_s)} of {say_ticks(found.scenario.ticks, tick_s)}: "
            "the numbers are those until then."
        )
    done = format_count(executed)
    span = say_ticks(found.ticks, tick_s)
    busy = f"busy for {found.utilisation:.1%} of the time"
    lines.append(f"The storage executed {done} operations in {span} and was {busy}.")
    for row in range(min(len(clients), SAID)):
        lines.append(_client(found, row))
    if found.unrecorded:
        lines.append(f"{found.unrecorded} reads and phases have no row of their own.")
    return [clean_text(line) for line in lines]


def say_queue(found: Simulated) -> str:
    """Number of operations held in the storage, and its cost for a read."""
    clients, tick_s = found.clients, found.scenario.tick_s
    inside = format_count(found.mean_inside, 0 if found.mean_inside >= 10 else 1)
    line = f"On average {inside} operations were in the storage"
    reads = clients["reads"].astype(float)
    if not reads.any():
        return f"{line}; no read ended."
    mean = say_ticks(np.nansum(clients["mean_read_ticks"] * reads) / reads.sum(), tick_s)
    most = say_ticks(np.nanmax(clients["longest_read_ticks"]), tick_s)
    alone = say_ticks(found.scenario.storage.service_ticks, tick_s)
    return f"{line}; a read took {mean}, {most} at most, where an empty storage takes {alone}."


def _client(found: Simulated, row: int) -> str:
    clients, tick_s = found.clients, found.scenario.tick_s
    name, share = clients["client"][row], clients["share"][row]
    if not (clients["reads"][row] or clients["writes_stored"][row] or clients["lost"][row]):
        return f"{name} was idle."
    line = f"{name} had {share:.1%} of the operations"
    if np.isfinite(clients["mean_read_ticks"][row]):
        mean = say_ticks(clients["mean_read_ticks"][row], tick_s)
        longest = say_ticks(clients["longest_read_ticks"][row], tick_s)
        line += f"; its reads took {mean} on average, {longest} at most"
    if clients["lost"][row]:
        line += f"; {clients['lost'][row]} found no room"
    return line + "."


HEAD = (
    *("client", "reads", "writes", "share", "mean read", "q99 read", "longest read"),
    *("reads blocked", "writes blocked", "cycles", "lost"),
)


def client_rows(found: Simulated) -> list[tuple[str, ...]]:
    """A row per client, of ``HEAD``."""
    clients, tick_s = found.clients, found.scenario.tick_s

    def ticks(name: str, row: int) -> str:
        value = clients[name][row]
        return say_ticks(value, tick_s) if np.isfinite(value) else "-"

    return [
        (
            clean_text(str(clients["client"][row])),
            str(clients["reads"][row]),
            str(clients["writes_executed"][row]),
            f"{clients['share'][row]:.1%}",
            *(ticks(f"{name}_read_ticks", row) for name in ("mean", "q99", "longest")),
            *(ticks(f"blocked_{kind}_ticks", row) for kind in ("read", "write")),
            str(clients["cycles"][row]),
            str(clients["lost"][row]),
        )
        for row in range(len(clients))
    ]


SWEEP_HEAD = ("value", "client", "seeds", "share", "mean read", "least", "largest")


def sweep_rows(scenario: Scenario, rows: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    """A row per value and client, over seeds, of ``SWEEP_HEAD``."""
    if not rows:
        return []
    table = []
    for value in dict.fromkeys(rows["value"].tolist()):
        for client in scenario.clients:
            mine = (rows["value"] == value) & (rows["client"] == client.name)
            reads = rows["mean_read_ticks"][mine]
            reads = reads[np.isfinite(reads)]
            spread = [reads.mean(), reads.min(), reads.max()] if len(reads) else []
            cells = [say_ticks(one, scenario.tick_s) for one in spread] or ["-"] * 3
            share = f"{rows['share'][mine].mean():.1%}"
            table.append((value, clean_text(client.name), str(int(mine.sum())), share, *cells))
    return table
