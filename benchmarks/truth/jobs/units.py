"""Units that change in the middle of a history, and fractions in columns of percents: found, and found in vain.

Histories of 30 to 200 runs by seven laws; a unit changes at a fifth to four fifths of them, for good or for a while.
The nulls are the same histories without a change, with true steps by any factor from 2 to 300, and columns of
near-idle servers below 1%.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.latency import Floats
from iosonde.jobs.table.unit_checks import FACTORS, units_checked
from iosonde.model.jobs import JobTable

Law = Callable[[np.random.Generator, int], Floats]
COLUMNS = {
    "bytes": "server_written_bytes",
    "bytes/s": "performance_bytes_per_s",
    "s": "own_io_s",
}
_PER_LAW = 160
_DAY_NS = 86_400 * 10**9


def _walk(random: np.random.Generator, n: int) -> Floats:
    """Autocorrelated: AR(1), 0.9."""
    steps, at = random.standard_normal(n), 0.0
    found = np.empty(n)
    for place, step in enumerate(steps):
        at = 0.9 * at + step * 0.3
        found[place] = at
    return np.exp(found)


def _two_modes(random: np.random.Generator, n: int) -> Floats:
    """Cached or not: a mode eight times the other, at random."""
    return np.exp(0.2 * random.standard_normal(n)) * np.where(random.random(n) < 0.4, 8.0, 1.0)


LAWS: dict[str, Law] = {
    "lognormal 0.1": lambda random, n: np.exp(0.1 * random.standard_normal(n)),
    "lognormal 0.5": lambda random, n: np.exp(0.5 * random.standard_normal(n)),
    "lognormal 1": lambda random, n: np.exp(random.standard_normal(n)),
    "heavy tail (t3)": lambda random, n: np.exp(0.4 * random.standard_t(3, n)),
    "two modes": _two_modes,
    "AR(1) 0.9": _walk,
    "drift x3": lambda random, n: np.exp(
        0.15 * random.standard_normal(n) + np.linspace(0, np.log(3), n)
    ),
}


def units(seed: int, scale: float = 1.0) -> list[Row]:
    """Per law: changes that are found (with the right side named), and words on histories without one."""
    rows = []
    per_law = max(20, round(_PER_LAW * scale))
    for place, (name, law) in enumerate(LAWS.items()):
        random = np.random.default_rng((seed, place))
        found = sum(_changed(random, law) for _ in range(per_law))
        vain = sum(_unchanged(random, law) for _ in range(per_law))
        steps = sum(_stepped(random, law) for _ in range(per_law))
        for column, hits, least, most in (
            ("change found", found, 0.5, 1.0),
            ("no change", vain, 0.0, 0.01),
            ("true step", steps, 0.0, 0.1),
        ):
            rate, error = share(hits, per_law)
            rows.append(Row("units", name, rate, least, most, "0", "-", error, column=column))
    random = np.random.default_rng((seed, 99))
    for what, case, low, high in (
        ("fullness as a fraction", _fraction, 0.95, 1.0),
        ("one run's fullness as a fraction", _stray, 0.95, 1.0),
        ("mean CPU below 1%", _idle, 0.0, 0.01),
    ):
        rate, error = share(sum(case(random) for _ in range(per_law)), per_law)
        rows.append(Row("units", what, rate, low, high, "0", "-", error))
    return rows


def history(metric: str, values: Floats) -> JobTable:
    """Runs of one kind, a day apart."""
    n = len(values)
    begin = 1_790_000_000 * 10**9 + np.arange(n, dtype=np.int64) * _DAY_NS
    return JobTable(
        job_id=np.array([str(place) for place in range(n)], dtype=object),
        step=np.full(n, "", dtype=object),
        start_ns=begin,
        end_ns=begin + 10**11,
        file_system=np.full(n, "work", dtype=object),
        motif=np.full(n, "app shared write", dtype=object),
        metrics={metric: values},
        abouts={},
        flags={},
        source="made",
    )


def flagged_rows(table: JobTable) -> set[int]:
    """Rows with the flag of a wrong unit."""
    found = units_checked(table, [])
    return {row for (row, _), flags in found.flags.items() if "wrong-unit" in flags}


def _drawn(random: np.random.Generator, law: Law) -> Floats:
    return law(random, int(random.integers(30, 201)))


def _changed(random: np.random.Generator, law: Law) -> bool:
    """Whether a change is found, and exactly its rarer side."""
    values = _drawn(random, law)
    n = len(values)
    unit = str(random.choice(list(COLUMNS)))
    factor = float(random.choice([one for one in FACTORS[unit] if one >= 60]))
    begin = int(n * random.uniform(0.2, 0.8))
    end = n if random.random() < 0.7 else min(n, begin + max(3, n // 5))
    changed = np.arange(begin, end)
    values[changed] *= factor if random.random() < 0.5 else 1 / factor
    rarer = changed if len(changed) <= n - len(changed) else np.setdiff1d(np.arange(n), changed)
    found = flagged_rows(history(COLUMNS[unit], 1e9 * values))
    return found in (set(rarer.tolist()), set(changed.tolist()))


def _unchanged(random: np.random.Generator, law: Law) -> bool:
    unit = str(random.choice(list(COLUMNS)))
    return bool(flagged_rows(history(COLUMNS[unit], 1e9 * _drawn(random, law))))


def _stepped(random: np.random.Generator, law: Law) -> bool:
    """A lasting step by any factor: what is near one between units cannot be told from it."""
    values = _drawn(random, law)
    begin = int(len(values) * random.uniform(0.2, 0.8))
    values[begin:] *= np.exp(random.uniform(np.log(2), np.log(300)))
    unit = str(random.choice(list(COLUMNS)))
    return bool(flagged_rows(history(COLUMNS[unit], 1e9 * values)))


def _fraction(random: np.random.Generator) -> bool:
    """A whole column of fractions; every run is read as percent."""
    n = int(random.integers(3, 201))
    values = np.clip(random.uniform(0.1, 0.9) + 0.02 * random.standard_normal(n), 0.02, 1)
    return len(flagged_rows(history("fullest_ost_percent", values))) == n


def _stray(random: np.random.Generator) -> bool:
    """The last run alone: 0.656 among runs of 60 to 70."""
    n = int(random.integers(12, 201))
    values = np.clip(random.uniform(20, 90) + 2 * random.standard_normal(n), 11, 100)
    values[-1] /= 100
    return flagged_rows(history("fullest_ost_percent", values)) == {n - 1}


def _idle(random: np.random.Generator) -> bool:
    """The mean CPU of servers that do next to nothing, in percent."""
    n = int(random.integers(30, 201))
    values = 0.3 * np.exp(0.3 * random.standard_normal(n))
    return bool(flagged_rows(history("mds_cpu_mean_percent", values)))
