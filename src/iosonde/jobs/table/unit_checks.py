"""Detection of wrong units: fractions in a column of percents, and a unit that changed within a history.

A history is a metric's values by time: of servers those of a file system, of what jobs did or reached those of a kind
of jobs. Its unit changed where logarithms fall into two groups (2-means), each in one piece of time or one of them in
the middle of the other, with hardly a value half-way between them, that differ by the factor between two units: by
their means or medians, or those next to the change. The tolerance is 5% and three standard errors, of as many values
as are independent: n (1 - r) / (1 + r), r the correlation of neighbours.

Fractions are read as percent where that is sure: a group that is 100 times as small as the others, a fullest OST that
never exceeds 1, the highest CPU of a server over ten runs that never does. Of other units nothing says which one is
right: the group of fewer runs is missing, for the reason "wrong-unit".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.table.cells import flagged, without
from iosonde.model.frames import NULL_NS
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iosonde.model.arrays import Flags, Floats, Places
    from iosonde.model.jobs import JobTable

LEAST, LEAST_SIDE = 10, 3
"""Least number of values of a history, and of a group."""
TOLERANCE = 0.05
"""Tolerance of ln of the factor, in addition to three standard errors."""
_MOST_TOLERANCE = 0.7
_EXCEPTIONS = 0.04
"""Largest share of values of a group within the other one's period, and of values between the groups."""
_NEAR = 12
"""Number of values compared on either side of a change: a history may drift."""
_LOOK = 2000
"""Most values examined; longer histories are thinned out evenly."""
_POWERS = (1e3, 1024.0, 1e6, 1024.0**2, 1e9, 1024.0**3)
FACTORS: dict[str, tuple[float, ...]] = {
    "bytes": _POWERS,
    "bytes/s": _POWERS,
    "s": (60.0, 1e3, 3600.0, 1e6, 1e9),
    "percent": (100.0,),
}
"""Factors between units of a column. Counts have no other units."""
_LEAST_WIDTH = 30.0
"""Least ratio of the largest to the smallest value of a history with two units."""
_FULLNESS = ("fullest_ost_percent", "emptiest_ost_percent", "mean_fullness_percent")
_LEADERS = {
    "fullest_ost_percent": (_FULLNESS, 3),
    "oss_cpu_max_percent": (("oss_cpu_max_percent", "oss_cpu_mean_percent"), LEAST),
    "mds_cpu_max_percent": (("mds_cpu_max_percent", "mds_cpu_mean_percent"), LEAST),
}
"""Metrics that no system keeps below 1%: metrics in the same unit, and least number of runs."""
_LEAST_FRACTION = 0.02
_KINDS = ("own", "performance", "effect")


class UnitChange(NamedTuple):
    """Two units in one history."""

    low: Flags
    """(n,) values of the group with smaller numbers."""
    factor: float


class UnitHistory(NamedTuple):
    """Rows to compare, in time order."""

    name: str
    rows: Places


def units_checked(table: JobTable, notes: list[Note]) -> JobTable:
    """The table with fractions as percent, and without numbers of another unit; each with the flag "wrong-unit"."""
    table = _all_fractions(table, notes)
    of_systems, of_kinds = _strata(table)
    for name in list(table.metrics):
        about = table.about(name)
        factors = FACTORS.get(about.unit)
        if factors is None or not _wide(table.metrics[name]):
            continue
        for where, rows in of_kinds if about.role in _KINDS else of_systems:
            change = unit_change(table.metrics[name][rows], factors)
            if change is not None:
                table = _mended(table, name, rows, change, (where, notes))
    return _stray_fractions(table, of_systems, notes)


def unit_change(values: Floats, factors: tuple[float, ...]) -> UnitChange | None:
    """Change of unit in a history (n,) in time order; None without one. NaN, zeros and below are left out."""
    known = np.flatnonzero(values > 0)
    if len(known) < LEAST:
        return None
    every = max(1, len(known) // _LOOK)
    logs = np.log(values[known[::every]])
    middle = _between(logs)
    if middle is None:
        return None
    low = logs < middle
    pieces = _smoothed(low)
    changes = np.flatnonzero(pieces[1:] != pieces[:-1]) + 1
    if not 1 <= len(changes) <= 2 or float((low != pieces).mean()) > _EXCEPTIONS:
        return None
    factor = _factor(logs, low, pieces, changes, factors)
    if factor is None:
        return None
    whole = np.zeros(len(values), dtype=bool)
    if every == 1:
        whole[known] = pieces
    else:
        whole[known] = np.log(values[known]) < middle
    return UnitChange(whole, factor)


def _between(logs: Floats) -> float | None:
    """Boundary between two well separated groups (2-means); None: there are none."""
    low, high = float(logs.min()), float(logs.max())
    for _ in range(20):
        middle = (low + high) / 2
        under = logs < middle
        n = int(under.sum())
        if not LEAST_SIDE <= n <= len(logs) - LEAST_SIDE:
            return None
        now = float(logs[under].mean()), float(logs[~under].mean())
        if now == (low, high):
            break
        low, high = now
    middle = (low + high) / 2
    half_way = np.abs(logs - middle) < (high - low) / 6
    return None if float(half_way.mean()) > _EXCEPTIONS else middle


def _smoothed(low: Flags) -> Flags:
    """Group of each value by the majority of the five around it; by itself at the ends."""
    if len(low) < 5:
        return low
    total = np.convolve(low.astype(np.int64), np.ones(5, dtype=np.int64), mode="valid")
    found = low.copy()
    found[2:-2] = total >= 3
    return found


def _factor(
    logs: Floats, low: Flags, pieces: Flags, changes: Places, factors: tuple[float, ...]
) -> float | None:
    """Factor between two units by which the groups differ; None: none."""
    own = low == pieces
    near = np.zeros(len(logs), dtype=bool)
    for place in changes.tolist():
        near[max(0, place - _NEAR) : place + _NEAR] = True
    for among in (own, own & near):
        below, above = logs[among & low], logs[among & ~low]
        if min(len(below), len(above)) < LEAST_SIDE:
            continue
        for apart, error in _differences(below, above):
            tolerance = TOLERANCE + 3 * error
            off, factor = min((abs(apart - math.log(one)), one) for one in factors)
            if off <= tolerance <= _MOST_TOLERANCE:
                return factor
    return None


def _differences(below: Floats, above: Floats) -> Iterator[tuple[float, float]]:
    """Difference of two groups and its standard error: by means, and by medians."""
    parts = [(_spread(one), _independent(one)) for one in (below, above)]
    mean = math.hypot(
        *(
            float(one.std()) / math.sqrt(n)
            for one, (_, n) in zip((below, above), parts, strict=True)
        )
    )
    median = math.hypot(*(1.25 * spread / math.sqrt(n) for spread, n in parts))
    yield float(above.mean() - below.mean()), mean
    yield float(np.median(above) - np.median(below)), median


def _spread(logs: Floats) -> float:
    """MAD, scaled to sigma."""
    return 1.4826 * float(np.median(np.abs(logs - np.median(logs))))


def _independent(logs: Floats) -> float:
    """Number of independent values in a part of a history."""
    apart = logs - logs.mean()
    variance = float((apart**2).sum())
    r = float((apart[1:] * apart[:-1]).sum()) / variance if variance > 0 else 0.0
    r = min(max(r, 0.0), 0.95)
    return max(1.0, len(logs) * (1 - r) / (1 + r))


def _wide(values: Floats) -> bool:
    """True if the range of values allows for two units."""
    known = values[values > 0]
    if len(known) < LEAST:
        return False
    return math.log(known.max()) - math.log(known.min()) >= math.log(_LEAST_WIDTH)


def _strata(table: JobTable) -> tuple[list[UnitHistory], list[UnitHistory]]:
    """Histories of file systems, and of kinds of jobs on them: name, and rows in time order."""
    kinds = table.strata()
    systems: dict[str, list[Places]] = {}
    for (system, _), rows in kinds.items():
        systems.setdefault(system, []).append(rows)
    of_systems = [
        history
        for system, parts in systems.items()
        if (history := _in_time(table, system, np.concatenate(parts))) is not None
    ]
    of_kinds = [
        history
        for (system, motif), rows in kinds.items()
        if (history := _in_time(table, " on ".join(filter(None, (motif, system))), rows))
        is not None
    ]
    return of_systems, of_kinds


def _in_time(table: JobTable, name: str, rows: Places) -> UnitHistory | None:
    """A history; None if it is too short."""
    rows = rows[table.start_ns[rows] != NULL_NS]
    if len(rows) < LEAST:
        return None
    return UnitHistory(name, rows[np.argsort(table.start_ns[rows], kind="stable")])


def _mended(
    table: JobTable, name: str, rows: Places, change: UnitChange, told: tuple[str, list[Note]]
) -> JobTable:
    """The table with fractions as percent; for other units the group of fewer runs becomes missing."""
    where, notes = told
    values = table.metrics[name][rows]
    about = table.about(name)
    mine = np.zeros(len(table), dtype=bool)
    if about.unit == "percent":
        if float(values[change.low].max()) > 1:
            return table
        mine[rows[change.low]] = True
        return _as_percent(table, name, mine, (where, notes))
    high = ~change.low & (values > 0)
    fewer = change.low if change.low.sum() <= high.sum() else high
    mine[rows[fewer]] = True
    what = (
        f"{table.source}: {about.label}{_of(where)} changes its unit by a factor of "
        f"{change.factor:,.0f}: the {int(mine.sum())} runs in the rarer one are missing"
    )
    notes.append(Note("wrong-unit", what, int(mine.sum())))
    return without(table, name, mine, "wrong-unit")


def _all_fractions(table: JobTable, notes: list[Note]) -> JobTable:
    """The table with columns of percents that are fractions throughout converted."""
    for leader, (names, least) in _LEADERS.items():
        if leader not in table.metrics:
            continue
        for system in dict.fromkeys(table.file_system.tolist()):
            here = np.asarray(table.file_system == system, dtype=bool)
            values = table.metrics[leader][here]
            known = values[values > 0]
            if len(known) < least or not _LEAST_FRACTION <= float(known.max()) <= 1:
                continue
            for name in names:
                if name in table.metrics:
                    small = here & (table.metrics[name] <= 1)
                    table = _as_percent(table, name, small, (str(system), notes))
    return table


def _stray_fractions(table: JobTable, of_systems: list[UnitHistory], notes: list[Note]) -> JobTable:
    """Convert single runs whose fullness is a fraction among percents: a hundred times it fits the others."""
    for name in _FULLNESS:
        if name not in table.metrics:
            continue
        for where, rows in of_systems:
            values = table.metrics[name][rows]
            small, others = (values > 0) & (values <= 1), values[values > 10]
            if not small.any() or len(others) < LEAST - 2 or small.sum() > len(others):
                continue
            middle = float(np.median(others))
            fits = small & (np.abs(100 * values / middle - 1) <= 0.5)
            if fits.any():
                mine = np.zeros(len(table), dtype=bool)
                mine[rows[fits]] = True
                table = _as_percent(table, name, mine, (where, notes))
    return table


def _as_percent(table: JobTable, name: str, rows: Flags, told: tuple[str, list[Note]]) -> JobTable:
    where, notes = told
    rows = rows & ~np.isnan(table.metrics[name])
    if not rows.any():
        return table
    what = f"{table.source}: {table.about(name).label}{_of(where)} is a fraction, read as percent"
    notes.append(Note("wrong-unit", what, int(rows.sum())))
    column = np.where(rows, 100 * table.metrics[name], table.metrics[name])
    return flagged(table.with_metrics({name: column}), name, rows, "wrong-unit")


def _of(where: str) -> str:
    return f" of {where}" if where else ""
