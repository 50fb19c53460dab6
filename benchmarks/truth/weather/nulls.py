"""False words on streams without any change, and what is still found in them: kinds that are not lognormal."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather import kinds, odd_kinds, offline
from benchmarks.truth.weather.alarms import (
    INFINITE,
    Raised,
    delays,
    median,
    raised_after,
    raised_live,
)
from benchmarks.truth.weather.judge import judged
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S
from iosonde.model.events import SlowEvent
from iosonde.model.slowdown import Baseline
from iosonde.weather.events.pieces.alarms import CACHE

LEARNING_DAYS = 14
MONTH_DAYS = 30
OP = "md_create"
CASES = (
    # name, seconds, factor, share of operations
    ("x10 60 s", 60, 10.0, 1.0),
    ("x3 10 min", 600, 3.0, 1.0),
    ("x10 on 30% 10 min", 600, 10.0, 0.3),
    ("x10 on 10% 2 h", 7_200, 10.0, 0.1),
)
MOST_A_MONTH, MOST_IN_ALARM = 6, 0.01
_APART_S = 10_800
_EVER_NS = np.iinfo(np.int64).min

Draw = Callable[[np.random.Generator, int], Floats]


def nulls(seed: int, scale: float = 1.0) -> list[Row]:
    """Per kind of stream: false alarms and events a month from the first hour on, time in alarm, and what is found.

    ``nulls`` are the live alarms and the events that come of nothing; ``events`` says what `iosonde events`
    makes of the same cases: found, and by how much begin and end are off in nine of ten (s).
    """
    return _of_kinds(_streams(), seed, scale)


def odd(seed: int, scale: float = 1.0) -> list[Row]:
    """The same of kinds that break what detectors like to assume."""
    return _of_kinds(iter(odd_kinds.ODD.items()), seed, scale)


def cached(seed: int, scale: float = 1.0) -> list[Row]:
    """Streams of which a share comes from a cache: false alarms of it, and how soon a cache is found that stops.

    ``x10``: how often operations that are all ten times as slow are told as a cache that stops.
    """
    days = LEARNING_DAYS + max(4, round(MONTH_DAYS * scale))
    rows = []
    for place, name in enumerate(odd_kinds.CACHED):
        random = np.random.default_rng((seed, place))
        rows += cached_kind(random, name, days, max(20, round(60 * scale)))
    return sorted(rows, key=lambda row: ("nulls", "cached", "events").index(row.target))


def cached_kind(random: np.random.Generator, name: str, days: int, cases: int) -> list[Row]:
    """The cells of one kind, from so many days without a change and so many caches of each sort that stop."""
    share_of, slow_of = odd_kinds.CACHED[name]

    def draw(n: int, left: Floats | float = 1.0) -> Floats:
        return odd_kinds.from_cache(random, left * share_of(random, n), slow_of(random, n))

    seconds = draw(days * DAY_S)
    result, baseline = judged(OP, seconds)
    causes = Counter(raised_live(seconds, baseline).causes)
    events = offline.slow_events(OP, seconds, baseline, result.changes)
    told = sum(one.cause == CACHE for one in events)
    return [
        _a_month(name, "alarms/month", causes[CACHE], days),
        _a_month(name, "events/month", told, days),
        *_stopped(name, draw, _last(baseline), cases),
    ]


def _stopped(name: str, draw: Callable[..., Floats], last: Baseline, cases: int) -> list[Row]:
    """Caches that stop for a time, in part or all, after what was learnt last."""
    rows = []
    begins = (np.arange(cases) + 1) * _APART_S
    n = (cases + 2) * _APART_S
    for what, long, kept in (
        ("stops 10 min", 600, 0.0),
        ("stops 2 min", 120, 0.0),
        ("a quarter left 1 h", 3_600, 0.25),
    ):
        left = np.ones(n)
        for begin in begins.tolist():
            left[begin : begin + long] = kept
        seconds = draw(n, left)
        after = delays(raised_after(seconds, last.numbers).at_s, begins, long)
        p, error = share(len(after), cases)
        soon = f"{median(after):.0f} s" if len(after) else ""
        events = [one for one in offline.slow_events(OP, seconds, last, []) if one.cause == CACHE]
        met = offline.placed(events, begins, long)
        q, other_error = share(met.found, cases)
        off = f"{_p90(met.begin_off_s):.0f}, {_p90(met.end_off_s):.0f} s" if met.found else ""
        rows += [
            Row("cached", name, p, 0, INFINITE, "-", "-", error, what, soon),
            Row("events", name, q, 0, INFINITE, "-", "-", other_error, what, off),
        ]
    slowed = draw(n)
    for begin in begins.tolist():
        slowed[begin : begin + 600] *= 10.0
    events = offline.slow_events(OP, slowed, last, [])
    wrong = offline.placed([one for one in events if one.ops[0].hits is not None], begins, 600)
    p, error = share(wrong.found, cases)
    return [*rows, Row("cached", name, p, 0, INFINITE, "-", "-", error, "x10", "")]


def _of_kinds(streams: Iterator[tuple[str, Draw]], seed: int, scale: float) -> list[Row]:
    days = LEARNING_DAYS + max(4, round(MONTH_DAYS * scale))
    rows = []
    for place, (name, draw) in enumerate(streams):
        random = np.random.default_rng((seed, place))
        rows += of_kind(random, name, draw, days, max(20, round(60 * scale)))
    return sorted(rows, key=lambda row: row.target != "nulls")


def of_kind(random: np.random.Generator, name: str, draw: Draw, days: int, cases: int) -> list[Row]:
    """The cells of one kind, from so many days without a change and so many slowdowns of each sort."""
    seconds = draw(random, days * DAY_S)
    result, baseline = judged(OP, seconds)
    found = raised_live(seconds, baseline)
    events = offline.slow_events(OP, seconds, baseline, result.changes)
    rows = [
        _a_month(name, "alarms/month", len(found.at_s), days, _causes(found)),
        Row("nulls", name, found.in_alarm, 0, MOST_IN_ALARM, "-", "-", column="in alarm"),
        _a_month(name, "events/month", len(events), days, _kinds(events)),
    ]
    return rows + _power(random, name, draw, baseline, cases)


def _causes(found: Raised) -> str:
    """What raised how many, most first."""
    counts = Counter(found.causes).most_common()
    return ", ".join(f"{n} {cause}" for cause, n in counts)


def _kinds(events: list[SlowEvent]) -> str:
    """What found how many: windows of a minute, a detector, or a lasting change."""
    counts = Counter(one.kind if one.kind == "change" else one.cause or "windows" for one in events)
    return ", ".join(f"{n} {cause}" for cause, n in counts.most_common())


def _a_month(name: str, column: str, n: int, days: int, note: str = "") -> Row:
    month = MONTH_DAYS / days
    error = float(np.sqrt(n + 1)) * month
    told = note if n * month > MOST_A_MONTH else ""
    return Row("nulls", name, n * month, 0, MOST_A_MONTH, "-", "-", error, column, told)


def _streams() -> Iterator[tuple[str, Draw]]:
    yield from kinds.MADE.items()
    for name, latencies in itertools.chain(kinds.recorded(), kinds.of_agent()):
        for word, block in (("independent", 1), ("in blocks", kinds.BLOCK)):
            yield f"{name}, {word}", _resampler(latencies, block)


def _resampler(latencies: Floats, block: int) -> Draw:
    return lambda random, n: kinds.resampled(random, latencies, n, block)


def _power(
    random: np.random.Generator, name: str, draw: Draw, baseline: Baseline, cases: int
) -> list[Row]:
    """How many injected slowdowns raise an alarm of their own and become events, after what was learnt last."""
    last = _last(baseline)
    rows = []
    for what, long, factor, part in CASES:
        begins = (np.arange(cases) + 1) * _APART_S
        seconds = draw(random, (cases + 2) * _APART_S)
        for begin in begins.tolist():
            struck = random.random(long) < part
            seconds[begin : begin + long] *= np.where(struck, factor, 1.0)
        after = delays(raised_after(seconds, last.numbers).at_s, begins, long)
        p, error = share(len(after), cases)
        soon = f"{median(after):.0f} s" if len(after) else ""
        met = offline.placed(offline.slow_events(OP, seconds, last, []), begins, long)
        q, other_error = share(met.found, cases)
        off = f"{_p90(met.begin_off_s):.0f}, {_p90(met.end_off_s):.0f} s" if met.found else ""
        rows += [
            Row("nulls", name, p, 0, INFINITE, "-", "-", error, what, soon),
            Row("events", name, q, 0, INFINITE, "-", "-", other_error, what, off),
        ]
    return rows


def _last(baseline: Baseline) -> Baseline:
    """The version that was learnt last, at all times."""
    return replace(
        baseline,
        from_ns=np.array([_EVER_NS]),
        **{of: getattr(baseline, of)[-1:] for of in ("numbers", "stage", "epoch", "climate")},
    )


def _p90(values: Floats) -> float:
    return float(np.quantile(values, 0.9))
