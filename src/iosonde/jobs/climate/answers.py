"""What changed for good over months of jobs, and which jobs do the same: ``iosonde climate``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.climate.figure import ClimateFigure
from iosonde.model.answer import Block, PlainPicture, RowTable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.motifs import Motifs
    from iosonde.jobs.climate.series import LevelChange
    from iosonde.jobs.climate.validation import Validated
    from iosonde.model.arrays import Texts
    from iosonde.model.jobs import JobTable

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

__all__ = [
    "MOST_CHANGES",
    "ClimateAnswer",
    "ClimateFigure",
    "ClimateRuns",
    "MotifsAnswer",
    "climate",
    "climate_runs",
    "motifs",
    "regions_of",
]

MOST_CHANGES = 6
"""Changes with a sentence each; more of them have one for all that happened together."""


class ClimateAnswer(NamedTuple):
    """What changed; ``on``: on the day that was asked for; ``validations``: what a prediction would be worth."""

    climate: Climate
    on: OnDate | None = None
    validations: tuple[Validated, ...] = ()

    @property
    def changes(self) -> Sequence[LevelChange]:
        """Those of the day, where one was asked for."""
        return (self.on or self.climate).changes

    def sentences(self) -> tuple[str, ...]:
        """The largest changes, of the day where one was asked for; then each file system's climates."""
        from iosonde.jobs.climate import words

        if self.on is not None:
            along = [text for event in self.on.events for text in words.say_along(event)]
            return (*words.say_on_date(self.on), *along)
        found = self.climate
        told = [words.say_change(change) for change in found.changes]
        if len(told) > MOST_CHANGES:
            told = [words.say_event(event) for event in found.events]
        return (words.say_climate(found), *told, *map(words.say_climates, found.regimes))

    def shown(self) -> list[Block]:
        """Sentences, the table of changes, climates."""
        from iosonde.jobs.climate.text import climate_blocks

        return climate_blocks(self.climate, self.on, self.validations)

    def data(self) -> dict[str, Any]:
        """Changes, events, series, climates; what is known of the day; validations."""
        from iosonde.jobs.climate.data import climate_data

        return climate_data(self.climate, self.on, self.validations)

    def records(self) -> list[dict[str, Any]]:
        """A record a change, with its sentence."""
        from iosonde.jobs.climate.data import change_data

        return [change_data(change) for change in self.changes]

    def table(self, zone: tzinfo | None = None) -> RowTable:
        """A row a change; ``zone``: of its dates (None: UTC)."""
        from iosonde.jobs.climate.data import change_rows

        return RowTable(*(change_rows(self.changes, zone) if zone else change_rows(self.changes)))

    def picture(self, *, titled: bool = True) -> PlainPicture:
        """Runs, levels and changes over time; ``titled``: with the largest change as a sentence."""
        from iosonde.jobs.climate.figure import climate_figure, to_json
        from iosonde.jobs.climate.render import draw_climate
        from iosonde.jobs.climate.words import say_largest

        figure = climate_figure(self.climate, *([say_largest(self.climate)] if titled else []))
        return PlainPicture(partial(to_json, figure), partial(draw_climate, figure))

    def on_day(self, day_ns: int) -> ClimateAnswer:
        """The same about the UTC day that holds ``day_ns``."""
        from iosonde.jobs.climate.climate import changed_on

        return self._replace(on=changed_on(self.climate, day_ns))


class MotifsAnswer(NamedTuple):
    """Clusters of the jobs of a table."""

    motifs: Motifs
    jobs: JobTable

    def shown(self) -> list[Block]:
        """A sentence, a row a cluster."""
        from iosonde.jobs.climate.text import motif_blocks

        return motif_blocks(self.motifs)

    def data(self) -> dict[str, Any]:
        """Clusters, with their jobs."""
        from iosonde.jobs.climate.data import motifs_data

        return motifs_data(self.motifs, self.jobs)

    def table(self) -> RowTable:
        """A row a job, with its cluster."""
        from iosonde.jobs.climate.data import motif_rows

        rows = motif_rows(self.motifs, self.jobs)
        return RowTable(tuple(rows[0]) if rows else (), rows)


class ClimateRuns(NamedTuple):
    """A climate with its runs. ``runs``: of each series (job, run) of every run, as ``find_run`` takes them.

    ``n``: jobs of the table; ``file_systems motifs``: those with a series long enough for a change.
    """

    climate: ClimateAnswer
    runs: list[list[tuple[str, str]]]
    n: int
    file_systems: list[str]
    motifs: list[str]


def climate(
    table: JobTable,
    file_system: str | None = None,
    motif: str | None = None,
    span_ns: Span = (None, None),
    *,
    day_ns: int | None = None,
    validate: bool = False,
) -> ClimateAnswer:
    """What changed for good. ``day_ns``: also what changed on the UTC day that holds it.

    Raises UsageError (no performance; no such file system or motif), NothingMeasuredError (no run).
    """
    from iosonde.jobs.climate.climate import changed_on, picked
    from iosonde.jobs.climate.climate import climate as climate_of

    since, until = span_ns
    found = climate_of(table, file_system=file_system, motif=motif, since_ns=since, until_ns=until)
    on = None if day_ns is None else changed_on(found, day_ns)
    if not validate:
        return ClimateAnswer(found, on)
    from iosonde.jobs.climate.validation import validated

    return ClimateAnswer(found, on, validated(picked(table, file_system, motif, since, until)))


def motifs(table: JobTable) -> MotifsAnswer:
    """Clusters of jobs, from what they did. Raises UsageError: the table has no features."""
    from iosonde.jobs.climate.motifs import motifs as clusters

    return MotifsAnswer(clusters(table), table)


def climate_runs(
    table: JobTable,
    file_system: str | None = None,
    motif: str | None = None,
    span_ns: Span = (None, None),
) -> ClimateRuns:
    """``climate``, and the name of every run: what a click on a dot leads to. Raises as ``climate``."""
    import numpy as np

    from iosonde.jobs.climate.climate import SMALLEST_SERIES, picked
    from iosonde.jobs.table.runs import run_names

    found = climate(table, file_system, motif, span_ns)
    named = replace(table, step=np.array(run_names(table), dtype=object))
    some = picked(named, file_system, motif, *span_ns)
    strata = some.strata()
    runs = [
        list(zip(some.job_id[rows].tolist(), some.step[rows].tolist(), strict=True))
        for rows in (strata[one.file_system, one.motif] for one in found.climate.series)
    ]
    usable = picked(table, None, None, None, None).strata()
    keys = [key for key, rows in usable.items() if len(rows) >= SMALLEST_SERIES]
    places, motifs = sorted({key[0] for key in keys}), sorted({key[1] for key in keys})
    return ClimateRuns(found, runs, len(table), places, motifs)


def regions_of(table: JobTable, boundaries_ns: Sequence[int] = ()) -> Texts:
    """(n,) the piece of time of each run: between boundaries, or without them of its file system's climates.

    Raises UsageError (boundaries that do not ascend), NothingMeasuredError (no climates).
    """
    from iosonde.jobs.climate.regions import between, climates

    return between(table, boundaries_ns) if boundaries_ns else climates(table)
