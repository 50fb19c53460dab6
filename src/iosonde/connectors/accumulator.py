"""Buffered readings of one series, until they are emitted."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from iosonde.connectors.counters import blanks
from iosonde.model.arrays import Flags, Floats, Instants
from iosonde.model.quality import Note


class Column(NamedTuple):
    """Readings emitted from a series."""

    component: str
    times: Instants
    """(T,), ascending and unique. A counter has one more time than steps."""
    steps: Instants
    """(T,); empty for instants and counters."""
    values: Floats
    """(T,). A counter's values are relative to its first reading."""
    unknown: list[int]
    """Steps in which a counter's increment is unknown."""
    notes: tuple[Note, ...]


class Held:
    """Buffered readings of a counter or a gauge.

    A counter's readings are less ``base``, its first one, so that long counters stay exact; NaN stands for a
    reading of 0. Until the end its last step is not given out, nor are zeros behind other readings, as what comes
    next says what these are; of a state the last value is kept. So a reading that comes again is known for that.
    """

    __slots__ = (
        *("base", "counts", "doubtful", "flushed_ns", "owed", "restarts", "steps"),
        *("times", "values", "was", "zeros"),
    )

    def __init__(self, counts: bool, base: float) -> None:
        self.counts, self.base = counts, base
        self.times = array("q")
        self.values = array("d")
        self.steps = array("q")
        self.restarts: list[int] | None = None
        """Instants of readings before which a counter is known to have begun again."""
        self.zeros = 0
        """Readings of 0 that are held."""
        self.doubtful = 0
        """Of these, those that the next reading may show to be none."""
        self.flushed_ns = -1
        """Up to where all was given out; a counter's first reading that is held is of that instant."""
        self.was = math.nan
        """The reading before zeros that were given out all the same: these may yet be found to be none."""
        self.owed: dict[tuple[str, str], int] | None = None
        """What is to be said with the next values that are given out."""

    @property
    def alone(self) -> bool:
        """True for a counter with a single reading."""
        return self.counts and self.flushed_ns < 0 and len(self.times) == 1

    def give(self, component: str, end: bool) -> Column | None:
        """Pop complete readings in time order, the first reading per time. ``end``: pop everything."""
        times, values, steps = self._in_order(component)
        doubtful, lost = 0, False
        if self.zeros:  # before that there is no need to look
            real, doubtful, lost = self._real(times, values, component)
            times, values = times[real], values[real]
        last = len(times) - 1
        if self.counts:
            kept = last if end else last - max(1, doubtful)
            upto = kept + 1
        else:
            kept = upto = last + 1 if end else last
        self.doubtful = doubtful
        if upto <= self.counts:
            self._keep(times, values, steps)
            return None
        known = values[:upto]
        if self.zeros:
            known = np.where(np.isnan(known), -float(self.base), known)
        unknown = self._unknown(times[:upto], known, component, lost)
        self.flushed_ns = int(times[upto - 1])
        if doubtful <= last:
            self.was = float(values[last - doubtful]) if doubtful and end else math.nan
        if self.restarts:
            self.restarts = [time for time in self.restarts if time > self.flushed_ns]
        self._keep(times[kept:], values[kept:], steps[kept:])
        owed, self.owed = self.owed or {}, None
        notes = tuple(Note(flag, what, n) for (flag, what), n in owed.items())
        return Column(component, times[:upto], steps[:upto], known, unknown, notes)

    def _in_order(self, component: str) -> tuple[Instants, Floats, Instants]:
        """Buffered readings sorted by time, without late and repeated ones."""
        times = np.array(self.times, dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        steps = np.array(self.steps, dtype=np.int64)
        first = int(self.counts and self.flushed_ns >= 0)  # that one has been given out
        gaps = np.diff(times)
        if len(times) <= first or (
            (len(gaps) == 0 or int(gaps.min()) > 0) and int(times[first]) > self.flushed_ns
        ):
            return times, values, steps
        late, again = times < self.flushed_ns, times == self.flushed_ns
        again[:first] = False
        self._owe("out-of-order", component, max(int((gaps < 0).sum()), int(late.sum())))
        order = np.argsort(times, kind="stable")
        order = order[~(late | again)[order]]
        fresh = np.diff(times[order], prepend=-1) != 0
        self._owe("duplicate", component, int(again.sum()) + int((~fresh).sum()))
        order = order[fresh]
        return times[order], values[order], steps[order] if len(steps) else steps

    def _real(self, times: Instants, values: Floats, component: str) -> tuple[Flags, int, bool]:
        """Mask of real readings; number of trailing zeros still in doubt; True if the first reading was none."""
        real = np.ones(len(values), dtype=np.bool_)
        zero = np.isnan(values)
        begun_before = not math.isnan(self.was)
        if zero.all() and not begun_before:
            return real, 0, False
        anew = np.searchsorted(times, np.array(self.restarts or (), dtype=np.int64))
        ends = sorted({*anew.tolist(), len(values)} - {0})
        doubtful = 0
        for begin, end in pairwise((0, *ends)):
            part, none = values[begin:end, None], zero[begin:end, None]
            before = np.array([self.was]) if begin == 0 else None
            real[begin:end] = ~blanks(part, none, before)[:, 0]
            if not none.all():
                doubtful = int(none[::-1, 0].argmin())
            else:
                doubtful = end - begin if begin == 0 and begun_before else 0
        lost = begun_before and not real[0]
        real[0] |= begun_before  # it was given out
        self._owe("monitor-down", f"{component} read 0", int((~real).sum()))
        return real, doubtful, lost

    def _unknown(self, times: Instants, known: Floats, component: str, lost: bool) -> list[int]:
        """Steps with a counter restart, and steps after a zero reading that was no reading."""
        unknown = {int(place) - 1 for place in np.searchsorted(times, self.restarts or ())}
        unknown &= set(range(len(times) - 1))
        anew = sum(bool(known[step + 1] >= known[step]) for step in unknown)
        self._owe("counter-reset", f"{component} began anew", anew)
        if lost:
            unknown.add(0)
            self._owe("monitor-down", f"{component} read 0", 1)
        return sorted(unknown)

    def _owe(self, flag: str, what: str, n: int) -> None:
        if n:
            self.owed = self.owed or {}
            self.owed[flag, what] = self.owed.get((flag, what), 0) + n

    def _keep(self, times: Instants, values: Floats, steps: Instants) -> None:
        self.times, self.values = array("q", times.tobytes()), array("d", values.tobytes())
        self.steps = array("q", steps.tobytes())
        self.zeros = int(np.isnan(values).sum()) if self.zeros else 0
