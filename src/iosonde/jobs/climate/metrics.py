"""Simultaneous changes: daily medians of metrics that the jobs themselves do not move, per file system.

A metric that follows the run time or the speed of the job whose window it is recorded in (leakage) would change
with every change of performance, as its effect; in more than half of the series it must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.series import Q
from iosonde.jobs.table.derived import FRACTION, performances
from iosonde.jobs.table.leakage import FEWEST_FOR_LEAK, judged, leaks, seconds_of, speed_of
from iosonde.model.job_metrics import About
from iosonde.model.units import DAY_NS
from iosonde.stats.change_points import ChangePoint, shifts
from iosonde.stats.multiple import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iosonde.model.arrays import Flags, Floats, Instants
    from iosonde.model.jobs import JobTable


_LEFT = ("quality", "traffic")
"""Groups left out: the servers' total traffic is mostly the job's own (that of others is used)."""


@dataclass(frozen=True)
class Safe:
    """A metric of all rows (n,) that the jobs themselves do not move."""

    name: str
    about: About
    values: Floats


@dataclass(frozen=True)
class MetricChange:
    """A lasting change of the daily median of a metric on a file system; as ``Change``, in the metric's unit."""

    file_system: str
    metric: str
    about: About
    at_ns: int
    earliest_ns: int
    latest_ns: int
    before: float
    after: float
    n_before: int
    n_after: int
    p: float
    q: float


def safe_metrics(table: JobTable) -> tuple[Safe, ...]:
    """Described metrics (or all, if none is described), without those that leak.

    What adds up while a job runs counts as a rate.
    """
    table = judged(table)
    rates = {name.removesuffix("_per_s") for name in table.metrics if name.endswith("_per_s")}
    found = []
    for name, column in table.metrics.items():
        about = table.about(name)
        if (
            about.role in ("cause", "climate", "")
            and name not in rates
            and about.group not in _LEFT
        ):
            found.append(Safe(name, about, column))
    described = [one for one in found if one.about.unit or one.name in table.abouts]
    could = [
        one
        for one in described or found
        if not one.name.startswith("contention_") and np.isfinite(one.values).any()
    ]
    leaking = _leaking(table, could)
    return tuple(one for one, leaks_too in zip(could, leaking, strict=True) if not leaks_too)


def _leaking(table: JobTable, some: list[Safe]) -> Flags:
    """(k,) True for metrics that follow the job's run time or speed in more than half of the testable series."""
    leaking, asked = np.zeros(len(some)), np.zeros(len(some))
    performance = FRACTION if FRACTION in table.metrics else next(iter(performances(table)), "")
    seconds, speed = seconds_of(table), speed_of(table, performance)
    abouts, names = [one.about for one in some], [one.name for one in some]
    for rows in table.strata().values() if some else ():
        x = np.column_stack([one.values[rows] for one in some])
        told = leaks(names, abouts, x, seconds[rows], speed[rows])
        asked += np.isfinite(x).sum(axis=0) >= FEWEST_FOR_LEAK
        leaking += np.array([bool(leak) for leak in told])
    return leaking * 2 > asked


def metric_changes(table: JobTable, safe: tuple[Safe, ...]) -> tuple[MetricChange, ...]:
    """Lasting changes of every safe metric on every file system, with ``q`` over all of them, by date."""
    found: list[tuple[str, Safe, int, ChangePoint]] = []
    asked = 0
    for place in sorted(set(table.file_system.tolist())):
        rows = np.flatnonzero(table.file_system == place)
        for one in safe:
            first, days = by_day(table.start_ns[rows], {one.name: one.values[rows]})
            asked += 1
            moved = shifts(np.arange(len(days), dtype=np.float64), days[:, 0])
            found += [(place, one, first, shift) for shift in moved.found]
    p = np.array([shift.p for *_, shift in found] + [1.0] * asked)
    q = benjamini_hochberg(p)[: len(found)] if asked else p
    made = [
        MetricChange(
            file_system=place,
            metric=one.name,
            about=one.about,
            at_ns=(first + int(shift.at)) * DAY_NS,
            earliest_ns=(first + int(shift.earliest)) * DAY_NS,
            latest_ns=(first + int(shift.latest)) * DAY_NS,
            before=shift.before,
            after=shift.after,
            n_before=shift.n_before,
            n_after=shift.n_after,
            p=shift.p,
            q=float(at),
        )
        for (place, one, first, shift), at in zip(found, q, strict=True)
        if at <= Q
    ]
    return tuple(sorted(made, key=lambda c: (c.at_ns, c.file_system, c.metric)))


def by_day(start_ns: Instants, columns: Mapping[str, Floats]) -> tuple[int, Floats]:
    """First day (since the epoch, UTC), and daily medians of each column: (days, columns), NaN without any."""
    day = start_ns // DAY_NS
    first = int(day[0])
    medians = np.full((int(day[-1]) - first + 1, len(columns)), np.nan)
    for place, column in enumerate(columns.values()):
        known = np.isfinite(column)
        values, of = column[known], day[known] - first
        order = np.lexsort((values, of))
        values, of = values[order], of[order]
        days, begin, count = np.unique(of, return_index=True, return_counts=True)
        low, high = values[begin + (count - 1) // 2], values[begin + count // 2]
        medians[days, place] = low + (high - low) / 2
    return first, medians
