"""Mapping: the meaning of a table's columns, written in TOML (docs/correlate.md has an example)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from iosonde.connectors.tables.expression import Expression
from iosonde.connectors.tables.replacing import Replacement
from iosonde.model.job_metrics import About

Columns = tuple[str, ...]
"""Alternative names of a column; the first one present is used. () = none."""
TimeUnit = Literal["s", "ms", "us", "ns", "text"]


class Time(NamedTuple):
    """Column of an instant. ``text`` is ISO 8601, in the mapping's zone if it has no offset."""

    columns: Columns
    unit: TimeUnit = "s"


class Words(NamedTuple):
    """A text from a column: literal ``values`` first, else every pattern of ``replace`` in turn."""

    columns: Columns = ()
    values: tuple[tuple[str, str], ...] = ()
    replace: tuple[Replacement, ...] = ()
    when: Expression | None = None
    """Condition instead of a column: ``then`` if true, ``otherwise`` if false, "" if unknown."""
    then: str = ""
    otherwise: str = ""


NOTHING = Words()
"""No column."""


class Metric(NamedTuple):
    """A metric from a column times ``scale``, or from an expression on columns and other metrics."""

    name: str
    columns: Columns = ()
    expression: Expression | None = None
    scale: float = 1.0
    optional: bool = False
    age: Columns = ()
    """Column with the age of the value: seconds before the start."""
    oldest_s: float = 86_400.0
    """Oldest age; older values are stale, and missing."""


class Filter(NamedTuple):
    """Filter of rows. Rows with a missing value are dropped, except for ``excluded`` values."""

    kind: Literal["complete", "holds", "excluded", "began_by"]
    columns: Columns = ()
    """Columns of "complete"; () = every column of the table."""
    expression: Expression | None = None
    values: tuple[str, ...] = ()
    at_ns: int = 0
    said: str = ""
    """Printable reason for dropping rows."""
    flag: str = ""
    """Flag of dropped rows, of ``model.quality``; "" = none."""


class LookedUpMetric(NamedTuple):
    """A metric from another table: an expression on its columns, over the rows of one key."""

    name: str
    expression: Expression
    take: Literal["max", "min", "mean", "sum"]


class Join(NamedTuple):
    """Another table, joined by columns of equal text and by day."""

    name: str
    file: str
    keys: tuple[tuple[str, str], ...]
    """(its column, ours)."""
    day: str
    """Its column of days; "" = none."""
    zone: str
    """Time zone that turns our start into a day."""
    keep: tuple[Expression, ...]
    metrics: tuple[LookedUpMetric, ...]


@dataclass(frozen=True)
class Mapping:
    """A whole mapping. ``place``: the file, for messages."""

    place: str
    name: str
    zone: str = ""
    delimiter: str | None = None
    job_id: Words = NOTHING
    step: Words = NOTHING
    file_system: Words = NOTHING
    begin: Time | None = None
    end: Time | None = None
    doubtful: Time | None = None
    """Second record of the start, compared with the first and never used."""
    labels: tuple[tuple[str, Words], ...] = ()
    """Texts of ``model.jobs.LABELS``."""
    categories: tuple[tuple[str, Words], ...] = ()
    """Texts that may be causes (compiler, queue), each with its name."""
    sizes: tuple[tuple[str, str], ...] = ()
    """Sizes of ``model.jobs.SIZES``, each with its column or metric."""
    motif: tuple[Words, ...] = ()
    metrics: tuple[Metric, ...] = ()
    abouts: tuple[tuple[str, About], ...] = ()
    filters: tuple[Filter, ...] = ()
    joins: tuple[Join, ...] = ()
    others: bool = True
    """True if unnamed numeric columns are metrics under their own names."""

    @cached_property
    def texts(self) -> frozenset[str]:
        """Columns read as text."""
        labels = [words for _, words in (*self.labels, *self.categories)]
        asked = (
            *(part.when for part in (*self.motif, *labels)),
            *(metric.expression for metric in self.metrics),
            *(one.expression for one in self.filters),
        )
        words = (self.job_id, self.step, self.file_system, *self.motif, *labels)
        times = (self.begin, self.end, self.doubtful)
        return frozenset(
            [
                *(name for one in words for name in one.columns),
                *(name for one in asked if one is not None for name in one.texts),
                *(name for one in times if one is not None for name in one.columns),
                *(ours for join in self.joins for _, ours in join.keys),
                *(name for one in self.filters if one.kind == "excluded" for name in one.columns),
            ]
        )

    @cached_property
    def uses(self) -> frozenset[str]:
        """All columns used under another name."""
        of_metrics = (name for metric in self.metrics for name in (*metric.columns, *metric.age))
        return self.texts.union(of_metrics)

    def missing(self, columns: Iterable[str]) -> list[tuple[str, str]]:
        """(key, column) of columns that a table lacks; [] = it fits."""
        have = frozenset(columns)
        known = have | {metric.name for metric in self.metrics}
        known |= {one.name for join in self.joins for one in join.metrics}
        lacks: list[tuple[str, str]] = []

        def need(key: str, names: Columns) -> None:
            if names and not have.intersection(names):
                lacks.append((key, names[0]))

        def need_all(key: str, expression: Expression | None) -> None:
            names = expression.names if expression is not None else frozenset[str]()
            lacks.extend((key, name) for name in sorted(names - known))
            if expression is not None:
                lacks.extend((key, name) for name in sorted(expression.texts - have))

        for key in ("job_id", "step", "file_system"):
            need(f"[job] {key}", getattr(self, key).columns)
        for key in ("begin", "end"):
            moment: Time | None = getattr(self, key)
            need(f"[job] {key}", moment.columns if moment else ())
        for key, words in self.labels:
            need(f"[job] {key}", words.columns)
        for key, words in self.categories:
            need(f"[categories] {key}", words.columns)
        lacks.extend((f"[job] {key}", name) for key, name in self.sizes if name not in known)
        for place, part in enumerate(self.motif, 1):
            need(f"[[motif]] {place}", part.columns)
            need_all(f"[[motif]] {place} when", part.when)
        for metric in self.metrics:
            if not metric.optional:
                need(f"[metrics] {metric.name}", metric.columns)
                need_all(f"[metrics] {metric.name}", metric.expression)
        for place, one in enumerate(self.filters, 1):
            lacks.extend((f"[[filters]] {place}", n) for n in one.columns if n not in have)
            need_all(f"[[filters]] {place}", one.expression)
        for join in self.joins:
            need(f"[join.{join.name}] keys", tuple(ours for _, ours in join.keys))
        return lacks
