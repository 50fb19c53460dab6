"""T15: what a published year of benchmark runs says about two slow months, from its table."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from benchmarks.truth.target import Row
from iosonde.connectors.source import Settings
from iosonde.jobs.correlate.correlate import Correlation, correlate
from iosonde.jobs.table.from_files import load_tables
from iosonde.model.jobs import JobTable
from iosonde.model.units import to_ns
from tests.kit.samples.latencies import DATA

YEAR = DATA / "umami" / "tables" / "year_edison.csv.gz"
_SINCE, _UNTIL = datetime(2017, 2, 14, tzinfo=UTC), datetime(2017, 3, 16, tzinfo=UTC)
_DIGIT = 0.0051
"""Published with two digits."""
CASES = {
    "scratch1": {"n": 33, "cf_bandwidth_ratio": (0.88, 0.61), "days": {24: 3.4}},
    "scratch3": {
        "n": 32,
        "oss_cpu_max_percent": (-0.93, -0.77),
        "fullest_ost_percent": (-0.75, -0.81),
        "days": {6: 13.1, 7: 11.7},
    },
}
"""File system -> runs, Pearson's and Spearman's coefficients, GiB/s of the days that the case is about."""


def t15(seed: int, scale: float = 1.0) -> list[Row]:  # noqa: ARG001 - data, not draws
    """Two cases of the year's table; no rows where the table is not to be had."""
    if not YEAR.is_file():
        print(f"T15: no {YEAR} (IOSONDE_DATA)")
        return []
    (loaded,) = load_tables([YEAR], [], Settings(), print)
    return [row for system in CASES for row in _case(loaded.table, system)]


def _case(table: JobTable, system: str) -> list[Row]:
    rows = (table.file_system == system) & (table.motif == "hacc_io_write fpp write")
    rows &= (table.start_ns >= to_ns(_SINCE)) & (table.start_ns < to_ns(_UNTIL))
    case = table.take(rows)
    found: dict[str, Correlation] = {one.metric: one for one in correlate(case, by=()).rows}
    gib = case.metrics["performance_bytes_per_s"] / 2**30
    days = [datetime.fromtimestamp(ns / 1e9, UTC).day for ns in case.start_ns.tolist()]
    told = []
    for name, value in CASES[system].items():
        if isinstance(value, int):
            told.append(_row(f"{system}: runs", len(case), value, 0.0))
        elif isinstance(value, tuple):
            one = found[name]
            told.append(_row(f"{system}: Pearson {name}", one.pearson, value[0]))
            told.append(_row(f"{system}: Spearman {name}", one.spearman, value[1]))
        else:
            slow = {days[row]: float(gib[row]) for row in np.argsort(gib)[:4].tolist()}
            for day, rate in value.items():
                what = f"{system}: GiB/s of day {day}, among the slowest four"
                told.append(_row(what, slow.get(day), rate, 0.051))
    return told


def _row(what: str, measured: float | None, wanted: float, off: float = _DIGIT) -> Row:
    value = float("nan") if measured is None else float(measured)
    return Row("T15", what, value, wanted - off, wanted + off, f"{wanted:g}", "-")
