"""Samples of other tools for the store: inference of their schedule, and selection of new ones.

A file is known by ``known_by``, and a longer version of it takes the place of what was imported of it. Beyond that, a
sample that another file of the store holds, equal in every column, is left out: what was exported can come back.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.engine import reader
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_TYPES, SCHEMA_VERSION
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.segments import parquet_segments, segment_keys
from iosonde.engine.reader import SampleFilter
from iosonde.engine.spool import NULL_SQL, literal
from iosonde.model.frames import Frame
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS
from iosonde.weather.samples.parts import (
    ForeignRows,
    PartsWritten,
    count_rows,
    imported_files,
    remove,
    write_days,
    writing,
)

_FEWEST_STEPS, _NEAR, _REGULAR = 3, 0.1, 0.8
"""Regular schedule: least number of steps, tolerance around their median, and share within it."""
_DIGITS = 3
_OWN = tuple(name for name in SAMPLE_TYPES if name != "schema_version")
_SERIES = ("host", "target", "op")


class Schedules(NamedTuple):
    """Schedules inferred from due times."""

    regular: dict[int, int]
    """Period in ns -> number of series with it."""
    irregular: int
    """Number of series with due times and no regular step: their operations count as due at their start."""


class SampleStaging:
    """Samples of one file. Use as a context."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._con = connect()
        columns = ", ".join(f"{name} {SAMPLE_TYPES[name]}" for name in _OWN)
        self._con.execute(f"CREATE TEMP TABLE staged (due_given BOOLEAN, {columns})")

    def __enter__(self) -> SampleStaging:
        return self

    def __exit__(self, *error: object) -> None:
        self._con.close()

    def add(self, rows: Frame) -> None:
        """Add rows with the columns of samples.toml but ``schema_version``, and ``due_given``; ``NULL_NS`` is null.

        A null ``period_ns`` is one that ``find_periods`` finds.
        """
        values = [
            f"nullif({name}, {NULL_SQL})" if rows[name].dtype == np.int64 else name for name in _OWN
        ]
        self._con.register("chunk", dict(rows.columns))
        self._con.execute(f"INSERT INTO staged SELECT due_given, {', '.join(values)} FROM chunk")
        self._con.unregister("chunk")

    def find_periods(self, given_ns: int | None) -> Schedules:
        """Fill in missing periods: ``given_ns``, else the regular step of due times, else 0."""
        con = self._con
        if given_ns is not None:
            con.execute(f"UPDATE staged SET period_ns = {int(given_ns)} WHERE period_ns IS NULL")
        key = ", ".join(_SERIES)
        con.execute(
            f"CREATE TEMP TABLE steps AS SELECT {key}, due_ns - lag(due_ns) OVER "
            f"(PARTITION BY {key} ORDER BY due_ns) AS step FROM "
            f"(SELECT DISTINCT {key}, due_ns FROM staged WHERE due_given AND period_ns IS NULL)"
        )
        found = con.execute(
            f"WITH middles AS (SELECT {key}, median(step) AS middle FROM steps GROUP BY ALL) "
            f"SELECT {key}, any_value(middle), count(step), "
            f"avg((abs(step - middle) <= {_NEAR} * middle)::INTEGER) "
            f"FROM steps JOIN middles USING ({key}) GROUP BY ALL"
        ).fetchall()
        regular: dict[int, int] = {}
        for host, target, op, middle, n, share in found:
            if n >= _FEWEST_STEPS and share >= _REGULAR:
                period = round(float(f"{middle:.{_DIGITS}g}"))
                regular[period] = regular.get(period, 0) + 1
                con.execute(
                    "UPDATE staged SET period_ns = ? WHERE period_ns IS NULL "
                    "AND host = ? AND target = ? AND op = ?",
                    [period, host, target, op],
                )
        con.execute(
            "UPDATE staged SET period_ns = 0, due_ns = coalesce(began_ns, due_ns) "
            "WHERE period_ns IS NULL"
        )
        return Schedules(regular, len(found) - sum(regular.values()))

    def span_ns(self) -> tuple[int, int] | None:
        """Due times of the first and the last operation; None without rows."""
        found = self._con.execute("SELECT min(due_ns), max(due_ns) FROM staged").fetchone()
        return None if found is None or found[0] is None else (found[0], found[1])

    def targets(self) -> list[str]:
        """Targets of the rows, sorted."""
        rows = self._con.execute("SELECT DISTINCT target FROM staged ORDER BY 1").fetchall()
        return [target for (target,) in rows]

    def write(self, known_by: str) -> PartsWritten:
        """Write new samples, a Parquet file per host and day. Raises StoreError."""
        stem = f"import-{known_by}-samples"
        older = imported_files(self._root).get(stem, [])
        with writing(self._root):
            total = self._one("SELECT count(*) FROM staged")
            fresh = self._fresh(older)
            count = self._one(f"SELECT count(*) FROM {fresh}")
            if count_rows(self._con, older) >= count:
                return PartsWritten([], 0, total)
            files: list[Path] = []
            hosts = self._con.execute(f"SELECT DISTINCT host FROM {fresh} ORDER BY 1").fetchall()
            columns = ", ".join(
                f"{SCHEMA_VERSION}::UTINYINT AS {name}" if name == "schema_version" else name
                for name in SAMPLE_TYPES
            )
            for (host,) in hosts:
                sql = f"SELECT {columns} FROM {fresh} WHERE host = {literal(host)}"
                files += write_days(self._con, self._root, ForeignRows(host, stem, sql))
            remove(self._root, older, files)
            return PartsWritten(files, count, total - count)

    def _fresh(self, older: list[Path]) -> str:
        """Name of a table with the samples that no other file of the store has."""
        span = self.span_ns()
        if span is None:
            return "staged"
        scope = SampleFilter(since_ns=span[0], until_ns=span[1] + 1)
        hosts = {
            slug(host)
            for (host,) in self._con.execute("SELECT DISTINCT host FROM staged").fetchall()
        }
        # The spool first: what is sealed meanwhile is then found there (engine/reader.py).
        live = reader.live_rows(self._root, scope)
        day = utc_date(span[0] - DAY_NS)
        sealed = parquet_segments(self._root, day)
        rows = [
            found
            for key, found in live.items()
            if key[0] in hosts and key not in segment_keys(sealed)
        ]
        others = [one.path for one in sealed if one.host in hosts and one.path not in older]
        if not rows and not others:
            return "staged"
        reader.look_at_rows(self._con, rows, scope)
        reader.look_at(self._con, others, scope)
        names = ", ".join(_OWN)
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT {names} FROM staged "
            f"EXCEPT ALL SELECT {names} FROM samples"
        )
        return "fresh"

    def _one(self, sql: str) -> int:
        return int((self._con.execute(sql).fetchone() or (0,))[0])
