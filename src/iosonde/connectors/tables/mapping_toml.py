"""Mappings as TOML files: only known keys, and errors with file, table and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

from iosonde.connectors.tables.mapping import (
    NOTHING,
    Filter,
    Join,
    LookedUpMetric,
    Mapping,
    Metric,
    Time,
    TimeUnit,
    Words,
)
from iosonde.connectors.tables.replacing import wrong
from iosonde.connectors.tables.toml_table import TomlTable
from iosonde.connectors.tables.units import UNITS, factor, unit_of
from iosonde.model.errors import UsageError
from iosonde.model.job_metrics import ROLES, About, Good, about
from iosonde.model.jobs import LABELS, SIZES
from iosonde.model.quality import QUALITY
from iosonde.model.units import to_ns

MOST_BYTES = 1 << 20
_METRIC = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
T = TypeVar("T")


def load_mapping(path: Path) -> Mapping:
    """Load a mapping from a file. Raises UsageError: unreadable, no TOML, or wrong somewhere."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read the mapping {path}: {error.strerror}") from error
    if len(raw) > MOST_BYTES:
        raise UsageError(
            f"{path} is too long for a mapping", expected=f"at most {MOST_BYTES} bytes"
        )
    return read_mapping(raw.decode("utf-8", "replace"), str(path), path.stem)


def read_mapping(text: str, place: str, name: str) -> Mapping:
    """Parse a mapping from TOML text; ``place`` is its name in messages. Raises UsageError."""
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{place}: no TOML: {error}", hint="docs/correlate.md") from error
    return mapping_of(tree, place, name)


def mapping_of(tree: dict[str, Any], place: str, name: str) -> Mapping:
    """A mapping from its tables, as TOML has them; ``place`` is its name in messages. Raises UsageError."""
    return _Reader(place).mapping(tree, name)


class _Reader:
    """Reads the tables of one file."""

    def __init__(self, place: str) -> None:
        self._place = place

    def mapping(self, tree: dict[str, Any], name: str) -> Mapping:
        """Parse the whole mapping."""
        top = TomlTable(self._place, "the mapping", tree)
        table = self._table("[table]", top.tables("table"))
        job = self._table("[job]", top.tables("job"))
        metrics, abouts = self._metrics(top.tables("metrics"))
        found = Mapping(
            place=self._place,
            name=table.take("name", str, name),
            zone=table.zone("zone"),
            delimiter=self._delimiter(table),
            others=table.take("others", bool, True),
            job_id=self._words(job, "job_id"),
            step=self._words(job, "step"),
            file_system=self._words(job, "file_system"),
            begin=self._time(job, "begin"),
            end=self._time(job, "end"),
            doubtful=self._time(job, "doubtful_begin"),
            labels=self._labels(job),
            categories=self._categories(top.tables("categories")),
            sizes=self._sizes(job),
            motif=tuple(self._parts("[[motif]]", top.take("motif", list, []), self._part)),
            metrics=metrics,
            abouts=abouts,
            filters=tuple(self._parts("[[filters]]", top.take("filters", list, []), self._filter)),
            joins=tuple(self._join(key, one) for key, one in top.tables("join").items()),
        )
        for one in (top, table, job):
            one.done()
        return found

    def _table(self, name: str, found: Any) -> TomlTable:
        return TomlTable(self._place, name, found)

    def _parts(self, name: str, found: list[Any], read: Callable[[TomlTable], T]) -> list[T]:
        parts = []
        for place, one in enumerate(found, 1):
            table = self._table(f"{name} {place}", one)
            parts.append(read(table))
            table.done()
        return parts

    def _delimiter(self, table: TomlTable) -> str | None:
        mark = table.take("delimiter", str, "")
        if mark and (len(mark) > 1 or mark == '"'):
            raise table.wrong("delimiter", f"{mark!r} does not fit", "one character")
        return mark or None

    def _words(self, parent: TomlTable, key: str) -> Words:
        """Parse a column's name, names, or a table as for a part of the motif."""
        found: Any = parent.take(key, (str, list, dict), {})
        if found == {}:
            return NOTHING
        if not isinstance(found, dict):
            found = {"column": found}
        table = self._table(f"{parent.name} {key}", found)
        words = self._part(table)
        table.done()
        return words

    def _categories(self, found: dict[str, Any]) -> tuple[tuple[str, Words], ...]:
        table = self._table("[categories]", found)
        for name in found:
            if not _METRIC.fullmatch(name):
                raise table.wrong(name, "no name of a category", "letters, digits and _")
        some = tuple((name, self._words(table, name)) for name in list(found))
        table.done()
        return some

    def _labels(self, job: TomlTable) -> tuple[tuple[str, Words], ...]:
        """Parse texts about the job."""
        named = ((name, self._words(job, name)) for name in LABELS)
        return tuple((name, words) for name, words in named if words != NOTHING)

    def _sizes(self, job: TomlTable) -> tuple[tuple[str, str], ...]:
        """Parse columns or metrics with a size of the job."""
        named = ((name, job.take(name, str, "")) for name in SIZES)
        return tuple((name, column) for name, column in named if column)

    def _part(self, table: TomlTable) -> Words:
        columns, when = table.names("column"), table.expression("when")
        then, otherwise = table.take("then", str, ""), table.take("else", str, "")
        if bool(columns) == (when is not None):
            raise table.wrong("", "where does the text come from", "either column or when")
        values = table.tables("values")
        if not all(isinstance(text, str) for text in values.values()):
            raise table.wrong("values", "a value is no text", "text = text")
        replace = []
        for pair in table.take("replace", list, []):
            try:
                pattern, new = pair
                replace.append((pattern[:200], str(new)))
            except (ValueError, TypeError) as error:
                what = f"{pair!r:.60} does not fit ({error})"
                raise table.wrong("replace", what, "[pattern, text]") from None
            if reason := wrong(replace[-1]):
                what = f"{pair!r:.60} does not fit ({reason})"
                raise table.wrong("replace", what, "[pattern, text] as RE2 reads it")
        return Words(columns, tuple(values.items()), tuple(replace), when, then, otherwise)

    def _time(self, parent: TomlTable, key: str) -> Time | None:
        found: Any = parent.take(key, (str, list, dict), {})
        if found == {}:
            return None
        if not isinstance(found, dict):
            found = {"column": found}
        table = self._table(f"{parent.name} {key}", found)
        unit: Any = table.word("unit", get_args(TimeUnit), "s")
        columns = table.names("column")
        table.done()
        if not columns:
            raise table.wrong("column", "it is missing", "a column's name")
        return Time(columns, unit)

    def _metrics(
        self, found: dict[str, Any]
    ) -> tuple[tuple[Metric, ...], tuple[tuple[str, About], ...]]:
        metrics, abouts = [], []
        for name, one in found.items():
            inner = {"column": one} if isinstance(one, (str, list)) else one
            table = self._table(f"[metrics.{name}]", inner)
            if not _METRIC.fullmatch(name):
                raise table.wrong("", "no name of a metric", "letters, digits and _")
            metrics.append(self._metric(name, table))
            if told := self._about(name, table):
                abouts.append((name, told))
            table.done()
        return tuple(metrics), tuple(abouts)

    def _metric(self, name: str, table: TomlTable) -> Metric:
        columns, expression = table.names("column"), table.expression("expression")
        if bool(columns) == (expression is not None):
            raise table.wrong("", "where does it come from", "either column or expression")
        scale = float(table.take("scale", (int, float), 1.0))
        unit = table.take("unit", str, "")
        if unit:
            try:
                scale *= factor(unit, name)
            except ValueError as error:
                raise table.wrong("unit", str(error), "one of " + ", ".join(UNITS)) from None
        oldest = float(table.take("oldest_s", (int, float), 86_400.0))
        optional = table.take("optional", bool, False)
        return Metric(name, columns, expression, scale, optional, table.names("age"), oldest)

    def _about(self, name: str, table: TomlTable) -> About | None:
        known = about(name)
        label = table.take("label", str, known.label)
        good = table.word("good", ("high", "low", "neutral"), known.good or "neutral")
        role: Any = table.word("role", ROLES, known.role)
        group = table.take("group", str, known.group)
        way: Good = None if good == "neutral" else good  # type: ignore[assignment]
        told = About(known.unit or unit_of(name), label, way, role, group)
        return None if told == known else told

    def _filter(self, table: TomlTable) -> Filter:
        complete: Any = table.take("complete", (bool, list), False)
        said = table.text("keep")
        keep, column = table.expression("keep"), table.take("column", str, "")
        values = table.take("drop", list, [])
        until: Any = table.take("began_by", (datetime, str), "")
        why = table.take("why", str, "")
        flag = table.word("flag", tuple(QUALITY), "")
        given = [complete is not False, keep is not None, bool(column), until != ""]
        if sum(given) != 1:
            raise table.wrong("", "what does it do", "one of complete, keep, column, began_by")
        if keep is not None:
            return Filter("holds", expression=keep, said=why or f"not {said}", flag=flag)
        if column:
            if not values:
                raise table.wrong("drop", "it is missing", "a list of values")
            texts = tuple(str(value) for value in values)
            return Filter(
                "excluded", (column,), values=texts, said=why or f"{column} is {', '.join(texts)}"
            )
        if until != "":
            return Filter("began_by", at_ns=_instant(until, table), said=f"began after {until}")
        names = () if complete is True else tuple(str(name) for name in complete)
        return Filter("complete", names, said="not complete")

    def _join(self, name: str, found: Any) -> Join:
        table = self._table(f"[join.{name}]", found)
        keys = table.tables("keys")
        file, day, zone = (
            table.take("file", str, ""),
            table.take("day", str, ""),
            table.zone("zone"),
        )
        if not file:
            raise table.wrong("file", "it is missing", "a file beside the table")
        if not keys and not day:
            raise table.wrong("keys", "nothing says which rows belong together", "keys or day")
        if day and not zone:
            raise table.wrong("zone", "days begin at different times", "a zone, such as UTC")
        keep = []
        for place, text in enumerate(table.take("keep", list, []), 1):
            one = self._table(f"[join.{name}] keep {place}", {"keep": text})
            keep.append(one.expression("keep"))
        metrics = []
        for metric, inner in table.tables("metrics").items():
            one = self._table(f"[join.{name}.metrics.{metric}]", inner)
            expression = one.expression("of")
            take: Any = one.word("take", ("max", "min", "mean", "sum"), "mean")
            if expression is None:
                raise one.wrong("of", "it is missing", "an expression on its columns")
            metrics.append(LookedUpMetric(metric, expression, take))
            one.done()
        table.done()
        pairs = tuple((its, str(ours)) for its, ours in keys.items())
        picked = tuple(one for one in keep if one is not None)
        return Join(name, file, pairs, day, zone, picked, tuple(metrics))


def _instant(found: datetime | str, table: TomlTable) -> int:
    """An instant with its offset. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(found) if isinstance(found, str) else found
    except ValueError:
        moment = datetime.min  # noqa: DTZ901 - has no zone on purpose
    if moment.tzinfo is None:
        raise table.wrong("began_by", f"{found} has no zone", "such as 2026-03-26T07:00:00Z")
    return to_ns(moment)
