"""Does slowness come back every day, every week? Three tests against shifted weeks.

The hourly slowdown is folded into W periods of P bins. Every permutation turns each period by an
amount of its own: what happens within a period stays as it is, what the periods share is lost.

- omnibus: do the profiles of different periods agree at all?
- occupancy: is some bin slow in more periods than chance gives the luckiest bin?
- events: do events of different periods overlap more than chance lets the luckiest one?

Slowdowns below 1.3 count as nothing: the harmless pattern of working days is no recurrence.
Source: docs/methods/events.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iosonde.model.arrays import Flags, Floats, Instants, Ints

PERMUTATIONS = 999
SIGNIFICANT = 0.005
"""Of each of three tests: together they invent a recurrence in at most three of a hundred series."""
SLOW_TYP = 1.5
OFTEN = 0.6
"""Of the periods: rarer is no recurrence."""
MOSTLY = 0.75
_IGNORED_TYP = 1.3
_LARGEST = 1.2
_OVERLAP = 0.4
_AT_ONCE = 100
"""Permutations in memory together."""


class WeeklyHours(NamedTuple):
    """Hours [start, end) of the period; ``end`` exceeds the period when it wraps around."""

    start_h: float
    end_h: float
    share: float
    """Of the periods that were observed then, how many were slow then."""


class RecurrenceTest(NamedTuple):
    """p values of the three tests (1.0 where one could not be done), and when it comes back."""

    period_h: int
    periods: int
    p_omnibus: float
    p_occupancy: float
    p_events: float
    phases: tuple[WeeklyHours, ...]

    @property
    def found(self) -> bool:
        """Whether a test says so and the time can be named.

        The omnibus test alone is believed only where the named time is slow in most periods: it
        also feels what remains of the working days.
        """
        if min(self.p_occupancy, self.p_events) <= SIGNIFICANT:
            return bool(self.phases)
        usual = max((phase.share for phase in self.phases), default=0.0)
        return self.p_omnibus <= SIGNIFICANT and usual >= MOSTLY


def fold(hour: Instants, typ: Floats, period_h: int, origin_h: int = 0) -> Floats:
    """(hours,), (hours,) -> (periods, bins); NaN where no hour is known.

    ``hour`` counts hours since an epoch (UTC, or shifted to a zone's wall clock); period 0 holds
    the first hour. ``origin_h``: an hour at which a period begins. Hours that occur twice (a clock
    set back) keep the larger value. Periods without any hour in them stay, as NaN.
    """
    if len(hour) == 0:
        return np.full((0, period_h), np.nan)
    place = hour - origin_h
    row = place // period_h
    row -= row[0]
    folded = np.full((int(row.max()) + 1, period_h), -np.inf)
    value = np.where(np.isnan(typ), -np.inf, typ)
    np.maximum.at(folded, (row, place % period_h), value)
    return np.where(np.isinf(folded), np.nan, folded)


def recurrence(
    folded: Floats,
    events: Floats,
    random: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> RecurrenceTest:
    """Test one folded series.

    Shape: (periods, bins) hourly typ, (events, 2) start and end in hours since the beginning of
    period 0. Missing data: NaN in ``folded``; a bin unseen in a period says nothing of it.
    Fewer than 3 periods are never a recurrence.
    """
    periods, bins = folded.shape
    if periods < 3:
        return RecurrenceTest(bins, periods, 1.0, 1.0, 1.0, ())
    turns = random.integers(0, bins, (permutations, periods))
    high = np.clip(np.log(folded) - np.log(_IGNORED_TYP), 0, _LARGEST)
    seen = ~np.isnan(folded)
    slow = np.where(seen, folded > SLOW_TYP, False)
    agree = _agreement(np.where(seen, high, 0.0), seen)
    still = np.zeros((1, periods), dtype=turns.dtype)
    omnibus = _p(_turned_sum(agree, still)[0], _turned_sum(agree, turns))
    occupied = _share(slow, seen)
    luckiest = _luckiest_bin(slow, seen, turns)
    p_occupancy = _p(float(occupied.max()), luckiest)
    matches = _matches(events, bins, periods)
    p_events = matches.p(turns) if matches.best >= OFTEN else 1.0
    phases = _bin_phases(occupied)
    if p_events <= SIGNIFICANT:
        phases = (matches.phase(),)
    p_occupancy = p_occupancy if occupied.max() >= OFTEN else 1.0
    return RecurrenceTest(bins, periods, omnibus, p_occupancy, p_events, phases)


def _p(observed: float, permuted: Floats) -> float:
    return float((1 + np.sum(permuted >= observed - 1e-12)) / (1 + len(permuted)))


def _agreement(high: Floats, seen: Flags) -> Floats:
    """[i, j, d]: mean over phases of period i times period j turned by d; 0 where unseen."""

    def correlate(values: Floats) -> Floats:
        wave = np.fft.rfft(values, axis=1)
        return np.fft.irfft(np.conj(wave)[:, None] * wave[None], n=values.shape[1], axis=2)

    products, counts = correlate(high), np.round(correlate(seen.astype(float)))
    return np.where(counts > 0, products / np.maximum(counts, 1), 0.0)


def _turned_sum(agree: Floats, turns: Instants) -> Floats:
    """The omnibus statistic with period i turned by ``turns[:, i]``: its sum over pairs."""
    bins = agree.shape[2]
    total = np.zeros(len(turns))
    for i in range(agree.shape[0]):
        for j in range(i + 1, agree.shape[0]):
            total += agree[i, j, (turns[:, j] - turns[:, i]) % bins]
    return total


def _share(slow: Flags, seen: Flags) -> Floats:
    """Of the periods seen in a bin, how many were slow; 0 unless half of all were seen."""
    known = seen.sum(axis=-2)
    share = slow.sum(axis=-2) / np.maximum(known, 1)
    return np.asarray(np.where(2 * known >= slow.shape[-2], share, 0.0), dtype=np.float64)


def _luckiest_bin(slow: Flags, seen: Flags, turns: Instants) -> Floats:
    """The largest share of any bin, for every permutation."""
    bins = slow.shape[1]
    rows = np.arange(slow.shape[0])[:, None]
    found = []
    for some in np.array_split(turns, max(1, len(turns) // _AT_ONCE)):
        place = (np.arange(bins) + some[:, :, None]) % bins
        found.append(_share(slow[rows, place], seen[rows, place]).max(axis=1))
    return np.concatenate(found)


def _bin_phases(share: Floats) -> tuple[WeeklyHours, ...]:
    """Runs of bins that are slow in most periods, around the end of the period too."""
    often = share >= OFTEN
    bins = len(often)
    if often.all():
        return (WeeklyHours(0.0, float(bins), float(share.mean())),)
    begins = np.flatnonzero(often & ~np.roll(often, 1))
    ends = np.flatnonzero(often & ~np.roll(often, -1))
    found = []
    for begin in begins:
        last = int(ends[ends >= begin][0]) if (ends >= begin).any() else int(ends[0]) + bins
        inside = np.arange(begin, last + 1) % bins
        found.append(WeeklyHours(float(begin), float(last + 1), float(np.median(share[inside]))))
    return tuple(found)


class _Matches(NamedTuple):
    """Events by phase, length and period, and how often the best of them is met again."""

    start: Floats
    length: Floats
    row: Instants
    bins: int
    periods: int
    best: float

    def p(self, turns: Instants) -> float:
        """The chance that turned periods let some event be met as often."""
        found = []
        for some in np.array_split(turns, max(1, len(turns) // _AT_ONCE)):
            start = (self.start - some[:, self.row]) % self.bins
            found.append(_best_match(start, self.length, self.row, self.bins, self.periods))
        return _p(self.best, np.concatenate(found))

    def phase(self) -> WeeklyHours:
        """When the events that meet each other begin and end, in the median."""
        met = _meet(self.start[None], self.length, self.bins)[0]
        which = int(np.argmax(_periods_met(met[None], self.row, self.periods)[0]))
        mine = np.flatnonzero(met[which])
        apart = (self.start[mine] - self.start[which] + self.bins / 2) % self.bins - self.bins / 2
        begin = float(self.start[which] + np.median(apart))
        end = float(self.start[which] + np.median(apart + self.length[mine]))
        wrapped = begin // self.bins * self.bins
        return WeeklyHours(begin - wrapped, end - wrapped, self.best)


def _matches(events: Floats, bins: int, periods: int) -> _Matches:
    """Events longer than the period, or outside the folded time, are left out."""
    begin, length = events[:, 0], events[:, 1] - events[:, 0]
    row = np.floor(begin / bins).astype(np.int64)
    kept = (length > 0) & (length < bins) & (row >= 0) & (row < periods)
    begin, length, row = begin[kept] % bins, length[kept], row[kept]
    best = 0.0
    if len(begin):
        best = float(_best_match(begin[None], length, row, bins, periods)[0])
    return _Matches(begin, length, row, bins, periods, best)


def _best_match(start: Floats, length: Floats, row: Instants, bins: int, periods: int) -> Floats:
    """(permutations, events) starts -> the largest share of periods that one event is met in."""
    if start.shape[1] == 0:
        return np.zeros(len(start))
    met = _periods_met(_meet(start, length, bins), row, periods)
    return np.asarray(met.max(axis=1) / periods, dtype=np.float64)


def _meet(start: Floats, length: Floats, bins: int) -> Flags:
    """Which events overlap modulo the period: intersection over union >= 0.4."""
    apart = (start[:, None, :] - start[:, :, None]) % bins
    one, other = length[None, :, None], length[None, None, :]
    ahead = np.clip(np.minimum(one, apart + other) - apart, 0, None)
    behind = np.clip(np.minimum(one, apart - bins + other), 0, None)
    shared = np.maximum(ahead, behind)
    return np.asarray(shared >= _OVERLAP * (one + other - shared))


def _periods_met(met: Flags, row: Instants, periods: int) -> Ints:
    """(permutations, events): in how many periods an event has a match."""
    member = (row[:, None] == np.arange(periods)).astype(np.float32)
    return np.asarray(((met.astype(np.float32) @ member) > 0).sum(axis=-1), dtype=np.int64)
