"""Data of an UMAMI figure: numbers and words for a renderer, before anything is drawn.

::

    label          | runs over time, crosses joined by a line;   | box of the others,
    value  sign    | the job a star in the colour of its class   | dashed: the job's value

Terminal, picture and page draw from the same data; none of them computes a statistic.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.drawing.sheet import plain
from iosonde.jobs.umami.diagram import MetricRow, Umami
from iosonde.jobs.umami.quartile import ENOUGH, WHISKERS, Standing
from iosonde.jobs.umami.shown import Shown, gaps
from iosonde.model.amounts import amount, linear_ticks, scale_of, tick_text
from iosonde.model.json_types import JsonObject, KnownValues, Second, Seconds, Values
from iosonde.model.quality import QUALITY
from iosonde.model.text import clean_text
from iosonde.model.units import day, to_datetime

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

WRAP = 16
"""Most characters of a label's line beside its row."""
_LINES = 4
SIGNS = {
    Standing.BAD: "--",
    Standing.POOR: "-",
    Standing.OK: "+",
    Standing.GOOD: "++",
    Standing.NEUTRAL: "=",
    Standing.TOO_LITTLE_HISTORY: "?",
    Standing.MISSING: "?",
}
"""Symbols beside the colours, for readers who cannot tell colours apart."""
FLAT = 1e-9
"""Relative difference below which values are drawn as equal."""
_HALF_DAY_S = 43_200.0
CONTENTION = "contention"
"""Group of metrics drawn from 0 on: negative contention means none."""


@dataclass(frozen=True)
class BoxMark(JsonObject):
    """The box of the history: whiskers and quartiles."""

    low: float
    q25: float
    q50: float
    q75: float
    high: float


@dataclass(frozen=True)
class UmamiRow(JsonObject):
    """One metric. ``values`` (n,), ``value``, ``low``, ``high``, ``ticks``, box and outliers are in ``unit``.

    ``box``: None where there are too few others for one; then all are outliers. ``role``: the class's word,
    which names the colour. ``rank``: where the value stands, in words.
    """

    metric: str
    label: str
    lines: tuple[str, ...]
    unit: str
    role: str
    sign: str
    value: float | None
    value_text: str
    rank: str
    tied: bool
    n: int
    flags: tuple[str, ...]
    values: Values
    low: float
    high: float
    ticks: tuple[float, ...]
    tick_texts: tuple[str, ...]
    box: BoxMark | None
    outliers: KnownValues


@dataclass(frozen=True)
class UmamiFigure(JsonObject):
    """All rows over one range of time (s since the epoch); ``place``: which run is the job.

    ``dated``: whether times are known at all. ``gaps``: runs to which no line leads, since nothing ran for weeks
    before them. ``sentence``: why the job was slow, "" where nobody asked. ``caption``: how to read it, and what to
    know.
    """

    title: str
    subtitle: str
    times_s: Seconds
    place: int
    since_s: Second
    until_s: Second
    dated: bool
    rows: tuple[UmamiRow, ...]
    caption: tuple[str, ...]
    gaps: tuple[int, ...] = ()
    sentence: str = ""


def umami_figure(umami: Umami, shown: Shown | None = None, sentence: str = "") -> UmamiFigure:
    """The figure of a diagram. ``shown``: number of runs and rows drawn (None: those that fit a picture).

    Classes and boxes are those of all usual runs, however many are drawn.
    """
    shown = shown or Shown()
    runs = shown.slice(umami)
    times = umami.times_s[runs]
    dated = bool(np.isfinite(times).all())
    since, until = _span(times) if dated else (-_HALF_DAY_S, _HALF_DAY_S)
    rows = tuple(_row(row, runs) for row in shown.picked(umami.rows))
    return UmamiFigure(
        title=_title(umami),
        subtitle=_subtitle(umami, len(times)),
        times_s=times if dated else np.zeros(len(times)),
        place=umami.place - runs.start,
        since_s=since,
        until_s=until,
        dated=dated,
        rows=rows,
        caption=_caption(umami, rows),
        gaps=gaps(times) if dated else (),
        sentence=clean_text(sentence),
    )


def _title(umami: Umami) -> str:
    """Title: the job, its start, its program and file system."""
    step = f".{umami.step}" if umami.step else ""
    began = float(umami.times_s[umami.place])
    if np.isfinite(began):
        step += to_datetime(int(began * 1e9), UTC).strftime(", %Y-%m-%d %H:%M UTC")
    what = f": {umami.motif}" if umami.motif else ""
    where = f" on {umami.file_system}" if umami.file_system else ""
    return clean_text(f"Job {umami.job_id}{step}{what}{where}")


def _subtitle(umami: Umami, drawn: int) -> str:
    n = umami.others
    kind = "earlier" if umami.history == "earlier" else "other"
    if not n:
        return "no history"
    boxes = "all" if umami.since_ns is None else f"those since {day(umami.since_ns)}"
    part = f"; {drawn} of {n + 1} runs drawn, box: {boxes}" if drawn <= n else ""
    if umami.since_ns is not None and not part:
        part = f"; box: {boxes}"
    return f"within {n} {kind} run{'' if n == 1 else 's'} of the same kind{part}"


def _span(times: Floats) -> tuple[float, float]:
    first, last = float(times[0]), float(times[-1])
    air = 0.03 * (last - first) or _HALF_DAY_S
    return first - air, last + air


def _row(row: MetricRow, runs: slice) -> UmamiRow:
    stood = row.stood
    scale = scale_of(row.about.unit, row.values.tolist())
    least = 0.0 if row.about.group == CONTENTION else -np.inf
    every = np.maximum(row.values / scale.divisor, least)
    low, high = _range(every)
    ticks = _ticks(every, low, high)
    label = clean_text(row.about.label)
    known = not np.isnan(stood.value)
    own = max(stood.value, least * scale.divisor) if known else stood.value
    return UmamiRow(
        metric=clean_text(row.metric),
        label=label,
        lines=wrapped_label(f"{label} ({scale.word})" if scale.word else label),
        unit=scale.word,
        role=str(stood.standing),
        sign=SIGNS[stood.standing],
        value=own / scale.divisor if known else None,
        value_text=amount(own, scale) if known else "missing",
        rank=_rank(row),
        tied=stood.tied,
        n=stood.n,
        flags=row.flags,
        values=every[runs],
        low=low,
        high=high,
        ticks=ticks,
        tick_texts=tuple(tick_text(tick, ticks) for tick in ticks),
        box=_box(row, scale.divisor, least),
        outliers=np.maximum(stood.box.outliers / scale.divisor, least),
    )


def wrapped_label(label: str) -> tuple[str, ...]:
    """Lines of at most ``WRAP`` characters, four at most."""
    lines = textwrap.wrap(label, WRAP) or [""]
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], lines[_LINES - 1][: WRAP - 1] + "…"]
    return tuple(lines)


def _range(values: Floats) -> tuple[float, float]:
    """Range of both columns of a row: all values and a margin; a constant one in the middle."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    # Differences that no digit shows are none: noise must not look like a swing.
    flat = high - low <= FLAT * max(abs(low), abs(high))
    air = (0.1 * abs(high) or 1.0) if flat else 0.12 * (high - low)
    return low - air, high + air


def _ticks(values: Floats, low: float, high: float) -> tuple[float, ...]:
    """Round values; for a constant row its value, for an empty one none."""
    known = np.unique(values[np.isfinite(values)])
    return linear_ticks(low, high) if len(known) > 1 else tuple(known.tolist())


def _box(row: MetricRow, divisor: float, least: float) -> BoxMark | None:
    box = row.stood.box
    if np.isnan(box.q50):
        return None
    marks = (box.low, box.q25, box.q50, box.q75, box.high)
    return BoxMark(*(max(v / divisor, least) for v in marks))


def _rank(row: MetricRow) -> str:
    """``lowest of 20``, ``above 37% of 19 others``; "" if unknown."""
    stood = row.stood
    if np.isnan(stood.value) or stood.n == 0:
        return ""
    n = stood.n + 1
    if stood.box.n and np.all(row.values[np.isfinite(row.values)] == stood.value):
        return f"the same in all {n}"
    if stood.share == 0:
        return f"lowest of {n}"
    if stood.share == 1:
        return f"highest of {n}"
    return f"above {stood.share:.0%} of {stood.n}"


def _caption(umami: Umami, rows: tuple[UmamiRow, ...]) -> tuple[str, ...]:
    """Legend of colours and boxes, and all reservations."""
    lines = [
        "bad, poor, ok, good: quarters of the history (the job is not part of it), worst first; "
        f"box: its quartiles, whiskers: {WHISKERS[0]:g}% and {WHISKERS[1]:g}%"
    ]
    few = [row for row in rows if row.role == Standing.TOO_LITTLE_HISTORY]
    if few:
        lines.append(f"below {ENOUGH} other values there is no class and no box")
    if any(row.tied for row in rows):
        lines.append("if the job's value equals several quartiles, the middle class counts")
    if any(row.about.group == CONTENTION and (row.values < 0).any() for row in umami.rows):
        lines.append("contention below 0 is drawn as 0: the job counted more than its servers")
    for flag in dict.fromkeys(flag for row in rows for flag in row.flags):
        marked = ", ".join(row.label for row in rows if flag in row.flags)
        lines.append(f"{flag} ({marked}): {QUALITY.get(flag, flag)}")
    if not rows:
        lines.append("these runs have none of the usual metrics")
    return (*lines, *(clean_text(note) for note in umami.notes))


def to_json(figure: UmamiFigure) -> dict[str, Any]:
    """Plain data: NaN becomes None."""
    return dict(plain(figure))
