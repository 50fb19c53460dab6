"""Whether the host of a benchmark was too busy to say what the storage does: one rule for all benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from iosonde.model.runs import RunRow
from iosonde.model.units import format_percent, format_size

QUEUED = 0.10
"""Share of their time that ranks waited for a CPU above which the client is the limit."""
PRESSED = 0.50
"""Share of the time that any task of the host waited for a CPU, as a substitute if the ranks' waits are unknown."""
_MOST_TOLD = 4


class HostWait(NamedTuple):
    """A phase whose ranks waited for a CPU: ``share`` of their time, 0 to 1.

    ``most_bytes_per_s``: the bandwidth at most without the wait; None where that is not known.
    """

    phase: str
    share: float
    most_bytes_per_s: float | None


def waited(machine: Mapping[str, Any]) -> float | None:
    """Share of the time that ranks, or else tasks of the host, waited for a CPU; None: little, or unknown."""
    for name, least in (("cpu_queue_share", QUEUED), ("cpu_pressure", PRESSED)):
        share = machine.get(name)
        if isinstance(share, int | float):
            return float(share) if share >= least else None
    return None


def host_waits(rows: Sequence[RunRow]) -> list[HostWait]:
    """Phases of a run in which its ranks waited for a CPU, of rows of all ranks together."""
    found = []
    for row in rows:
        if row.rank is not None or row.op is not None:
            continue
        share = waited(row.machine or {})
        if share is None:
            continue
        rate = row.last_bytes_per_s
        most = rate / (1 - share) if rate is not None and share < 1 else None
        found.append(HostWait(f"{row.phase} {row.repetition}", share, most))
    return found


def say_host_waits(rows: Sequence[RunRow]) -> list[str]:
    """Cautions about a busy host, at most 25 words each; none where it was not."""
    waits = host_waits(rows)
    if not waits:
        return []
    phases = sum(row.rank is None and row.op is None for row in rows)
    shares = sorted(one.share for one in waits)
    span = format_percent(shares[-1])
    if format_percent(shares[0]) != span:
        span = f"{format_percent(shares[0])} to {span}"
    where = waits[0].phase if len(waits) == phases == 1 else f"{len(waits)} of {phases} phases"
    text = f"This host was busy: ranks waited for a CPU {span} of the time in {where}; rates are not the storage's."
    known = [(one.phase, one.most_bytes_per_s) for one in waits if one.most_bytes_per_s is not None]
    most = ", ".join(f"{phase} {format_size(rate)}/s" for phase, rate in known[:_MOST_TOLD])
    return [text, *([f"Without that wait at most: {most}."] if most else [])]
