"""Stalls of a part of the ranks: more ranks wait at one instant than expected for independent ranks.

A rank waits while an operation of it is open that takes longer than a multiple of the op's usual q95. With ``f_r``
the share of the run in which rank ``r`` waits, ``m_r`` how often it begins to, and ``K(t)`` how many
wait at ``t``::

    expected number of instants at which some rank begins to wait as one of k or more
        E(k) = sum over r of m_r P(at least k - 1 of the other ranks wait),   each other with probability f

which bounds the probability of any ``K(t) >= k`` in the run (Markov), whatever the lengths of waits, if ranks wait
independently of each other at stationary times. ``f_r`` holds the stall itself, which errs towards silence.
Source: Poisson binomial distribution, e.g. Hong 2013; docs/methods/bursts.md.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.weather.bursts.search import CHANCE, FEWEST_LONG, LONG_AT, Burst, least_likely

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


FEWEST_RANKS = 4
"""Least number of ranks of a run for a search for partial stalls."""
BY_RANKS = "ranks"
"""Value of ``seen_by`` for a burst detected by the number of waiting ranks."""
STALL_NS = 1_000_000_000
"""Length of a stall for which a run reports the number of ranks needed to detect it."""
_SURE = 0.5
"""Share of the run from which on a waiting rank counts as always waiting."""


@dataclass(frozen=True)
class RunOperations:
    """Operations of all ops of a run: (operations,) each. ``factor``: duration / usual q95 of the op."""

    rank: Ints
    began_ns: Ints
    ended_ns: Ints
    factor: Floats


@dataclass(frozen=True)
class WaitingRanks:
    """Number of waiting ranks: ``count[i]`` from ``at_ns[i]`` until ``at_ns[i + 1]``; (steps,) each, times
    ascending.
    """

    at_ns: Ints
    count: Ints

    def most(self, start_ns: int, end_ns: int) -> int:
        """Largest number at once in [start, end); 0 for none."""
        if not len(self.at_ns):
            return 0
        first = max(0, int(np.searchsorted(self.at_ns, start_ns, "right")) - 1)
        last = int(np.searchsorted(self.at_ns, end_ns))
        return int(self.count[first:last].max(initial=0))


class _Waits:
    """Waits of every rank beyond one multiple, overlapping ones of a rank merged."""

    def __init__(self, run: RunOperations, multiple: float) -> None:
        some = np.flatnonzero(run.factor > multiple)
        some = some[np.lexsort((run.began_ns[some], run.rank[some]))]
        rank, began, ended = run.rank[some], run.began_ns[some], run.ended_ns[some]
        origin = int(began.min()) if len(some) else 0
        reach = int(ended.max()) - origin + 1 if len(some) else 1
        latest = np.maximum.accumulate(ended - origin + rank * reach)
        first = np.ones(len(some), dtype=bool)
        first[1:] = began[1:] - origin + rank[1:] * reach > latest[:-1]
        last = np.append(first[1:], True)[: len(some)]
        self.rank: Ints = rank[first]
        self.began_ns: Ints = began[first]
        self.ended_ns: Ints = latest[last] - self.rank * reach + origin

    def waiting(self) -> WaitingRanks:
        """Number of waiting ranks over time."""
        at = np.concatenate([self.began_ns, self.ended_ns])
        step = np.repeat([1, -1], len(self.began_ns))
        order = np.lexsort((step, at))
        return WaitingRanks(at[order], np.cumsum(step[order]))


def waiting_ranks(run: RunOperations) -> WaitingRanks:
    """Ranks that wait longer than the smallest multiple."""
    return _Waits(run, LONG_AT[0]).waiting()


def find_stalls(run: RunOperations, ranks: int) -> list[Burst]:
    """Spans in which significantly many ranks wait, by time. ``ranks``: of the run, numbered from 0.

    A span is the time around the most waiting ranks in which at least half as many wait. Bursts have no
    peaks and no window. None for fewer than ``FEWEST_RANKS``.
    """
    if ranks < FEWEST_RANKS or not len(run.rank):
        return []
    span_ns = int(run.ended_ns.max() - run.began_ns.min()) or 1
    found = []
    for multiple in LONG_AT:
        waits = _Waits(run, multiple)
        expected = expected_coincidences(
            waits.rank, waits.ended_ns - waits.began_ns, span_ns, ranks
        )
        rare = np.flatnonzero(expected <= CHANCE / len(LONG_AT))
        if len(rare):
            least = max(int(rare[0]), FEWEST_LONG)
            found += [
                _burst(run, multiple, span, expected) for span in _spans(waits.waiting(), least)
            ]
    return least_likely(found)


def fewest_seen(run: RunOperations, ranks: int, length_ns: int = STALL_NS) -> int | None:
    """Least number of ranks whose stall of this length is detectable by their number; None: not even all."""
    if ranks < FEWEST_RANKS or not len(run.rank):
        return None
    span_ns = int(run.ended_ns.max() - run.began_ns.min()) or 1
    usual_ns = float(np.median((run.ended_ns - run.began_ns) / np.maximum(run.factor, 1e-9)))
    found = [
        _fewest(_Waits(run, multiple), ranks, span_ns, length_ns)
        for multiple in LONG_AT
        if multiple * usual_ns < length_ns
    ]
    return min((k for k in found if k is not None), default=None)


def _fewest(waits: _Waits, ranks: int, span_ns: int, length_ns: int) -> int | None:
    """Bisection: the more ranks stall, the less likely it is by chance."""

    def unseen(k: int) -> bool:
        rank = np.append(waits.rank, np.arange(k))
        length = np.append(waits.ended_ns - waits.began_ns, np.full(k, length_ns))
        expected = expected_coincidences(rank, length, span_ns, ranks)
        return bool(expected[k] > CHANCE / len(LONG_AT))

    k = FEWEST_LONG + bisect_left(range(FEWEST_LONG, ranks + 1), True, key=lambda k: not unseen(k))
    return k if k <= ranks else None


def expected_coincidences(rank: Ints, length_ns: Ints, span_ns: int, ranks: int) -> Floats:
    """``E(k)`` for k = 0 .. ranks; (ranks + 1,). ``rank``, ``length_ns``: (waits,)."""
    number = np.bincount(rank, minlength=ranks)
    share = np.bincount(rank, weights=length_ns, minlength=ranks) / span_ns
    share = np.where(share > _SURE, 1.0, share)
    sure = int((share == 1.0).sum())
    some = share[share < 1.0]
    of_all = np.zeros(ranks + 1)
    of_all[sure] = 1.0
    for p in some.tolist():
        of_all[1:] = of_all[1:] * (1 - p) + of_all[:-1] * p
        of_all[0] *= 1 - p
    expected = np.zeros(ranks + 1)
    for p, begins in _alike(share, number):
        others = _without(of_all, p)
        tail = np.append(others[::-1].cumsum()[::-1], 0.0)
        expected[1:] += begins * tail[:ranks]
    expected[0] = np.inf
    return expected


def _alike(share: Floats, number: Ints) -> list[tuple[float, int]]:
    """Waiting ranks grouped by share: how often they begin to wait."""
    values, place = np.unique(share[number > 0], return_inverse=True)
    begins = np.bincount(place, weights=number[number > 0])
    return list(zip(values.tolist(), begins.astype(np.int64).tolist(), strict=True))


def _without(of_all: Floats, p: float) -> Floats:
    """Distribution of the number without one rank of probability ``p``."""
    if p == 1.0:
        return np.append(of_all[1:], 0.0)
    others = np.zeros_like(of_all)
    before = 0.0
    for k, value in enumerate(of_all.tolist()):
        before = max(0.0, (value - p * before) / (1 - p))
        others[k] = before
    return others


def _spans(waiting: WaitingRanks, least: int) -> list[tuple[int, int, int]]:
    """(start, end, most) of every span in which ``least`` or more wait, widened."""
    count = waiting.count
    spans: list[tuple[int, int, int]] = []
    above = np.flatnonzero(count >= least)
    while len(above):
        peak = int(above[np.argmax(count[above])])
        few = np.flatnonzero(count < max(2, -(-int(count[peak]) // 2)))
        before, after = few[few < peak], few[few > peak]
        first = int(before[-1]) + 1 if len(before) else 0
        last = int(after[0]) if len(after) else len(count) - 1
        spans.append((int(waiting.at_ns[first]), int(waiting.at_ns[last]), int(count[peak])))
        above = above[(above < first) | (above > last)]
    return spans


def _burst(
    run: RunOperations,
    multiple: float,
    span: tuple[int, int, int],
    expected: Floats,
) -> Burst:
    start, end, most = span
    inside = (run.began_ns < end) & (run.ended_ns > start)
    return Burst(
        start_ns=start,
        end_ns=end,
        n=int(inside.sum()),
        n_long=int((run.factor[inside] > multiple).sum()),
        long_ns=float("nan"),
        window_ns=0,
        peaks={},
        seen_by=(BY_RANKS,),
        chance=min(1.0, float(expected[most]) * len(LONG_AT)),
    )
