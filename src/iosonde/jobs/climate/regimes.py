"""Climates of a file system: days in which all motifs and their environment stay at one level together.

A row a day: median ln fraction of peak of each motif, and the median of one metric a group (metrics of a group
say nearly the same). Which stretches are one climate that came back is ``stats.regime_search``' to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from iosonde.jobs.climate.metrics import Safe, by_day
from iosonde.jobs.table.derived import FRACTION
from iosonde.model.units import DAY_NS
from iosonde.stats.regime_search import KNOWN_SHARE, Regimes, known_median, noise_scale, regimes

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places
    from iosonde.model.jobs import JobTable


STANDS_OUT = 1.0
"""Least distance from the previous span, in day-to-day standard deviations, to describe a climate."""
MOST_TOLD = 3
FEWEST_COLUMNS = 3
"""Least number of motifs and metrics for climates: with one or two, noise alone makes some."""


class Distinct(NamedTuple):
    """Distinguishing metric of a span, in ``unit``: its median and the ``other``; ``z`` in day-to-day deviations.

    ``against`` "before": the stretch before it; of the first one "usual": all days.
    """

    name: str
    label: str
    unit: str
    median: float
    other: float
    against: Literal["before", "usual"]
    z: float


@dataclass(frozen=True)
class Regime:
    """Days from ``start_ns`` to before ``end_ns`` (UTC midnights) of one climate.

    ``name``: A, B, ... in order of appearance; the same climate has the same name. ``days``: of which enough is known.
    ``ln_performance``: median over days and motifs of ln fraction of peak. ``distinct``: what it differs in.
    """

    name: str
    start_ns: int
    end_ns: int
    days: int
    ln_performance: float
    distinct: tuple[Distinct, ...]


@dataclass(frozen=True)
class FileSystemClimate:
    """Climates of a file system in order. ``columns``: motifs and metrics analysed together.

    No regimes: there are too few columns. ``alike``: how much a day resembles the one before it, within a climate.
    """

    file_system: str
    regimes: tuple[Regime, ...]
    motifs: tuple[str, ...]
    metrics: tuple[str, ...]
    alike: float

    @property
    def climates(self) -> int:
        """Number of different climates."""
        return len({regime.name for regime in self.regimes})

    def at(self, ns: int) -> Regime | None:
        """The climate of an instant."""
        return next((r for r in self.regimes if r.start_ns <= ns < r.end_ns), None)


class _Column(NamedTuple):
    name: str
    label: str
    unit: str
    values: Floats


def climates_of(table: JobTable, safe: tuple[Safe, ...]) -> tuple[FileSystemClimate, ...]:
    """Climates of every file system of ``table`` (rows in order of begin, with a fraction of peak)."""
    return tuple(_climate(table, place, safe) for place in sorted(set(table.file_system.tolist())))


def _climate(table: JobTable, place: str, safe: tuple[Safe, ...]) -> FileSystemClimate:
    rows = np.flatnonzero(table.file_system == place)
    ln = np.log(table.metrics[FRACTION][rows])
    motifs = _regular(table, rows)
    runs = {motif: some for (motif,), some in table.take(rows).alike("motif").items()}
    columns = []
    for motif in motifs:
        values = np.full(len(rows), np.nan)
        values[runs[motif]] = ln[runs[motif]]
        columns.append(_Column(motif, motif, "ratio", values))
    columns += _one_a_group(rows, safe)
    if len(columns) < FEWEST_COLUMNS:
        return FileSystemClimate(place, (), tuple(motifs), (), float("nan"))
    first, days = by_day(table.start_ns[rows], {c.name: c.values for c in columns})
    found = regimes(days)
    made = _stretches(columns, len(motifs), days, found, first)
    metrics = tuple(column.name for column in columns[len(motifs) :])
    return FileSystemClimate(place, made, tuple(motifs), metrics, found.alike)


def _regular(table: JobTable, rows: Places) -> list[str]:
    """Motifs on at least half as many days as the most regular one: rare ones miss most days."""
    names, of = np.unique(table.motif[rows].astype(str), return_inverse=True)
    pairs = np.unique(np.column_stack([of, table.start_ns[rows] // DAY_NS]), axis=0)
    days = np.bincount(pairs[:, 0], minlength=len(names))
    return [str(name) for name in names[days >= KNOWN_SHARE * days.max()]]


def _stretches(
    columns: list[_Column], motifs: int, days: Floats, found: Regimes, first: int
) -> tuple[Regime, ...]:
    """Regimes in order; adjacent ones of one climate are merged."""
    begins = [
        (int(start), int(climate), i)
        for i, (start, climate) in enumerate(zip(found.starts, found.climate, strict=True))
        if i == 0 or climate != found.climate[i - 1]
    ]
    begins[0] = (0, *begins[0][1:])
    usual, scales = _usual(days)
    against: Literal["before", "usual"] = "usual"
    before, made = usual, []
    for (begin, climate, i), (end, _, j) in pairwise([*begins, (len(days), -1, len(found.starts))]):
        inside = days[begin:end]
        performance = inside[:, :motifs][~np.isnan(inside[:, :motifs])]
        medians = known_median(inside)
        made.append(
            Regime(
                letters(climate),
                (first + begin) * DAY_NS,
                (first + end) * DAY_NS,
                int(found.days[i:j].sum()),
                float(np.median(performance)) if len(performance) else float("nan"),
                _distinct(columns, motifs, medians, before, scales, against),
            )
        )
        before, against = medians, "before"
    return tuple(made)


def _one_a_group(rows: Places, safe: tuple[Safe, ...]) -> list[_Column]:
    """The metric with most known runs of each group, the first of equal ones; an ungrouped metric is its own group."""
    best: dict[str, tuple[int, Safe]] = {}
    for one in safe:
        known = one.values[rows][np.isfinite(one.values[rows])]
        if len(known) == 0 or known.min() == known.max():
            continue
        group = one.about.group or one.name
        if group not in best or len(known) > best[group][0]:
            best[group] = (len(known), one)
    return [
        _Column(one.name, one.about.label, one.about.unit, one.values[rows])
        for _, one in best.values()
    ]


def _usual(days: Floats) -> tuple[Floats, Floats]:
    """Median and day-to-day deviation of each column; NaN and 0 without known values."""
    usual, scales = np.full(days.shape[1], np.nan), np.zeros(days.shape[1])
    for place, column in enumerate(days.T):
        known = column[~np.isnan(column)]
        if len(known):
            usual[place], scales[place] = np.median(known), noise_scale(known)
    return usual, scales


def _distinct(  # noqa: PLR0917
    columns: list[_Column],
    motifs: int,
    medians: Floats,
    others: Floats,
    scales: Floats,
    against: Literal["before", "usual"],
) -> tuple[Distinct, ...]:
    found = []
    for place, column in enumerate(columns):
        pair = (float(medians[place]), float(others[place]))
        if scales[place] == 0 or not np.isfinite(pair).all():
            continue
        z = float((pair[0] - pair[1]) / scales[place])
        now, then = (float(np.exp(v)) for v in pair) if place < motifs else pair
        if abs(z) >= STANDS_OUT:
            found.append(Distinct(column.name, column.label, column.unit, now, then, against, z))
    return tuple(sorted(found, key=lambda d: -abs(d.z))[:MOST_TOLD])


def letters(number: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA."""
    text = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("A") + place) + text
    return text
