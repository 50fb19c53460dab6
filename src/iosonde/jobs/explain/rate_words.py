"""Phrases on a run's rate, relative to other runs of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.amounts import amount, scale_of

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Explanation

_FEW = 0.01
"""Share below which, or above 1 minus it, runs are counted instead: 0% of 312 runs is misleading."""


def say_rate(value: float, measure: str) -> str:
    """``4.34 GiB/s``."""
    if measure == "fraction_of_peak_ratio":
        return f"{value:.0%} of its peak"
    unit = "bytes/s" if measure.endswith("bytes_per_s") else "operations/s"
    return amount(value, scale_of(unit, [value])).replace(" /s", "/s")


def say_rank(found: Explanation) -> str:
    """``the slowest of 34 runs``; runs with equal rates are neither slower nor faster."""
    n, alike = found.performance.n, found.performance.alike
    below = round(found.performance.share * n - alike / 2)
    if alike == n:
        return f"the same as all {n} runs of its kind"
    for none, end in ((below, "slowest"), (n - below - alike, "fastest")):
        if none == 0:
            which = f"one of the {alike + 1} {end}" if alike else f"the {end}"
            return f"{which} of {n + 1} runs"
    share = below / n
    if share < _FEW:
        return f"faster than {below} of {n} runs"
    if share > 1 - _FEW:
        return f"faster than all but {n - below} of {n} runs"
    return f"faster than {share:.0%} of {n} runs"


def say_levels(value: float, usual: float, measure: str) -> str:
    """``4.34 instead of 7.14 GiB/s``: the unit once, if it is the same."""
    low, high = say_rate(value, measure), say_rate(usual, measure)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} instead of {high}"
