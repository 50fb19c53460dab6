"""Cost of probing a target for its storage, from the agent's settings in its live state.

It is what the agent asks for: a probe that hangs or lowers its rate moves less. What it did move stands in
``iosonde report``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iosonde.engine.states import read_states
from iosonde.model.json_types import JsonObject, Ns
from iosonde.model.ops import SECOND_NS
from iosonde.model.units import format_count, format_option, format_percent, format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_BLOCKS, _OBJECTS = ("data_read", "data_write"), ("md_create", "md_read")
"""Operations on a block of the big file, and those on a small file."""


@dataclass(frozen=True)
class ProbeCost(JsonObject):
    """What a probe asks of its storage; None: its state does not say."""

    host: str
    target: str
    period_ns: Ns | None
    ops_per_s: float | None
    bytes_per_s: float | None
    stored_bytes: int | None
    """Bytes of its files."""
    budget: dict[str, float]
    """Limits that are set: bytes_per_s, ops_per_s, cpu_ns_per_s."""


@dataclass(frozen=True)
class SaidCost(ProbeCost):
    """What a probe asks of its storage, with its sentence; null: its state does not say."""

    sentence: str


@dataclass(frozen=True)
class Costs(JsonObject):
    """What all running probes ask for."""

    sentence: str
    """Of all together; empty: none runs."""
    total: int
    """Probes that run."""
    probes: tuple[SaidCost, ...]


def costs(root: Path, part: Callable[[list[ProbeCost]], Sequence[ProbeCost]]) -> Costs:
    """Costs of all running probes of a store; ``part``: those to list."""
    found = [probe_cost(state) for state in read_states(root) if state.get("running")]
    probes = tuple(SaidCost(**vars(one), sentence=say_cost(one)) for one in part(found))
    return Costs(say_costs(found), len(found), probes)


def probe_cost(state: Mapping[str, Any]) -> ProbeCost:
    """Cost of one live state, as ``engine.states`` reads it."""
    ops = [str(one["op"]) for one in state.get("ops") or ()]
    period = state.get("period_ns") or None
    known = period if ops else None
    block, small, pool = (state.get(name) for name in ("block_bytes", "object_bytes", "pool"))
    moved = None
    if block is not None and small is not None:
        moved = sum(block for op in ops if op in _BLOCKS) + sum(
            small for op in ops if op in _OBJECTS
        )
    stored = (
        None if pool is None or small is None else pool * small + (state.get("file_bytes") or 0)
    )
    budget = {name: value for name, value in (state.get("budget") or {}).items() if value}
    return ProbeCost(
        host=str(state["host"]),
        target=str(state["target"]),
        period_ns=period,
        ops_per_s=None if known is None else len(ops) * SECOND_NS / known,
        bytes_per_s=None if known is None or moved is None else moved * SECOND_NS / known,
        stored_bytes=stored,
        budget=budget,
    )


def say_cost(cost: ProbeCost) -> str:
    """``6 operations/s, 2.01 MiB/s, 1.00 GiB of files; each operation every 1s; no budget``."""
    if cost.ops_per_s is None or cost.period_ns is None:
        return "its state does not say what it costs"
    parts = [f"{_few(cost.ops_per_s)} operations/s"]
    if cost.bytes_per_s is not None:
        parts.append(f"{format_size(cost.bytes_per_s)}/s")
    if cost.stored_bytes is not None:
        parts.append(f"{format_size(cost.stored_bytes)} of files")
    return (
        f"{', '.join(parts)}; each operation every {format_option(cost.period_ns)}; {_limits(cost)}"
    )


def say_costs(costs: list[ProbeCost]) -> str:
    """Sum of all costs; empty for none."""
    known = [one for one in costs if one.ops_per_s is not None]
    if not known:
        return ""
    ops = sum(one.ops_per_s or 0.0 for one in known)
    moved = sum(one.bytes_per_s or 0.0 for one in known)
    stored = sum(one.stored_bytes or 0 for one in known)
    places = f"{format_count(len(known))} probed target{'' if len(known) == 1 else 's'}"
    return (
        f"{places}: {_few(ops)} operations/s and {format_size(moved)}/s in all; "
        f"{format_size(stored)} of files"
    )


def _few(rate: float) -> str:
    return format_count(rate) if rate >= 100 else f"{rate:.3g}"


def _limits(cost: ProbeCost) -> str:
    budget, parts = cost.budget, []
    if "bytes_per_s" in budget:
        parts.append(f"{format_size(budget['bytes_per_s'])}/s")
    if "ops_per_s" in budget:
        parts.append(f"{_few(budget['ops_per_s'])} operations/s")
    if "cpu_ns_per_s" in budget:
        parts.append(f"{format_percent(budget['cpu_ns_per_s'] / SECOND_NS)} of a processor")
    return f"at most {', '.join(parts)}" if parts else "no budget"
