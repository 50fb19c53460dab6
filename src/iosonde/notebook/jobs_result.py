"""Answers about many jobs: correlations with performance, and lasting changes."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.notebook.arguments import in_python, instant
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import MOST_ROWS, Answer, Pictured, TableResult

if TYPE_CHECKING:
    from iosonde.jobs.climate.answers import ClimateAnswer
    from iosonde.jobs.climate.climate import Climate
    from iosonde.jobs.correlate.answers import TableCorrelations
    from iosonde.jobs.correlate.correlate import Correlated
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


class Correlations(Answer):
    """Correlations with performance, a row per group and metric; a group of all rows has None for other groups' names.

    ``claimed``: more than chance, given how many were looked at; ``doubt``: what speaks against a claim. ``data``: a
    ``Correlated``; ``lines``: where rows together say something else than groups by themselves.
    """

    data: Correlated

    def __init__(self, found: TableCorrelations) -> None:
        self._found, self.data = found, found.found
        self.lines = found.warnings()

    @property
    def columns(self) -> Columns:
        """A row a group and metric; None and NaN where there is no number."""
        return of_records(self._found.records(), (*self.data.by, *_CORRELATION))

    @property
    def categories(self) -> TableResult:
        """What differs between users, compilers and the like: a row a group, category and level."""
        by = self.data.by
        rows = [
            dict(zip(by, one.group or (None,) * len(by), strict=True))
            | {"category": one.category, "level": level.name, "n": level.n, "median": level.median}
            | {"share": one.share, "p": one.p, "q": one.q}
            for one in self.data.categories
            for level in one.levels
        ]
        names = (*by, "category", "level", "n", "median", "share", "p", "q")
        return TableResult(of_records(rows, names), self.data.categories)

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

    data: Climate

    def __init__(self, found: ClimateAnswer) -> None:
        self._found, self.data = found, found.climate
        self.lines = found.sentences()

    @property
    def columns(self) -> Columns:
        """A row a change of a file system and motif, with dates, interval, sizes and its sentence."""
        return of_records(self._found.records(), _CHANGE)

    @property
    def validations(self) -> TableResult:
        """What a prediction from metrics would be worth, a row a file system; none without ``validate=True``."""
        found = self._found.data().get("validation", [])
        rows = [{**one, "sentences": " ".join(one["sentences"])} for one in found]
        names = ("file_system", "runs", "metrics", "sentences")
        return TableResult(of_records(rows, names), self._found.validations)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``iosonde climate --format json`` writes it; missing is None."""
        return self._found.data()

    @in_python
    def on(self, day: Instant) -> TableResult:
        """Possible changes on a day (UTC), a row each. Raises UsageError: no time."""
        at = instant(day)
        found = self._found.on_day(0 if at is None else at)
        return TableResult(of_records(found.records(), _CHANGE), found.on, found.sentences())

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        picture: Figure = self._found.picture().drawn(width_in=width_in, dark=dark, zone=UTC)
        return picture
