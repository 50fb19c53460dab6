"""Table and sentence of a kernel benchmark. A sentence has at most 25 words."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.kernel.phases import KernelPhase
from iosonde.bench.kernel.plan import QUIET
from iosonde.model.units import (
    format_duration,
    format_factor,
    format_option,
    format_percent,
    format_size,
    format_slowdown,
)


def head(period_ns: int) -> tuple[str, ...]:
    """Names of the table's columns."""
    longest = f"max of {format_option(period_ns)}"
    return (
        *("phase", "writers", "block", "written", "creates", "lost", "median", "q99", longest),
        *("longest", "slowdown"),
    )


def table_rows(phases: Sequence[KernelPhase]) -> list[tuple[str, ...]]:
    """A line per phase, under ``head``."""
    return [_cells(one) for one in phases]


def _cells(one: KernelPhase) -> tuple[str, ...]:
    quiet = one.block is None
    return (
        QUIET if quiet else "write",
        "" if quiet else str(one.writers),
        "" if one.block is None else format_size(one.block),
        "" if quiet else format_bandwidth(one.bytes_per_s),
        str(len(one.latency_ns)),
        format_percent(one.effect.lost) if one.effect.lost else "0",
        format_duration(one.quantile_ns(0.5)),
        format_duration(one.quantile_ns(0.99)),
        format_duration(one.usual_longest_ns),
        format_duration(one.longest_ns),
        "" if quiet else _slowdown(one),
    )


def _slowdown(one: KernelPhase) -> str:
    effect = one.effect
    mark = {"slow": " *", "host": " h", "lost": " !"}.get(effect.verdict, "")
    return format_slowdown(effect.slowdown, effect.lower, effect.upper) + mark


MARKS = "*: slow; h: slow because the host of the creates was busy; !: creates were lost"


def say(target: str, phases: Sequence[KernelPhase]) -> str:
    """Block size that slowed creates most, with the factor; one sentence."""
    beside = [one for one in phases if one.block is not None]
    lost = [one for one in beside if one.effect.verdict == "lost"]
    slow = [one for one in beside if one.effect.verdict == "slow"]
    if lost:
        worst = max(lost, key=lambda one: one.effect.lost)
        share = format_percent(worst.effect.lost)
        return f"{target}: {share} of the creates were lost beside {_writers(worst)}"
    if slow:
        worst = max(slow, key=lambda one: one.effect.slowdown or 0.0)
        e = worst.effect
        interval = f"{format_factor(e.lower)}-{format_factor(e.upper)}"
        return (
            f"{target}: {_writers(worst)} slowed creates most, {format_factor(e.slowdown)}x "
            f"({interval}); the longest took {format_duration(worst.longest_ns)}"
        )
    if any(one.effect.verdict == "host" for one in beside):
        return f"{target}: creates were slow because this host was busy, not proof of slow storage"
    if not any(one.effect.verdict == "usual" for one in beside):
        return f"{target}: too few creates to say which writes slow them"
    return f"{target}: no block size slowed the median create for certain{_longest(beside)}"


def _longest(beside: Sequence[KernelPhase]) -> str:
    worst = max(beside, key=lambda one: one.longest_ns or 0.0)
    return f"; the longest took {format_duration(worst.longest_ns)} beside {_writers(worst)}"


def _writers(one: KernelPhase) -> str:
    many = "1 writer" if one.writers == 1 else f"{one.writers} writers"
    return f"{many} of {format_size(one.block or 0)} blocks"
