"""Sentences about bursts. The data are ``weather.bursts.bursts``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import op_word
from iosonde.model.units import format_duration, format_factor, format_time
from iosonde.weather.bursts.ranks import FEWEST_RANKS, STALL_NS

if TYPE_CHECKING:
    from iosonde.weather.bursts.bursts import RunBurst, RunBursts


_NAMED = 3
"""Most operations that a sentence names."""


def say_burst(burst: RunBurst, now_ns: int, zone: tzinfo | None = None) -> str:
    """Sentence about a burst without a full stop: ranks or ops, duration, start, factors, and visibility in the
    median.
    """
    since = format_time(burst.start_ns, now_ns, zone, seconds=True)
    factors = ", ".join(f"{name} {format_factor(burst.peak(name))}x" for name in ("mean", "q99"))
    median = "the median shows it too" if burst.median_sees else "the median does not show it"
    length = format_duration(burst.end_ns - burst.start_ns)
    return (
        f"{say_who(burst)} on {burst.target} waited for {length} from {since}: {factors}; {median}"
    )


def say_who(burst: RunBurst) -> str:
    """``3 of 10 ranks``, ``creates, stats``: ranks or ops that waited. Ranks if a part of them shows the burst best."""
    words = [op_word(op.op) for op in burst.ops if op.found]
    if not words and burst.of_ranks > 1:
        return f"{burst.ranks} of {burst.of_ranks} ranks"
    return ", ".join(words) if 0 < len(words) <= _NAMED else "all operations"


def say_runs(
    runs: Sequence[RunBursts], now_ns: int, zone: tzinfo | None = None, most: int = 4
) -> list[str]:
    """Summary of runs, those with the clearest bursts first, and the largest burst of all."""
    ranked = sorted(runs, key=lambda run: min((b.chance for b in run.bursts), default=2.0))
    lines = [f"{run.run_id}: {say_bursts(run)}" for run in ranked[:most]]
    every = [burst for run in runs for burst in run.bursts]
    if every:
        largest = largest_burst(every)
        lost = format_duration(round(largest.lost_ns))
        lines.append(f"the largest: {say_burst(largest, now_ns, zone)}")
        lines.append(
            f"largest by time lost: its long operations took {lost} more than usual, summed over all ranks"
        )
    return lines


def largest_burst(bursts: Sequence[RunBurst]) -> RunBurst:
    """Burst with the largest lost time, over all ranks; of equal ones the longest, then the first."""
    return max(bursts, key=lambda b: (b.lost_ns, b.end_ns - b.start_ns, -b.start_ns))


def say_limit(run: RunBursts) -> str:
    """Bursts that the search may miss in this run, in one line without a full stop."""
    length = format_duration(STALL_NS)
    if run.ranks < FEWEST_RANKS:
        return f"stalls of single ranks are not looked for: the run has {run.ranks}, a search needs {FEWEST_RANKS}"
    if run.fewest_ranks is None:
        return f"stalls of {length} in a part of the {run.ranks} ranks may go unseen"
    return f"stalls of {length} in fewer than {run.fewest_ranks} of {run.ranks} ranks may go unseen"


def say_bursts(run: RunBursts) -> str:
    """Summary of a run's bursts, in one line without a full stop."""
    if not run.bursts:
        if len(run.too_few) == len(run.ops):
            return f"not searched for bursts: too few operations a second on {run.target}"
        part = " of the others" if run.too_few else ""
        return f"no burst in the operations{part} on {run.target}, {run.n} in all"
    hidden = sum(not burst.median_sees for burst in run.bursts)
    whole = sum(burst.end_ns - burst.start_ns for burst in run.bursts)
    return (
        f"{len(run.bursts)} burst{'' if len(run.bursts) == 1 else 's'} on {run.target}, {format_duration(whole)} of "
        f"{format_duration(run.last_ns - run.first_ns)} in all; the median alone shows {len(run.bursts) - hidden}"
    )
