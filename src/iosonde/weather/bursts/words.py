"""Sentences about bursts. The data are ``weather.bursts.bursts``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import op_word
from iosonde.model.units import format_duration, format_factor, format_time

if TYPE_CHECKING:
    from iosonde.weather.bursts.bursts import RunBurst, RunBursts


def say_burst(burst: RunBurst, now_ns: int, zone: tzinfo | None = None) -> str:
    """One line without a full stop: when, how long, who, how much, and whether the median shows it."""
    since = format_time(burst.start_ns, now_ns, zone, seconds=True)
    found = [op_word(op.op) for op in burst.ops if op.found] or ["operations together"]
    factors = ", ".join(
        f"{name} {format_factor(burst.peak(name))}x" for name in ("mean", "q95", "q99")
    )
    median = "the median shows it too" if burst.median_sees else "the median alone does not show it"
    return (
        f"{', '.join(found)} on {burst.target} waited for {format_duration(burst.end_ns - burst.start_ns)} "
        f"from {since} on: {burst.share:.1%} of {burst.n} operations took long, {factors}; {median}"
    )


def say_runs(
    runs: Sequence[RunBursts], now_ns: int, zone: tzinfo | None = None, most: int = 4
) -> list[str]:
    """What the runs amount to, those with the clearest bursts first, and the clearest burst of all."""
    ranked = sorted(runs, key=lambda run: min((b.chance for b in run.bursts), default=2.0))
    told = [f"{run.run_id}: {say_bursts(run)}" for run in ranked[:most]]
    every = [burst for run in runs for burst in run.bursts]
    if every:
        hidden = [burst for burst in every if not burst.median_sees] or every
        clearest = max(hidden, key=lambda burst: burst.peak("q99"))
        told.append(f"the largest: {say_burst(clearest, now_ns, zone)}")
    return told


def say_bursts(run: RunBursts) -> str:
    """What a run amounts to, in one line without a full stop."""
    if not run.bursts:
        return f"no burst in {run.n} operations on {run.target}"
    hidden = sum(not burst.median_sees for burst in run.bursts)
    whole = sum(burst.end_ns - burst.start_ns for burst in run.bursts)
    return (
        f"{len(run.bursts)} burst{'' if len(run.bursts) == 1 else 's'} on {run.target}, {format_duration(whole)} of "
        f"{format_duration(run.last_ns - run.first_ns)} in all; the median alone shows {len(run.bursts) - hidden}"
    )
