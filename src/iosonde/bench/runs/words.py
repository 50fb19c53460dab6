"""Sentences below tables of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from iosonde.bench.runs.compare import RunSummary, SlowRanks
from iosonde.model.units import format_duration

_MOST_NAMED = 6
_HOW = {
    "histogram": "the operation number ceil(q n) in order, from a histogram with 3 significant digits",
    "exact": "the operation number ceil(q n) in order, exact, of the operations that were imported",
    "tool": "as the tool printed them (md-workbench: number round(q n + 0.49); median of two: their mean)",
    "none": "not measured",
}


def say_quantiles(counted: Iterable[str]) -> list[str]:
    """Methods behind the quantiles of a table, a line each."""
    there = set(counted) - {"none"}
    ways = [way for way in _HOW if way in there]
    if not ways:
        return ["quantiles: not measured"]
    return [f"quantiles of all ranks together: {_HOW[way]}" for way in ways]


def say_comparison(rows: Sequence[RunSummary]) -> list[str]:
    """Meaning of a comparison's columns, and methods behind its numbers."""
    lines = [
        "balance: time of the fastest rank / the slowest; q75: 75% of operations took no longer"
    ]
    if any(one.repetitions > 1 for one in rows):
        lines.append("of several repetitions: medians over them, and the largest max")
    shown = Counter(one.run_id for one in rows)
    if any(shown[one.run_id] < one.waiting_factors for one in rows):
        lines.append("of several waiting factors: the smallest")
    lines += say_quantiles(one.counted for one in rows)
    busy = [one.run_id for one in rows if one.waited is not None]
    if busy:
        named = ", ".join(busy[:_MOST_NAMED])
        more = f" and {len(busy) - _MOST_NAMED} more" if len(busy) > _MOST_NAMED else ""
        lines.append(f"host busy, rates are not the storage's: {named}{more}")
    if any(not one.complete for one in rows):
        lines.append("cut: ended before all of its operations were done")
    return lines


def say_ranks(slow: SlowRanks) -> str:
    """``benchmark 0: 2 ranks, the middle one 220 ms; slowest: rank 1 281 ms (1.28x)``."""
    turn = f"{slow.phase} {slow.repetition}"
    if slow.waiting_factor:
        turn += f", T = {slow.waiting_factor:g}"
    named = ", ".join(
        f"rank {rank} {format_duration(ns)} ({factor:.2f}x)" for rank, _, ns, factor in slow.slowest
    )
    ranks = "1 rank" if slow.ranks == 1 else f"{slow.ranks} ranks"
    text = f"{turn}: {ranks}, the middle one {format_duration(slow.median_ns)}"
    return f"{text}; slowest: {named}" if named else f"{text}, none slower"
