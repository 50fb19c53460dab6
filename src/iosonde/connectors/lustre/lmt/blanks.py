"""False zeros of LMT's counters, in a table read span by span."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from iosonde.connectors.counters import blanks
from iosonde.model.arrays import Flags, Floats, Places


class Blanks:
    """Counters of one metric. Spans come in time order.

    Whether a zero at the end of a span is a reading depends on what is behind it: that is looked up for those
    counters that a span leaves at 0, by ``read`` (ticks and which counters -> (T, N)), at most ``width`` ticks at
    a time.
    """

    def __init__(
        self, read: Callable[[slice, Places], Floats], total: int, width: int, parts: int
    ) -> None:
        self._read, self._total, self._width = read, total, width
        self._before = np.full(parts, np.nan)
        """The last reading other than 0 of each."""
        self._next = np.full(parts, -1)
        """The tick of the first reading other than 0 behind where was looked last; ``total``: there is none."""
        self._then = np.full(parts, np.nan)
        """That reading."""

    def out(self, values: Floats, rows: slice) -> tuple[Floats, Flags]:
        """(T, N) readings with NaN for false zeros, and the (T, N) mask of these."""
        zero = values == 0
        usable = values > 0
        begun = usable.any(axis=0) | ~np.isnan(self._before)
        blank = np.zeros_like(zero)
        if (zero & begun).any():
            last = np.where(usable | zero, np.arange(len(values))[:, None], -1).max(axis=0)
            ends = begun & (last >= 0) & zero[last, np.arange(len(last))]
            blank = blanks(values, zero, self._before, self._after(ends, rows.stop))
            values = np.where(blank, np.nan, values)
        at = len(usable) - 1 - usable[::-1].argmax(axis=0)
        latest = values[at, np.arange(len(at))]
        self._before = np.where(usable.any(axis=0), latest, self._before)
        return values, blank

    def _after(self, asked: Flags, begin: int) -> Floats:
        """First nonzero readings from a tick on, of some of the counters; NaN if there is none."""
        unknown, width = asked & (self._next < begin), self._width // 8 + 1
        while unknown.any() and begin < self._total:
            upto = min(begin + width, self._total)
            usable = (found := self._read(slice(begin, upto), np.flatnonzero(unknown))) > 0
            there = np.flatnonzero(unknown & usable.any(axis=0))
            first = usable[:, there].argmax(axis=0)
            self._next[there], self._then[there] = begin + first, found[first, there]
            unknown[there] = False
            begin, width = upto, min(2 * width, self._width)
        self._next[unknown], self._then[unknown] = self._total, np.nan
        return np.where(asked, self._then, np.nan)
