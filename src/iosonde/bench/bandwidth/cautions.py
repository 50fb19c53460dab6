"""Cautions about a run that measures something else than storage: the cache, the start, the client's CPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.spec import BandwidthSpec
from iosonde.bench.runtime.result import PhaseResult
from iosonde.model.units import format_duration, format_percent, format_size

SHORT_NS = 1_000_000_000
"""Least duration of a meaningful phase."""
BUSY = 0.9
"""Share of a rank's time in computing above which its CPU is the limit."""
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")


def plan_cautions(
    plan: BandwidthPlan, spec: BandwidthSpec, hosts: Sequence[str], machine: Mapping[str, Any]
) -> Iterator[str]:
    """Yield cautions before the run. ``hosts``: of each rank."""
    if plan.place is None:
        return
    if machine.get("file_system") in _MEMORY_FILE_SYSTEMS:
        yield f"{plan.name} is {machine['file_system']}: this measures memory"
        return
    if spec.direct:
        return
    memory = machine.get("memory_bytes")
    most = max(Counter(hosts).values()) * spec.rank_bytes()
    if memory and most < memory:
        yield (
            f"{format_size(most)} a host fit into its memory ({format_size(memory)}): the page cache may answer; "
            f"try --direct, or -b {_larger_gib(memory, hosts, spec)}G"
        )
    n, shift = len(hosts), spec.shift
    own = [rank for rank in range(n) if hosts[rank] == hosts[(rank + shift) % n]]
    if set(plan.directions) == {"write", "read"} and own and not (memory and most >= 2 * memory):
        yield (
            f"{len(own)} of {n} ranks read what their own host has just written, possibly from its cache; "
            + ("try --direct" if len(set(hosts)) == 1 else "try a larger --reorder, or --direct")
        )


def _larger_gib(memory: int, hosts: Sequence[str], spec: BandwidthSpec) -> int:
    """Block size, in GiB, at which a host's files are twice its memory."""
    share = 2 * memory / (max(Counter(hosts).values()) * spec.segments)
    return int(share) // (1 << 30) + 1


def phase_cautions(
    result: PhaseResult, spec: BandwidthSpec, machine: Mapping[str, Any]
) -> Iterator[str]:
    """Yield cautions about a finished phase, in the process that has its total."""
    total = result.total
    if total is None or not total.slowest_ns or result.stopped:
        return
    name = f"{result.key.name} {result.key.repetition}"
    if total.slowest_ns < SHORT_NS and not total.failures:
        yield (
            f"{name} took {format_duration(total.slowest_ns)}, less than a second: "
            "start and end weigh too much; try a larger -b, or -w 30s"
        )
    if spec.limit_ns is not None and total.complete and result.at_limit is not None:
        limit = result.at_limit
        if set(limit.ends) == {"done"}:
            yield f"{name} moved all its data before the time limit; try a larger -s"
    busy = total.cpu_ns / (total.slowest_ns * total.ranks)
    processors = int(machine.get("processors", 0)) * int(machine.get("machines", 1))
    if busy > BUSY:
        yield (
            f"{name}: ranks computed {format_percent(busy)} of the time: the client's processor was the limit; "
            "try more ranks, or larger transfers"
        )
    elif processors and total.cpu_ns / (total.slowest_ns * processors) > BUSY:
        yield f"{name}: all processors of the client were busy: they were the limit"
