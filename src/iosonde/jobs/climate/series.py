"""Runs of one file system and motif over time: lasting changes of the fraction of peak, and segments between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.table.derived import FRACTION
from iosonde.model.units import DAY_NS
from iosonde.stats.change_points import ChangePoint, shifts
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.segments import FEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iosonde.model.arrays import Floats, Instants, Places
    from iosonde.model.jobs import JobTable


Q = 0.05
"""False discovery rate of the reported changes."""
MOST_VALUES = 5000
"""Most values of a series; longer ones are searched as medians of consecutive runs: the search is quadratic."""
OWN_CHANGE = 0.05
"""Least change of a job's own activity, as a share of its median ..."""
OWN_CLEAR = 3.0
"""... and in multiples of the spread on either side (1.4826 MAD)."""


class Own(NamedTuple):
    """Change in the jobs themselves: medians of a metric on both sides."""

    metric: str
    unit: str
    label: str
    before: float
    after: float


@dataclass(frozen=True)
class SeriesPart:
    """Runs between two changes. ``median``, ``mad``, ``peak`` are fractions of the all-time peak of the series.

    ``end_ns`` is the begin of the last run. ``mad``: median distance to the median.
    """

    start_ns: int
    end_ns: int
    n: int
    median: float
    mad: float
    peak: float

    @property
    def of_own_peak(self) -> float:
        """Median as a fraction of the best run of the segment."""
        return self.median / self.peak if self.peak > 0 else float("nan")


@dataclass(frozen=True)
class LevelChange:
    """A lasting change of the fraction of peak of one series.

    ``at_ns``: begin of the first run after it. It happened between ``earliest_ns`` (the last run that may be before
    it) and ``latest_ns`` (95%). ``before`` and ``after``: medians of the segments, of ``n_before`` and
    ``n_after`` runs. ``p``: chance of such a step somewhere in the series without any; ``q``: of all that are told.
    """

    file_system: str
    motif: str
    at_ns: int
    earliest_ns: int
    latest_ns: int
    before: float
    after: float
    n_before: int
    n_after: int
    p: float
    q: float
    own: tuple[Own, ...] = ()
    gradual: bool = False
    """True if a straight line over both segments fits as well: a drift, which has no date."""

    @property
    def ratio(self) -> float:
        """After / before."""
        return self.after / self.before if self.before > 0 else float("nan")

    @property
    def rose(self) -> bool:
        """True for a change to faster runs."""
        return self.after > self.before


@dataclass(frozen=True)
class JobSeries:
    """All runs of a file system and motif. ``times_ns``, ``values`` (n,): begin and fraction of peak, in order."""

    file_system: str
    motif: str
    times_ns: Instants
    values: Floats
    kappa: float
    """Number of runs worth one independent run."""
    changes: tuple[LevelChange, ...]
    segments: tuple[SeriesPart, ...]

    def could_change(self, first_ns: int, last_ns: int) -> bool:
        """True if there are enough runs before and after to find a change in between."""
        before = int(np.searchsorted(self.times_ns, first_ns, side="left"))
        after = len(self.times_ns) - int(np.searchsorted(self.times_ns, last_ns, side="right"))
        return before >= FEWEST and after >= FEWEST


class _Found(NamedTuple):
    key: tuple[str, str]
    rows: Places
    days: Floats
    kappa: float
    shifts: tuple[ChangePoint, ...]


def series_of(table: JobTable, fewest: int) -> tuple[tuple[JobSeries, ...], int]:
    """Series with at least ``fewest`` runs, and the number of rejected changes.

    Places of ``table`` are in the order of begin and have a begin and a fraction of peak.
    """
    every = []
    for key, rows in table.strata().items():
        if len(rows) >= fewest:
            days = table.start_ns[rows] / DAY_NS
            found = shifts(*_grouped(days, table.metrics[FRACTION][rows]))
            every.append(_Found(key, rows, days, found.kappa, found.found))
    # A series in which the search ended is one more question that was asked.
    p = [shift.p for one in every for shift in one.shifts] + [1.0] * len(every)
    q = iter(benjamini_hochberg(np.array(p)).tolist()) if every else iter(())
    made = [_series(table, one, q) for one in every]
    return tuple(one for one, _ in made), sum(unsure for _, unsure in made)


def _grouped(days: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most ``MOST_VALUES`` values: medians of consecutive runs, each at the first of them."""
    size = -(-len(values) // MOST_VALUES)
    if size <= 1:
        return days, values
    starts = np.arange(0, len(values), size)
    return days[starts], np.array([np.median(values[a : a + size]) for a in starts])


def _series(table: JobTable, one: _Found, q: Iterator[float]) -> tuple[JobSeries, int]:
    """A series with the changes whose next ``q`` is small enough, and the number of others."""
    kept = [(shift, at) for shift, at in zip(one.shifts, q, strict=False) if at <= Q]
    times, values = table.start_ns[one.rows], table.metrics[FRACTION][one.rows]
    starts = [int(np.searchsorted(one.days, shift.at, side="left")) for shift, _ in kept]
    bounds = [0, *starts, len(values)]
    segments = tuple(_segment(times[a:b], values[a:b]) for a, b in pairwise(bounds))
    changes = tuple(
        LevelChange(
            file_system=one.key[0],
            motif=one.key[1],
            at_ns=int(times[place]),
            earliest_ns=int(times[np.searchsorted(one.days, shift.earliest)]),
            latest_ns=int(times[np.searchsorted(one.days, shift.latest)]),
            before=segments[i].median,
            after=segments[i + 1].median,
            n_before=segments[i].n,
            n_after=segments[i + 1].n,
            p=shift.p,
            q=at,
            own=_own(table, one.rows[bounds[i] : place], one.rows[place : bounds[i + 2]]),
            gradual=shift.gradual,
        )
        for i, ((shift, at), place) in enumerate(zip(kept, starts, strict=True))
    )
    whole = JobSeries(*one.key, times, values, one.kappa, changes, segments)
    return whole, len(one.shifts) - len(kept)


def _segment(times: Instants, values: Floats) -> SeriesPart:
    median = float(np.median(values))
    mad = float(np.median(np.abs(values - median)))
    return SeriesPart(int(times[0]), int(times[-1]), len(values), median, mad, float(values.max()))


def _own(table: JobTable, before: Places, after: Places) -> tuple[Own, ...]:
    """Changes in the jobs themselves, largest first: a changed benchmark is no changed file system."""
    found = []
    for name, column in table.metrics.items():
        about = table.about(name)
        if about.role != "own" or about.unit == "s" or about.group == "quality":
            continue
        a, b = (column[rows][np.isfinite(column[rows])] for rows in (before, after))
        if min(len(a), len(b)) < FEWEST:
            continue
        was, now = float(np.median(a)), float(np.median(b))
        spread = 1.4826 * max(float(np.median(np.abs(x - np.median(x)))) for x in (a, b))
        least = max(OWN_CHANGE * max(abs(was), abs(now)), OWN_CLEAR * spread)
        if abs(now - was) > least:
            found.append(Own(name, about.unit, about.label, was, now))
    return tuple(sorted(found, key=lambda o: -_size(o)))


def _size(own: Own) -> float:
    low, high = sorted((abs(own.before), abs(own.after)))
    return high / low if low > 0 else float("inf")
