"""Words about storage while a job ran: how slow for how long, and what nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.ops import op_word
from iosonde.model.units import about_length, format_factor, format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.scheduled.event_time import Untold
    from iosonde.jobs.scheduled.storage_time import StorageTime

_MOST_TARGETS = 5
_MOST_OPS = 3
TOLD_UNKNOWN = 0.01
"""Least share of unknown time in a run that is mentioned."""
_MINUTE_NS = 60_000_000_000


def say_storage(storage: Sequence[StorageTime]) -> tuple[str, ...]:
    """A line per target, the slowest first, and reasons for unknown time."""
    lines: list[str] = []
    for one in storage[:_MOST_TARGETS]:
        lines.append(say_target(one))
        if one.slow_ns and one.untold:
            lines.append(say_untold(one.untold[0], one.target))
        lines += _why_unknown(one)
    if more := len(storage) - _MOST_TARGETS:
        lines += [f"{more} more targets were not slower"] if more > 0 else []
    return tuple(lines)


def say_target(one: StorageTime) -> str:
    """``/work was at least 3x slow for 41 min (39 min to 42 min), 45 min slow in all; reads 4.1x``."""
    if not one.slow_ns:
        if one.untold:
            return f"{say_untold(one.untold[0], one.target)}; the rest was not slow"
        if not one.clear_ns:
            return f"{one.target}: unknown"
        return f"{one.target}: no slow stretch in {about_length(one.clear_ns)} that probes judged"
    told = one.told
    bounds = f"{about_length(told.least_ns)} to {about_length(told.most_ns)}"
    ops = ", ".join(_op(op.op, op.typ) for op in one.ops[:_MOST_OPS])
    text = f"{say_slow(one)} ({bounds}), {about_length(one.slow_ns)} slow in all"
    return f"{text}; {ops}"


def _op(op: str, typ: float) -> str:
    how = "mostly hung or failed" if np.isinf(typ) else f"{format_factor(typ)}x"
    return f"{op_word(op)} {how}"


def _why_unknown(one: StorageTime) -> list[str]:
    if not say_unknown(one):
        return []
    rest = one.unknown_ns - one.unprobed_ns - one.busy_ns
    parts = [
        (one.unprobed_ns, "no probe ran"),
        (one.busy_ns, "the probing host was busy"),
        (rest, "too few operations or no baseline yet"),
    ]
    told = [f"{about_length(ns)} {why}" for ns, why in parts if ns >= _MINUTE_NS]
    return [f"{one.target} is unknown for {about_length(one.unknown_ns)}: {', '.join(told)}"]


def say_slow(one: StorageTime) -> str:
    """``/work was at least 3x slow for 41 min``; of lost ops ``most creates on /work hung or failed for 5 min``."""
    told = one.told
    if one.silent:
        what = f"most {op_word(one.worst_op.op)} on {one.target}"
        return f"{what} hung or failed for {about_length(told.slow_ns)}"
    return f"{one.target} was at least {told.level:.0f}x slow for {about_length(told.slow_ns)}"


def say_untold(event: Untold, target: str) -> str:
    """``39% of creates on /work were late or missing for 20 min``."""
    what = f"{op_word(event.op)} on {target}"
    match event.kind:
        case "hang":
            text = f"{what} hung"
        case "lost":
            text = f"{format_percent(event.lost or 0.0)} of {what} were late or missing"
        case "slow":
            text = f"{what} were {format_factor(event.factor)}x slower"
        case _:
            text = f"some {what} were slow"
    seen = f", seen from {event.host}," if event.host else ""
    return f"{text}{seen} for {about_length(event.length_ns)}"


def say_unknown(one: StorageTime) -> str:
    """``; not known for 60 min of it``; "" where that is little."""
    whole = one.slow_ns + one.clear_ns + one.unknown_ns
    if one.unknown_ns < TOLD_UNKNOWN * whole or one.unknown_ns < _MINUTE_NS:
        return ""
    return f"; not known for {about_length(one.unknown_ns)} of it"
