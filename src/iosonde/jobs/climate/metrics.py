"""Simultaneous changes: daily medians of metrics that the jobs themselves do not move, per file system.

A metric that follows the run time or the speed of the job whose window it is recorded in (leakage) would change
with every change of performance, as its effect; in more than half of the series it must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.series import Q
from iosonde.jobs.table.leakage import LEAKS, judged
from iosonde.model.job_metrics import About
from iosonde.model.units import DAY_NS
from iosonde.stats.change_points import ChangePoint, shifts
from iosonde.stats.midranks import midranks
from iosonde.stats.multiple import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from iosonde.model.arrays import Floats, Instants, Places
    from iosonde.model.jobs import JobTable


FEWEST_FOR_LEAK = 8
_OWN_RATIOS = ("cf_", "contention_")
"""Ratios with the job's own traffic removed, which its speed alone does not move."""
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
        if about.role in ("cause", "climate") and name not in rates and about.group not in _LEFT:
            found.append(Safe(name, about, column))
    described = [one for one in found if one.about.unit or one.name in table.abouts]
    strata = [rows for rows in table.strata().values() if len(rows) >= FEWEST_FOR_LEAK]
    seconds = table.duration_s()
    speed = _speed(table, seconds)
    return tuple(
        one
        for one in described or found
        if not one.name.startswith("contention_")
        and np.isfinite(one.values).any()
        and not _leaks(one, strata, seconds, speed)
    )


def _speed(table: JobTable, seconds: Floats) -> Floats:
    own = table.metrics.get("own_bytes", table.metrics.get("performance_bytes_per_s"))
    if own is None:
        return np.full(len(table), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return own / seconds if "own_bytes" in table.metrics else own


def _leaks(one: Safe, strata: list[Places], seconds: Floats, speed: Floats) -> bool:
    """True if it follows the job's run time or speed in more than half of the testable series."""
    if one.name.startswith(_OWN_RATIOS) or one.about.role == "climate":
        return False
    leaking, asked = 0, 0
    for rows in strata:
        along = [_rank_r(one.values[rows], other[rows]) for other in (seconds, speed)]
        if all(r is None for r in along):
            continue
        asked += 1
        leaking += (along[0] or 0.0) > LEAKS or (along[1] or 0.0) > LEAKS
    return leaking * 2 > asked


def _rank_r(one: Floats, other: Floats) -> float | None:
    """Spearman's coefficient of two columns; None for too few known values."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST_FOR_LEAK:
        return None
    a, b = (midranks(column[both][:, None])[:, 0] for column in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


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
