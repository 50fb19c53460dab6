"""G2: eight weeks of one target at 1 Hz, with the truth beside them.

``weather`` draws what happens to the target (load, events, bursts), ``latencies`` what one op
measures in it, so that several ops can share one weather. t = 0 is a Monday 00:00 UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from benchmarks.truth.weather.latency import OPS, Floats, stragglers

Singles = NDArray[np.float32]

MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60, 3_600, 86_400, 604_800
START_NS = 1_790_553_600_000_000_000
"""2026-09-28 00:00 UTC, a Monday."""
LONG_FACTOR = 27.0
_EVENTS = ((6, 4 * HOUR_S, 10.0), (8, HOUR_S, 3.0), (8, 10 * MINUTE_S, 10.0))
"""How many in eight weeks, how long, how slow; none in the first week."""


@dataclass(frozen=True)
class Options:
    """What happens in a stream. ``step`` = (day, factor); ``microblips`` = how many a day."""

    days: int = 56
    drift: float = 1.0
    step: tuple[float, float] | None = None
    events: bool = True
    backup: bool = True
    long_event: bool = True
    bursts: bool = True
    microblips: float = 0.0


NULL = Options(days=20, events=False, backup=False, long_event=False, bursts=False, microblips=20)
"""Nothing worth an alarm: load, and 20 times a day 3-8 s of ten times slower operations."""


@dataclass(frozen=True)
class Happening:
    """Seconds [start, end) in which a share of operations was slower by a factor."""

    kind: str
    start_s: int
    end_s: int
    factor: float
    share: float = 1.0


@dataclass(frozen=True)
class Weather:
    """What was true, one value a second.

    ``factor`` is what events, backup and the long event did to every operation, ``load`` the
    harmless ups and downs, ``change`` drift and step; bursts strike a share of operations only.
    """

    options: Options
    load: Singles
    factor: Singles
    change: Singles
    happenings: tuple[Happening, ...]

    def __len__(self) -> int:
        return len(self.load)

    def mask(self, *kinds: str, margin_s: int = 0) -> NDArray[np.bool_]:
        """Seconds in which a happening of one of the kinds went on."""
        inside = np.zeros(len(self), bool)
        for what in self.happenings:
            if what.kind in kinds:
                inside[max(0, what.start_s - margin_s) : what.end_s + margin_s] = True
        return inside


def walk(random: np.random.Generator, n: int, sigma: float, tau: float) -> Singles:
    """An Ornstein-Uhlenbeck path of unit steps, stationary from the first value on."""
    keep = np.exp(-1 / tau)
    noise = random.standard_normal(n) * (sigma * np.sqrt(1 - keep**2))
    path, _ = lfilter([1.0], [1.0, -keep], noise, zi=[keep * random.normal(0, sigma)])
    return np.asarray(path, dtype=np.float32)


def weather(random: np.random.Generator, options: Options | None = None) -> Weather:
    """Draw what happens to a target."""
    options = options or Options()
    n = options.days * DAY_S
    load = walk(random, n, 0.15, 1_800)
    second = np.arange(n)
    hour, weekday = second % DAY_S / HOUR_S, second // DAY_S % 7 < 5
    load += np.where(weekday, 0.2 * np.maximum(0, np.sin(np.pi * (hour - 8) / 12)), 0)
    happened = [*_events(random, options), *_bursts(random, options), *_blips(random, options)]
    factor = np.ones(n, np.float32)
    for what in happened:
        if what.share >= 1:
            factor[what.start_s : what.end_s] *= what.factor
    change = np.power(options.drift, second / DAY_S).astype(np.float32)
    if options.step is not None:
        change[int(options.step[0] * DAY_S) :] *= options.step[1]
    happened.sort(key=lambda what: what.start_s)
    return Weather(options, np.exp(load), factor, change, tuple(happened))


def _events(random: np.random.Generator, options: Options) -> list[Happening]:
    end_s = options.days * DAY_S
    found: list[Happening] = []
    if options.events:
        often = max(0, options.days - 7) / 49
        lengths = [(d, f) for count, d, f in _EVENTS for _ in range(round(count * often))]
        for long, factor in lengths:
            while True:
                start = int(random.integers(WEEK_S, max(WEEK_S + 1, end_s - long)))
                apart = HOUR_S
                if all(start > o.end_s + apart or start + long < o.start_s - apart for o in found):
                    break
            found.append(Happening("event", start, start + long, factor))
    if options.backup:
        saturdays = range(5 * DAY_S + 2 * HOUR_S, end_s, WEEK_S)
        found += [Happening("backup", at, at + 30 * HOUR_S, 3.0) for at in saturdays]
    if options.long_event:
        at = 30 * DAY_S + 5 * HOUR_S
        found.append(Happening("long", at, at + int(6.5 * DAY_S), LONG_FACTOR))
    return [what for what in found if what.start_s < end_s]


def _bursts(random: np.random.Generator, options: Options) -> list[Happening]:
    n = random.poisson(4 * options.days) if options.bursts else 0
    starts = random.integers(0, options.days * DAY_S, n)
    lengths = np.clip(random.lognormal(np.log(600), 0.7, n), 60, 3_600).astype(int)
    shares, factors = random.uniform(0.1, 0.6, n), 10 ** random.uniform(1, 2, n)
    rows = zip(starts, lengths, factors, shares, strict=True)
    return [Happening("burst", int(s), int(s + d), float(f), float(p)) for s, d, f, p in rows]


def _blips(random: np.random.Generator, options: Options) -> list[Happening]:
    n = random.poisson(options.microblips * options.days)
    starts = random.integers(0, options.days * DAY_S, n)
    lengths = random.integers(3, 9, n)
    return [
        Happening("blip", int(s), int(s + d), 10.0) for s, d in zip(starts, lengths, strict=True)
    ]


@dataclass(frozen=True)
class Stream:
    """What one op measured: seconds of service time, one a second, and its true hit share."""

    op: str
    seconds: Floats
    hit_share: Singles | None


def latencies(random: np.random.Generator, sky: Weather, op: str) -> Stream:
    """One op's service times in a weather."""
    kind, n = OPS[op], len(sky)
    slower = np.ones(n, np.float32)
    for what in sky.happenings:
        if what.share < 1:
            rows = slice(what.start_s, min(n, what.end_s))
            struck = random.random(max(0, rows.stop - rows.start)) < what.share
            slower[rows] = np.where(struck, what.factor, slower[rows])
    slower *= sky.factor * sky.change * sky.load
    normal = random.standard_normal(n)
    share: Singles | None = None
    hit = np.zeros(n, bool)
    if kind.hit_share > 0:
        centre = np.log(kind.hit_share / (1 - kind.hit_share))
        share = (1 / (1 + np.exp(-(centre + walk(random, n, 0.4, 7_200))))).astype(np.float32)
        hit = random.random(n) < share
    seconds = np.where(
        hit,
        kind.hit_median_s * np.exp(kind.hit_sigma * normal),
        kind.median_s * np.exp(kind.sigma * normal),
    )
    return Stream(op, stragglers(random, seconds * slower), share)
