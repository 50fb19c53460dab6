"""What is usual of the series of a store: a guarded baseline, or one that was asked for instead.

::

    guarded              learned from unflagged ten-minute intervals (docs/methods/slowdown.md)
    all-time             all samples there are, as Kunkel and Betke (2019) did
    <begin>..<end>       the samples of a reference period
    <time>, such as 7d   a sliding median of window medians: knows no quantile function
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core
from iosonde.model.frames import Choice, EpochChange, SeriesKey, WindowTable
from iosonde.model.slowdown import (
    INTERVAL_NS,
    LEVELS,
    TRIPLE_COLUMNS,
    VERSION_WIDTH,
    Baseline,
    Histograms,
    Intervals,
)
from iosonde.model.units import HOUR_NS
from iosonde.weather.rollups.intervals import Rollups
from iosonde.weather.slowdown.guarded import STAGES, guard
from iosonde.weather.slowdown.triples import expectations, mode_shifts, triples
from iosonde.weather.slowdown.unusual import hour_of_week
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Floats, Ints


_RELIABLE = len(STAGES) - 1
_TOGETHER = 20_000
"""Windows that are compared at a time."""


@dataclass(frozen=True)
class Past:
    """What ten-minute intervals of one series amounted to: their numbers (start / 600 s), ascending."""

    number: Ints
    typ: Floats
    tail: Floats
    lost: Floats
    reference: Floats
    """Slowdown at the same time of the week in the past four weeks."""
    hit_share: Floats
    n_due: Ints
    """Operations that were due."""


@dataclass(frozen=True)
class LearntBaselines:
    """Baselines by series, lasting changes, and the past that ``unusual`` looks at."""

    baselines: Mapping[SeriesKey, Baseline] = field(default_factory=dict)
    past: Mapping[SeriesKey, Past] = field(default_factory=dict)
    changes: Sequence[EpochChange] = ()


NOTHING = LearntBaselines()


def learn(
    store: Store,
    choice: Choice | None = None,
    *,
    host: str | None = None,
    target: str | None = None,
    ops: Sequence[str] | None = None,
    until_ns: int | None = None,
) -> LearntBaselines:
    """What was usual of every series, at any time before ``until_ns``.

    A guarded baseline is learned from the beginning of the store on, as the live probe did. Raises
    StoreError.
    """
    choice = choice or Choice()
    if choice.kind == "sliding":
        return NOTHING
    period = choice.kind == "period"
    found = store.rollups(
        host=host,
        target=target,
        ops=ops,
        since_ns=choice.since_ns if period else None,
        until_ns=choice.until_ns if period else until_ns,
    )
    if len(found) == 0:
        return NOTHING
    return _guarded(intervals_of(found)) if choice.kind == "guarded" else _fixed(found)


def intervals_of(found: Rollups) -> Intervals:
    """Roll-ups as the core takes them."""
    edges = np.searchsorted(found.id, np.arange(len(found.series) + 1))
    return Intervals(
        list(found.series),
        edges.astype(np.int64),
        found.columns["start_ns"],
        found.columns["n_due"],
        found.columns["n_lost"],
        found.service,
        found.other,
    )


def _guarded(intervals: Intervals) -> LearntBaselines:
    judged = guard(replace(intervals, start_ns=_at_ends_of_hours(intervals)))
    shares = _hit_shares(intervals, judged.baselines)
    past = {}
    for place, key in enumerate(intervals.keys):
        rows = slice(int(intervals.first[place]), int(intervals.first[place + 1]))
        number = intervals.start_ns[rows] // INTERVAL_NS
        typ, tail, lost = (judged.columns[name][rows] for name in ("typ", "tail", "lost"))
        reference = hour_of_week(number, typ)
        past[key] = Past(number, typ, tail, lost, reference, shares[rows], intervals.n_due[rows])
    return LearntBaselines(judged.baselines, past, judged.changes)


def _at_ends_of_hours(intervals: Intervals) -> Ints:
    """Starts of intervals; of series with one in an hour at most the last ten minutes of each hour.

    The core works a baseline out anew with an interval that ends an hour.
    """
    starts = intervals.start_ns.copy()
    for first, last in pairwise(intervals.first.tolist()):
        rows = slice(first, last)
        hour = starts[rows] // HOUR_NS
        if last - first > 1 and np.diff(hour).min() >= 1:
            starts[rows] = (hour + 1) * HOUR_NS - INTERVAL_NS
    return starts


def _hit_shares(intervals: Intervals, baselines: Mapping[SeriesKey, Baseline]) -> Floats:
    """The share of cached operations of every interval; NaN where there is one mode."""
    which = np.full(len(intervals.start_ns), -1, dtype=np.int64)
    offset = 0
    for place, key in enumerate(intervals.keys):
        baseline = baselines[key]
        rows = slice(int(intervals.first[place]), int(intervals.first[place + 1]))
        at = baseline.at(intervals.start_ns[rows])
        bimodal = ~np.isnan(baseline.hit_share(at))
        which[rows] = np.where(bimodal, at + offset, -1)
        offset += len(baseline.from_ns)
    if (which < 0).all():
        return np.full(len(which), np.nan)
    versions = np.concatenate([baselines[key].numbers for key in intervals.keys])
    return mode_shifts(intervals.service, which, versions)[0]


def _fixed(found: Rollups) -> LearntBaselines:
    """One expectation a series, from all of its intervals together."""
    baselines = {}
    for place, key in enumerate(found.series):
        rows = np.flatnonzero(found.id == place)
        if len(rows) == 0:
            continue
        part = found.service.take(rows)
        counts = np.bincount(part.bucket, weights=part.count).astype(np.uint32)
        bucket = np.flatnonzero(counts).astype(np.uint16)
        whole = Histograms(np.array([0, len(bucket)]), bucket, counts[bucket])
        numbers = expectations(whole)
        if np.isnan(numbers[0, 0]):
            continue
        ever = np.array([np.iinfo(np.int64).min])
        stage, epoch = np.array([_RELIABLE]), np.array([0])
        baselines[key] = Baseline(key, ever, numbers, stage, epoch, np.array([np.nan]))
    return LearntBaselines(baselines)


def against(windows: WindowTable, known: LearntBaselines) -> dict[str, NDArray[np.generic]]:
    """Columns of windows against what is known of them.

    Needs ``levels_ns response_ns n_response n_lost`` beside the counts (``Store.windows(levels=True)``).
    ``usual_ns`` (the expected median), the nine of ``TRIPLE_COLUMNS``, ``unusual hit_share climate`` (NaN =
    unknown), ``stage`` (a word), ``middle_ns`` (expected in the middle of the band), ``control_ns`` (the
    window's own at the level that ``host_busy`` compares), ``bimodal`` and ``epoch``.
    """
    n = len(windows)
    usual, middle, share, climate, reference = (np.full(n, np.nan) for _ in range(5))
    bimodal = np.zeros(n, dtype=bool)
    stage, epoch = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    which = np.full(n, -1, dtype=np.int64)
    versions = [np.empty((0, VERSION_WIDTH))]
    offset = 0
    for key, rows in windows.series():
        baseline = known.baselines.get(key)
        if baseline is None or len(baseline.from_ns) == 0:
            continue
        start = windows["start_ns"][rows]
        at = baseline.at(start)
        usual[rows], middle[rows] = baseline.median_ns(at), baseline.middle_ns(at)
        bimodal[rows] = ~np.isnan(baseline.hit_share(at))
        learnt = at >= 0
        which[rows] = np.where(learnt, at + offset, -1)
        stage[rows] = np.where(learnt, baseline.stage[at], 0)
        epoch[rows] = np.where(learnt, baseline.epoch[at], 0)
        climate[rows] = np.where(learnt, baseline.climate[at], np.nan)
        versions.append(baseline.numbers)
        offset += len(baseline.from_ns)
        if (past := known.past.get(key)) is not None:
            reference[rows], share[rows] = _at_interval(past, start)
    found = _triples(windows, which, np.concatenate(versions))
    words = np.array(STAGES, dtype=object)[stage]
    unusual = found["typ"] / reference
    columns = {name: found[name] for name in TRIPLE_COLUMNS}
    more = {"unusual": unusual, "hit_share": share, "climate": climate, "stage": words}
    control = {"middle_ns": middle, "control_ns": _at_control_level(windows, bimodal)}
    return {"usual_ns": usual, **columns, **more, **control, "bimodal": bimodal, "epoch": epoch}


def _at_control_level(windows: WindowTable, bimodal: Flags) -> Floats:
    """Service time at the level at which the run queue is taken off: among uncached operations if there are any."""
    places = [LEVELS.index(_core.control_level(some)) for some in (False, True)]
    levels = missing_as_nan(windows["levels_ns"][:, places, 1])
    return np.where(bimodal, levels[:, 1], levels[:, 0])


def _triples(windows: WindowTable, which: Ints, versions: Floats) -> dict[str, Floats]:
    """The nine of windows, some at a time: their levels as floats take half a KiB each."""
    counts = _counts(windows)
    found = {name: np.empty(len(which)) for name in TRIPLE_COLUMNS}
    for begin in range(0, len(which), _TOGETHER):
        rows = slice(begin, begin + _TOGETHER)
        levels = missing_as_nan(windows["levels_ns"][rows])
        tails = missing_as_nan(windows["response_ns"][rows])
        for name, column in triples(levels, tails, counts[rows], which[rows], versions).items():
            found[name][rows] = column
    return found


def _counts(windows: WindowTable) -> Ints:
    """Seen, with a response, due, lost of every window; what is not known counts as none."""
    columns = [windows[name] for name in ("n_seen", "n_response", "n_due", "n_lost")]
    unknown = windows["n_lost"] < 0
    columns[2] = np.where(unknown, 0, columns[2])
    counts: Ints = np.maximum(np.stack(columns, axis=1), 0)
    return counts


def missing_as_nan(whole_ns: Ints) -> Floats:
    """Levels as floats: what is missing (below 0) as NaN."""
    return np.where(whole_ns < 0, np.nan, whole_ns.astype(np.float64))


def _at_interval(past: Past, start_ns: Ints) -> tuple[Floats, Floats]:
    """The reference and the hit share of the ten minutes that a window begins in."""
    number = start_ns // INTERVAL_NS
    place = np.minimum(np.searchsorted(past.number, number), len(past.number) - 1)
    same = past.number[place] == number
    return (
        np.where(same, past.reference[place], np.nan),
        np.where(same, past.hit_share[place], np.nan),
    )
