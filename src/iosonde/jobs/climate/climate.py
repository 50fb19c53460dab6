"""Lasting changes of performance: date, size, affected file systems and motifs, and simultaneous changes.

::

    runs of one file system and motif      -> changes with dates and intervals, segments between them   (series)
    changes whose intervals share a date   -> one event; who could have changed with it and did not      (events)
    days of one file system, all together  -> climates, of which some come back                         (regimes)

Every series is looked at without being told where. ``q`` of a change is over all changes that were found and
one more question for each series, where the search ended. Sources: docs/methods/climate.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.events import ClimateEvent, events_of
from iosonde.jobs.climate.metrics import MetricChange, metric_changes, safe_metrics
from iosonde.jobs.climate.regimes import FileSystemClimate, climates_of
from iosonde.jobs.climate.series import JobSeries, LevelChange, series_of
from iosonde.jobs.table.derived import FRACTION
from iosonde.jobs.table.sizes import bases, sized
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable

SMALLEST_SERIES = 10
"""Least number of runs of a series in which a change can be found; shorter ones are counted."""


@dataclass(frozen=True)
class Climate:
    """Lasting changes and climates. ``metrics``: lasting changes of metrics other than performance.

    ``too_short``: (file system, motif) of which there are too few runs. ``unsure``: changes that were found and not
    kept, because so many series were asked.
    """

    series: tuple[JobSeries, ...]
    events: tuple[ClimateEvent, ...]
    regimes: tuple[FileSystemClimate, ...]
    metrics: tuple[MetricChange, ...]
    too_short: tuple[tuple[str, str], ...]
    unsure: int
    since_ns: int
    until_ns: int

    @property
    def changes(self) -> tuple[LevelChange, ...]:
        """All changes, by date."""
        every = [change for one in self.series for change in one.changes]
        return tuple(sorted(every, key=lambda c: (c.at_ns, c.file_system, c.motif)))


def climate(
    table: JobTable,
    *,
    file_system: str | None = None,
    motif: str | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> Climate:
    """Climate of ``table`` (after ``with_derived``); a fraction of 1 stays the best run of all time.

    Missing data: runs without a begin, a motif or a performance are left out. Raises UsageError (no performance in
    the table; no such file system or motif), NothingMeasuredError (no run).
    """
    table = picked(table, file_system, motif, since_ns, until_ns)
    found, unsure = series_of(table, SMALLEST_SERIES)
    known = {(one.file_system, one.motif) for one in found}
    safe = safe_metrics(table)
    metrics = metric_changes(table, safe)
    return Climate(
        found,
        events_of(found, metrics),
        climates_of(table, safe),
        metrics,
        tuple(key for key in table.strata() if key not in known),
        unsure,
        int(table.start_ns[0]),
        int(table.start_ns[-1]),
    )


def picked(
    table: JobTable,
    file_system: str | None,
    motif: str | None,
    since_ns: int | None,
    until_ns: int | None,
) -> JobTable:
    """Usable rows of the filter, in order of start. Raises as ``climate``."""
    if FRACTION not in table.metrics:
        raise UsageError(
            f"{table.source or 'the table'} has no I/O performance",
            expected='performance_bytes_per_s, or a metric with role = "performance"',
            hint=Advice(Argument("mapping", "FILE")),
        )
    table = sized(table)
    rows = (table.start_ns != NULL_NS) & np.isfinite(table.metrics[FRACTION])
    rows &= (table.metrics[FRACTION] > 0) & (table.motif != "")
    for name, wanted in (("file_system", file_system), ("motif", motif)):
        if wanted is None:
            continue
        column = getattr(table, name)
        if name == "motif" and not (column == wanted).any():
            column = bases(table)
        if not (column == wanted).any():
            known = sorted(set(getattr(table, name).tolist()) - {""})
            shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise UsageError(f"no job has the {name.replace('_', ' ')} {wanted!r}", expected=shown)
        rows &= column == wanted
    if since_ns is not None:
        rows &= table.start_ns >= since_ns
    if until_ns is not None:
        rows &= table.start_ns < until_ns
    if not rows.any():
        raise NothingMeasuredError(
            f"{table.source or 'the table'} has no run with a known begin, motif and performance",
            hint=Advice(
                *("another ", Argument("since"), ", ", Argument("until")),
                *(", or ", Argument("mapping")),
            ),
        )
    some = table.take(rows)
    return some.take(np.argsort(some.start_ns, kind="stable"))


@dataclass(frozen=True)
class OnDate:
    """Possible changes on a day: events and changes with intervals that hold it, climates that started then."""

    day_ns: int
    events: tuple[ClimateEvent, ...]
    changes: tuple[LevelChange, ...]
    began: tuple[tuple[str, str], ...]
    """(file system, name of the climate)."""
    steady: tuple[tuple[str, str], ...]
    """Series with runs before and after it and without a change."""


def changed_on(found: Climate, day_ns: int) -> OnDate:
    """Changes on the UTC day that holds ``day_ns``."""
    first = day_ns - day_ns % DAY_NS
    last = first + DAY_NS

    def touches(one: LevelChange | ClimateEvent) -> bool:
        return one.earliest_ns < last and one.latest_ns >= first

    changes = tuple(c for c in found.changes if touches(c))
    moved = {(c.file_system, c.motif) for c in changes}
    steady = tuple(
        (one.file_system, one.motif)
        for one in found.series
        if (one.file_system, one.motif) not in moved and one.could_change(first, last)
    )
    began = tuple(
        (one.file_system, regime.name)
        for one in found.regimes
        for regime in one.regimes[1:]
        if first <= regime.start_ns < last
    )
    return OnDate(first, tuple(e for e in found.events if touches(e)), changes, began, steady)
