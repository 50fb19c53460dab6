"""Apply a mapping to columns: texts, metrics by name, and metrics from joined tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lines import Warn
from iosonde.connectors.tables.csv_text import Columns, read_columns
from iosonde.connectors.tables.mapping import Join, Mapping, Metric, Words
from iosonde.connectors.tables.replacing import replaced
from iosonde.connectors.tables.toml_table import zone_of
from iosonde.connectors.tables.unparsable_cells import about_number, told_number
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.units import to_datetime

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict

    from iosonde.model.arrays import Floats, Instants, Texts


class Values:
    """Numbers by name: metrics of the mapping first, then columns of the table."""

    def __init__(self, columns: Columns, mapping: Mapping, joined: Dict[str, Floats]) -> None:
        self._columns, self._mapping = columns, mapping
        self._metrics = {metric.name: metric for metric in mapping.metrics}
        self._known: dict[str, Floats] = dict(joined)
        self._open: set[str] = set()

    def __call__(self, name: str) -> Floats:
        """Column by name. Raises UsageError: no such column, or it holds no numbers."""
        if name in self._known:
            return self._known[name]
        if name in self._metrics and name not in self._open:
            self._open.add(name)
            try:
                self._known[name] = self._of(self._metrics[name])
            finally:
                self._open.discard(name)
            return self._known[name]
        return self._column(name)

    def words(self, name: str) -> Texts:
        """Column of texts, "" where missing. Raises UsageError: no such column."""
        if name not in self._columns.texts:
            where = f"{self._mapping.place}: the column {name!r} of {self._columns.path}"
            raise UsageError(f"{where} is not there")
        return self._columns.texts[name]

    def _column(self, name: str) -> Floats:
        if name in self._columns.numbers:
            return self._columns.numbers[name]
        where = f"{self._mapping.place}: the column {name!r} of {self._columns.path}"
        if name not in self._columns.words:
            raise UsageError(f"{where} is not there")
        line, cell = self._columns.words[name]
        advice = about_number(cell)
        what = f"{where} holds no numbers ({told_number(line, cell)})"
        raise UsageError(what, expected=advice.expected, hint=advice.hint)

    def has(self, metric: Metric, above: frozenset[str] = frozenset()) -> bool:
        """True if the table has the columns of an optional metric; ``above``: metrics whose expressions ask for it."""
        if metric.columns:
            return any(name in self._columns.numbers for name in metric.columns)
        assert metric.expression is not None
        inner = above | {metric.name}
        return metric.expression.texts <= self._columns.texts.keys() and all(
            name in self._columns.numbers
            or name in self._known
            or (
                name in self._metrics and name not in inner and self.has(self._metrics[name], inner)
            )
            for name in metric.expression.names
        )

    def _of(self, metric: Metric) -> Floats:
        n = len(self._columns)
        if metric.expression is not None:
            value = metric.expression.value_of(self, self.words)
            return np.broadcast_to(np.asarray(value * metric.scale), (n,)).copy()
        return self._column(self.source(metric) or metric.columns[0]) * metric.scale

    def source(self, metric: Metric) -> str | None:
        """Column that a metric is taken from."""
        return next((name for name in metric.columns if name in self._columns.names), None)


def texts_of(words: Words, columns: Columns, values: Values) -> Texts:
    """Text of every row; "" if missing."""
    n = len(columns)
    if words.when is not None:
        holds = np.broadcast_to(words.when.value_of(values, values.words), (n,))
        known = np.where(holds == 1, words.then, words.otherwise)
        return np.where(np.isnan(holds), "", known).astype(object)
    source = next((name for name in words.columns if name in columns.texts), None)
    if source is None:
        return np.full(n, "", dtype=object)
    cells, literal = columns.texts[source], dict(words.values)
    new = {cell: " ".join(text.split()) for cell, text in literal.items()}
    others = sorted(set(cells.tolist()) - new.keys())
    for cell, text in zip(others, replaced(others, words.replace), strict=True):
        new[cell] = text if text.isalnum() else " ".join(text.split())
    return np.array([new[cell] for cell in cells.tolist()], dtype=object)


_TAKE = {
    "max": np.fmax.at,
    "min": np.fmin.at,
    "sum": np.add.at,
    "mean": np.add.at,
}


def joined(
    join: Join, columns: Columns, begin_ns: Instants, mapping: Mapping, warn: Warn
) -> dict[str, Floats]:
    """Metrics of a joined table for each row of the main one; NaN without a matching row.

    Raises UsageError: it lacks a column; InputFileError: unreadable.
    """
    path = columns.path.parent / join.file
    wanted = [its for its, _ in join.keys] + ([join.day] if join.day else [])
    asked = (*join.keep, *(metric.expression for metric in join.metrics))
    other = read_columns(path, [*wanted, *(name for one in asked for name in one.texts)], warn)
    lacks = [name for name in wanted if name not in other.texts]
    if lacks:
        raise UsageError(
            f"{mapping.place}, [join.{join.name}]: {path} has no column {lacks[0]!r}",
            expected="one of " + ", ".join(other.names[:12]),
        )
    values = Values(other, Mapping(mapping.place, join.name), {})
    kept = np.ones(len(other), dtype=bool)
    for expression in join.keep:
        kept &= np.broadcast_to(expression.value_of(values, values.words) == 1, kept.shape)
    groups: dict[tuple[str, ...], int] = {}
    its = list(zip(*(other.texts[name] for name in wanted), strict=True))
    place = np.array([groups.setdefault(key, len(groups)) for key in its], dtype=np.intp)
    days = [_days(begin_ns, join.zone)] if join.day else []
    ours = zip(*(columns.texts[our] for _, our in join.keys), *days, strict=True)
    mine = np.array([groups.get(key, -1) for key in ours], dtype=np.intp)
    found: dict[str, Floats] = {}
    for metric in join.metrics:
        value = np.broadcast_to(metric.expression.value_of(values, values.words), kept.shape)
        rows = np.flatnonzero(kept & ~np.isnan(value))
        start = np.nan if metric.take in ("max", "min") else 0.0
        totals, counts = np.full(len(groups) + 1, start), np.zeros(len(groups) + 1)
        _TAKE[metric.take](totals, place[rows], value[rows])
        np.add.at(counts, place[rows], 1)
        with np.errstate(all="ignore"):
            of_group = totals / counts if metric.take == "mean" else totals
        found[metric.name] = np.where(counts[mine] > 0, of_group[mine], np.nan)
    return found


def _days(begin_ns: Instants, zone: str) -> list[str]:
    """Local day of every start, as ISO 8601."""
    rules = zone_of(zone)
    return [
        "" if ns == NULL_NS else to_datetime(ns, rules).date().isoformat()
        for ns in begin_ns.tolist()
    ]
