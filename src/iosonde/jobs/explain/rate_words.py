"""Phrases on a run's rate, relative to all of its kind and to those since the last lasting change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.amounts import amount, scale_of
from iosonde.model.units import day

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.since import Since

SLOW_FROM = 0.1
"""Least loss of a slow run; below, it is as usual in any quartile."""


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


def of_its_time(found: Explanation) -> bool:
    """True if it is as fast as runs since a lasting change: no effect of its day."""
    return found.since is not None and found.since.loss < SLOW_FROM


def say_since(one: Since, measure: str) -> str:
    """``as fast as the 57 other runs since 2017-08-04, when its kind fell from 18.2 GiB/s to 2.43 GiB/s``."""
    verb = "fell" if one.median < one.before else "rose"
    verb = f"gradually {verb}" if one.gradual else verb
    levels = f"from {say_rate(one.before, measure)} to {say_rate(one.median, measure)}"
    return f"{_beside(one)} the {one.n} other runs since {day(one.at_ns)}, when its kind {verb} {levels}"


def say_since_shortly(one: Since) -> str:
    """``as fast as its kind since 2017-08-04``."""
    return f"{_beside(one)} its kind since {day(one.at_ns)}"


def _beside(one: Since) -> str:
    if abs(one.loss) < SLOW_FROM:
        return "as fast as"
    return f"{abs(one.loss):.0%} {'slower' if one.loss > 0 else 'faster'} than"
