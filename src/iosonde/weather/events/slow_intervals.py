"""Spells of slowdown: which minutes belong together, when it began, when it was over.

::

    typ        3 |      ▄█▅▇            hot:    typ >= 2 or tail >= 10 or lost >= 0.05
               2 |- - -▟████- - - - -   quiet:  typ < 1.5 and tail < 3 and lost < 0.05
               1 |▃▂▃▄ ████████▃▂▃▂▃▂
                       ^3 hot          ^5 quiet: it ended where they begin

A window in which nothing was seen (NaN, or no row) is neither hot nor quiet: a gap begins no spell
and ends none, and the time it took is told as ``unobserved_ns``.
Source: reference 3.2 of docs/methods/slowdown.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from iosonde.model.arrays import Flags, Floats, Instants, Ints, Places
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.events.pieces.piece import SlowPiece, united

AFFECTED = 0.5
"""An op that was slow for this share of a spell or more is affected by it."""
_PEAK_WINDOWS = 5
"""The peak is the largest median of this many windows in a row."""


@dataclass(frozen=True)
class Rule:
    """When a spell begins and ends. Counts are windows in a row; ratios and shares."""

    hot_typ: float = 2.0
    hot_tail: float = 10.0
    hot_lost: float = 0.05
    hot_windows: int = 3
    quiet_typ: float = 1.5
    quiet_tail: float = 3.0
    quiet_windows: int = 5
    merged_windows: int = 3
    """Spells that are at most this far apart are one; windows further apart are not in a row."""


RULE = Rule()
OF_INTERVALS = Rule(hot_windows=2, quiet_windows=2, merged_windows=1, hot_lost=0.1)
"""Of windows of ten minutes two are enough; few operations in each, so that two failed ones are no event."""
OF_HOURS = replace(OF_INTERVALS, hot_lost=0.25)
"""Of longer windows: they hold eight to fifty operations."""


def rule_of(window_ns: int) -> Rule:
    """The rule for windows of a length."""
    if window_ns < INTERVAL_NS:
        return RULE
    return OF_INTERVALS if window_ns == INTERVAL_NS else OF_HOURS


class OpWindows(NamedTuple):
    """Windows of one op, ascending and of equal length; NaN where nothing is known.

    ``n`` is how many operations stand behind each window; ``learning`` where usual was the median of the windows so
    far: then ``typ`` is against that ``usual_ns`` and hot only where it is ``certain``. One window that is certain
    begins a spell: in the first day no detector looks for short ones. ``lower`` and ``upper``: the interval of ``typ``.
    """

    start_ns: Instants
    typ: Floats
    tail: Floats
    lost: Floats
    n: Ints
    window_ns: int = 60_000_000_000
    learning: Flags | None = None
    certain: Flags | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    usual_ns: Floats | None = None

    def rows(self, at: slice) -> OpWindows:
        """Some of them."""
        columns: dict[str, Any] = {
            name: None if column is None else column[at]
            for name, column in self._asdict().items()
            if name != "window_ns"
        }
        return OpWindows(**columns, window_ns=self.window_ns)

    def known(self, name: str) -> Any:
        """A column that need not be there: nothing is known then, or true."""
        column = getattr(self, name)
        if column is not None:
            return column
        flags = name in ("learning", "certain")
        return np.zeros(len(self.n), bool) if flags else np.full(len(self.n), np.nan)


def one_after_other(parts: Sequence[OpWindows]) -> OpWindows:
    """Windows of one op, of stretches that follow each other."""
    if len(parts) == 1:
        return parts[0]
    names = [name for name in OpWindows._fields if name != "window_ns"]
    columns = {name: np.concatenate([part.known(name) for part in parts]) for name in names}
    return OpWindows(**columns, window_ns=parts[0].window_ns)


class Measures(NamedTuple):
    """One op within a span. Slowdowns are ratios, NaN where nothing is known.

    ``share``: of the windows seen, how many had typ >= 1.5. ``area_s``: sum of (typ - 1) dt, the
    seconds an op that runs all the time has lost. ``recovery_ns``: from the last window at half the
    peak or more to the end.
    """

    median: float
    lower: float
    upper: float
    peak: float
    peak_ns: int | None
    tail: float
    lost: float
    share: float
    area_s: float
    recovery_ns: int | None
    n: int
    unobserved_ns: int


def sure_tail(tail: Floats, lower: Floats, rule: Rule = RULE) -> Floats:
    """A tail that begins a spell only where the lower end of its interval is not quiet.

    Where a few operations are always slow the quantile of a minute lies now among them and now among the others.
    Missing data: a tail without a lower end stays.
    """
    most: Floats = np.fmin(tail, lower * (rule.hot_tail / rule.quiet_tail))
    return np.where(np.isnan(tail), np.nan, most)


def spells(series: OpWindows, rule: Rule = RULE, op: str = "") -> list[SlowPiece]:
    """The spells of one series, of an op, in order.

    Shape: (windows,) each. Unit: ns since the epoch, ratios, shares.
    Missing data: NaN and missing rows, see above; the first ``hot_windows`` of a spell must follow
    each other within ``merged_windows``, so that none begins in a gap.
    """
    hot, quiet = _hot(series, rule), _quiet(series, rule)
    seen = np.flatnonzero(hot | quiet | ~np.isnan(series.typ))
    if len(seen) == 0:
        return []
    start = series.start_ns[seen]
    near = np.diff(start) <= (rule.merged_windows + 1) * series.window_ns
    entries = _in_a_row(hot[seen], near, rule.hot_windows)
    entries = np.union1d(entries, np.flatnonzero(series.known("certain")[seen]))
    exits = _in_a_row(quiet[seen], np.ones(len(near), bool), rule.quiet_windows)
    found: list[SlowPiece] = []
    at = 0
    while (entry := int(np.searchsorted(entries, at))) < len(entries):
        first = int(entries[entry])
        leave = int(np.searchsorted(exits, first))
        still = leave == len(exits)
        at = len(seen) if still else int(exits[leave])
        end = int(start[at - 1]) + series.window_ns
        found.append(SlowPiece(op, int(start[first]), end, still))
    return united(found, rule.merged_windows * series.window_ns)


def measure(
    series: OpWindows, span_ns: tuple[int, int], rule: Rule = RULE, *, open_: bool = False
) -> Measures:
    """What one op went through in windows that begin in [begin, end); ``open_``: the data ended first."""
    begin_ns, end_ns = span_ns
    rows = slice(*np.searchsorted(series.start_ns, [begin_ns, end_ns]))
    typ, tail, starts = series.typ[rows], series.tail[rows], series.start_ns[rows]
    known = ~np.isnan(typ)
    seen = len(np.unique(starts[known | ~np.isnan(series.lost[rows])]))
    found = Measures(
        median=float("nan"),
        lower=float("nan"),
        upper=float("nan"),
        peak=float("nan"),
        peak_ns=None,
        tail=float(np.max(tail, initial=-np.inf, where=~np.isnan(tail))),
        lost=_mean(series.lost[rows], series.n[rows]),
        share=0.0,
        area_s=0.0,
        recovery_ns=None,
        n=int(series.n[rows].sum()),
        unobserved_ns=max(0, end_ns - begin_ns - seen * series.window_ns),
    )
    found = found if found.tail > 0 else found._replace(tail=float("nan"))
    if not known.any():
        return found
    values, at = typ[known], starts[known]
    width = min(_PEAK_WINDOWS, len(values))
    medians = sliding_median(values, width)
    best = int(np.argmax(medians))
    peak = float(medians[best])
    halfway = int(at[np.flatnonzero(values >= peak / 2)[-1]]) + series.window_ns
    return found._replace(
        median=float(np.median(values)),
        lower=_median(series.known("lower")[rows]),
        upper=_median(series.known("upper")[rows]),
        peak=peak,
        peak_ns=int(at[best + width // 2]),
        share=float(np.mean(values >= rule.quiet_typ)),
        area_s=float(np.sum(values - 1) * series.window_ns / 1e9),
        recovery_ns=None if open_ else max(0, end_ns - halfway),
    )


def sliding_median(values: Floats, width: int) -> Floats:
    """Medians of ``width`` values in a row: len - width + 1 of them."""
    rows = np.lib.stride_tricks.sliding_window_view(values, width)
    return np.asarray(np.median(rows, axis=-1))


def _hot(series: OpWindows, rule: Rule) -> Flags:
    """NaN compares false: what is not known is not hot."""
    hot: Flags = series.typ >= rule.hot_typ
    if series.certain is not None:
        hot &= ~series.known("learning") | series.certain
    hot |= series.tail >= rule.hot_tail
    hot |= series.lost >= rule.hot_lost
    return hot


def _quiet(series: OpWindows, rule: Rule) -> Flags:
    """Quiet as far as is known, and something is known of it."""
    loud = _hot(series, rule) | (series.typ >= rule.quiet_typ) | (series.tail >= rule.quiet_tail)
    known: Flags = ~np.isnan(series.typ)
    if series.learning is not None:
        known |= series.learning & ~np.isnan(series.lost)
    return ~loud & known


def _in_a_row(flags: Flags, near: Flags, wanted: int) -> Places:
    """Where ``wanted`` flags in a row begin; ``near[i]``: i + 1 follows on i."""
    good = flags.copy()
    for _ in range(wanted - 1):  # after pass k: i .. i + k are all set and near
        good[:-1] &= near & good[1:]
        good[-1:] = False
    return np.flatnonzero(good)


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _mean(shares: Floats, n: Ints) -> float:
    known = ~np.isnan(shares)
    weights = n[known].astype(float)
    if not known.any():
        return float("nan")
    if weights.sum() == 0:
        return float(np.mean(shares[known]))
    return float(np.average(shares[known], weights=weights))
