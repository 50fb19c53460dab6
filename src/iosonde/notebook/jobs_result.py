"""Answers about many jobs: correlations with performance, and lasting changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate import words
from iosonde.jobs.climate.climate import Climate, changed_on
from iosonde.jobs.climate.data import change_data
from iosonde.jobs.correlate.correlate import Correlated
from iosonde.jobs.correlate.words import claimed, say_doubt, say_warning
from iosonde.notebook.arguments import in_python, instant
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import MOST_ROWS, Answer, Pictured, TableResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.climate.series import LevelChange
    from iosonde.notebook.arguments import Instant
    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure

_CORRELATION = (
    *("metric", "unit", "n", "pearson", "pearson_p", "spearman", "spearman_p"),
    *("partial", "partial_p", "p", "q", "n_eff", "enough", "contaminated", "claimed", "doubt"),
)
_READ = ("metric", "n", "n_eff", "pearson", "spearman", "partial", "q", "claimed", "doubt")
"""Columns displayed."""
_CHANGE = (
    *("file_system", "motif", "at_ns", "earliest_ns", "latest_ns", "before", "after", "ratio"),
    *("n_before", "n_after", "p", "q", "sentence"),
)
_MOST_CHANGES = 6
"""Most changes listed singly; more are grouped by events."""


class Correlations(Answer):
    """Correlations with performance, a row per group and metric; a group of all rows has None for other groups' names.

    ``claimed``: more than chance, given how many were looked at; ``doubt``: what speaks against a claim. ``data``: a
    ``Correlated``; ``lines``: where rows together say something else than groups by themselves.
    """

    def __init__(self, data: Correlated, label: Callable[[str], str]) -> None:
        self.data = data
        self.lines = tuple(say_warning(one, label) for one in data.warnings)

    @property
    def columns(self) -> Columns:
        """A row per group and metric; None and NaN if unknown."""
        rows = []
        for one in self.data.rows:
            group = dict(zip(self.data.by, one.group or (None,) * len(self.data.by), strict=True))
            rows.append(
                group | one._asdict() | {"claimed": claimed(one), "doubt": say_doubt(one) or None}
            )
        return of_records(rows, (*self.data.by, *_CORRELATION))

    def _shown(self) -> Columns:
        """The strongest, claims first, if there are many; unknown columns are left out."""
        columns = self.columns
        told = np.flatnonzero(columns["n"] > 0)
        if len(told) > MOST_ROWS:
            size = -np.abs(np.nan_to_num(columns["spearman"].astype(np.float64)))
            told = told[np.lexsort((size[told], ~columns["claimed"][told]))][:MOST_ROWS]
        names = [
            name for name in (*self.data.by, *_READ) if name != "partial" or self.data.controls
        ]
        return {name: columns[name][told] for name in names}


class ClimateResult(Pictured):
    """Lasting changes, a row each, and climates. ``data``: a ``Climate``."""

    def __init__(self, data: Climate) -> None:
        self.data = data
        told = [words.say_change(change) for change in data.changes]
        if len(told) > _MOST_CHANGES:
            told = [words.say_event(event) for event in data.events]
        self.lines = (words.say_climate(data), *told, *map(words.say_climates, data.regimes))

    @property
    def columns(self) -> Columns:
        """A row per change of a file system and motif, with dates, interval, sizes and its sentence."""
        return _changes(self.data.changes)

    @in_python
    def on(self, day: Instant) -> TableResult:
        """Possible changes on a day (UTC), a row each. Raises UsageError: no time."""
        at = instant(day)
        found = changed_on(self.data, 0 if at is None else at)
        along = [text for event in found.events for text in words.say_along(event)]
        return TableResult(_changes(found.changes), found, (*words.say_on_date(found), *along))

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        from iosonde.jobs.climate.figure import climate_figure
        from iosonde.jobs.climate.render import draw_climate

        figure = climate_figure(self.data, words.say_largest(self.data))
        return draw_climate(figure, width_in=width_in, dark=dark, zone=UTC)


def _changes(changes: Sequence[LevelChange]) -> Columns:
    return of_records(map(change_data, changes), _CHANGE)
