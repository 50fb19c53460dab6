"""Data of a climate figure: a pane per motif and file system, before anything is drawn.

::

    strip of climates   A | B | A | C         a column a file system
    pane                runs, the median of each segment, a line at each change with its interval shaded
    pane                ...                   a row a motif
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.drawing.sheet import plain
from iosonde.jobs.climate.climate import Climate
from iosonde.jobs.climate.regimes import FileSystemClimate
from iosonde.jobs.climate.series import JobSeries, LevelChange
from iosonde.model.json_types import JsonObject, Second, Seconds, Values
from iosonde.model.text import clean_text

HIGHEST = 1.05
"""Upper end of a pane's axis: the best run and a margin."""
MOST_ROWS = 20
"""Most motifs drawn: those with most runs."""
Y_LABEL = "fraction of peak"
"""Label of a pane's axis: a share of the best run, without unit."""
_MORE = 0.01
_DAY_S = 86_400.0


@dataclass(frozen=True)
class LevelMark(JsonObject):
    """A segment: its median, with the middle half of runs about ``mad`` around it."""

    start_s: Second
    end_s: Second
    median: float
    mad: float


@dataclass(frozen=True)
class ShiftMark(JsonObject):
    """A change at ``at_s``, somewhere between ``earliest_s`` and ``latest_s``."""

    at_s: Second
    earliest_s: Second
    latest_s: Second
    rose: bool


@dataclass(frozen=True)
class ClimateBand(JsonObject):
    """A climate; ``climate``: number of its name, so that one that came back looks the same."""

    name: str
    climate: int
    start_s: Second
    end_s: Second


@dataclass(frozen=True)
class ClimatePane(JsonObject):
    """A series. ``times_s``, ``values`` (n,): begin and fraction of peak of each run.

    ``series``: which one of ``Climate.series``; its segments and changes are ``levels`` and ``shifts``.
    """

    series: int
    motif: str
    times_s: Seconds
    values: Values
    levels: tuple[LevelMark, ...]
    shifts: tuple[ShiftMark, ...]


@dataclass(frozen=True)
class ClimateColumn(JsonObject):
    """A file system: its climates, and a pane for each row's motif; None where it has too few runs of it.

    ``place``: which one of ``Climate.regimes``, whose stretches are ``bands``.
    """

    place: int
    file_system: str
    bands: tuple[ClimateBand, ...]
    panes: tuple[ClimatePane | None, ...]


@dataclass(frozen=True)
class ClimateFigure(JsonObject):
    """All columns over the range of time of what is drawn (s since the epoch).

    ``y_label``: what all panes count. ``caption``: how to read it, and the events.
    """

    title: str
    motifs: tuple[str, ...]
    columns: tuple[ClimateColumn, ...]
    since_s: Second
    until_s: Second
    caption: tuple[str, ...]
    y_label: str = Y_LABEL


def climate_figure(found: Climate, sentences: Sequence[str] = ()) -> ClimateFigure:
    """The figure of a climate; ``sentences``: of its events, for the caption."""
    motifs, left_out = _drawn(found)
    by_key = {(one.file_system, one.motif): (i, one) for i, one in enumerate(found.series)}
    drawn = {fs for fs, _ in by_key}
    columns = tuple(
        ClimateColumn(
            number,
            clean_text(place.file_system),
            _bands(place),
            tuple(_pane(by_key.get((place.file_system, motif))) for motif in motifs),
        )
        for number, place in enumerate(found.regimes)
        if place.file_system in drawn
    )
    since, until = _span(found, motifs)
    air = max(_DAY_S, _MORE * (until - since))
    n = sum(len(one.values) for one in found.series)
    return ClimateFigure(
        title=f"Climate of {len(columns)} file system{'' if len(columns) == 1 else 's'}: {n} runs, "
        f"{len(found.changes)} lasting change{'' if len(found.changes) == 1 else 's'}",
        motifs=tuple(clean_text(motif) for motif in motifs),
        columns=columns,
        since_s=since - air,
        until_s=until + air,
        caption=(_READ, *left_out, *(clean_text(text) for text in sentences)),
    )


def _span(found: Climate, motifs: Sequence[str]) -> tuple[float, float]:
    """First to last drawn run, s: other runs in the store do not widen it."""
    times = [one.times_ns for one in found.series if one.motif in motifs and len(one.times_ns)]
    if not times:
        return found.since_ns / 1e9, found.until_ns / 1e9
    return min(float(t[0]) for t in times) / 1e9, max(float(t[-1]) for t in times) / 1e9


def _drawn(found: Climate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Motifs with a row, and remarks on the others."""
    runs: dict[str, int] = {}
    for one in found.series:
        runs[one.motif] = runs.get(one.motif, 0) + len(one.values)
    most = sorted(runs, key=lambda motif: (-runs[motif], motif))[:MOST_ROWS]
    left = len(runs) - len(most)
    are = "motif with fewer runs is" if left == 1 else "motifs with fewer runs are"
    said = f"{left} {are} not drawn" if left > 0 else ""
    return tuple(sorted(most)), (said,) if said else ()


_READ = (
    "dots: runs, as a fraction of the best of all time; line: median between changes; vertical: a change for the "
    "better (green) or worse (orange), its 95% interval shaded; letters and grounds: climates, "
    "one that came back has its letter"
)


def _pane(numbered: tuple[int, JobSeries] | None) -> ClimatePane | None:
    if numbered is None:
        return None
    number, one = numbered
    levels = tuple(
        LevelMark(part.start_ns / 1e9, part.end_ns / 1e9, part.median, part.mad)
        for part in one.segments
    )
    shifts = tuple(_shift(change) for change in one.changes)
    motif = clean_text(one.motif)
    return ClimatePane(number, motif, one.times_ns / 1e9, one.values, levels, shifts)


def _shift(change: LevelChange) -> ShiftMark:
    at, first, last = (ns / 1e9 for ns in (change.at_ns, change.earliest_ns, change.latest_ns))
    return ShiftMark(at, first, last, change.rose)


def _bands(place: FileSystemClimate) -> tuple[ClimateBand, ...]:
    names = list(dict.fromkeys(regime.name for regime in place.regimes))
    return tuple(
        ClimateBand(r.name, names.index(r.name), r.start_ns / 1e9, r.end_ns / 1e9)
        for r in place.regimes
    )


def to_json(figure: ClimateFigure) -> dict[str, Any]:
    """Plain data: NaN becomes None."""
    return dict(plain(figure))
