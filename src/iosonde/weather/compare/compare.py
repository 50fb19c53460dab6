"""Comparison of two sides, op by op: the shift of each quantile, matched for season, corrected for multiple tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.advice import Action, Advice, Argument
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import op_order
from iosonde.stats.multiple import benjamini_hochberg, holm
from iosonde.weather.compare.by_host import explained_by_host
from iosonde.weather.compare.dependence import no_load_beside
from iosonde.weather.compare.seasons import Matching, match
from iosonde.weather.compare.shift import LEVELS, OF_MEANS, Pair, QuantileShift
from iosonde.weather.compare.sides import Period
from iosonde.weather.samples.periods import Part, has_means, part_samples, part_series
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints


_ALPHA = 0.05


@dataclass(frozen=True)
class SideOfOp:
    """Counts of one side of one op: rows due, with a latency, lost, and used."""

    n_due: int
    n: int
    n_lost: int
    used: int
    hosts: tuple[str, ...]
    periods_ns: tuple[int, ...]
    span_s: float
    """From the first used sample to the last."""


@dataclass(frozen=True)
class OpShift:
    """Shift of one op. ``p_value`` is of "neither a quantile nor the whole differs", adjusted over ops (Holm).

    ``adjusted`` (levels,) are the quantiles' p values, ``adjusted_whole`` that of all latencies together,
    adjusted over all of them of all ops (Benjamini-Hochberg).
    """

    op: str
    a: SideOfOp
    b: SideOfOp
    matching: Matching
    shift: QuantileShift
    p_value: float
    adjusted: Floats
    adjusted_whole: float
    seen: float
    """Least detectable ratio of all latencies (``Pair.seen``); NaN if they differ."""
    by_host: Flags
    """(levels,) Whether the probing host of the slower side explains the difference."""


@dataclass(frozen=True)
class Compared:
    """Both sides and every op with samples on both; ``only_a``, ``only_b``: ops without a counterpart."""

    a: Part
    b: Part
    ops: list[OpShift]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    levels: tuple[float, ...] = LEVELS


def compare(
    store: Store,
    a: Part,
    b: Part,
    *,
    ops: tuple[str, ...] | None = None,
    zone: tzinfo | None = None,
) -> Compared:
    """Compare two sides of a store. Raises NothingMeasuredError for a side without samples, StoreError."""
    series = [part_series(store.root, part) for part in (a, b)]
    for name, part, of_side in zip("AB", (a, b), series, strict=True):
        if not of_side:
            other = (", or another ", Argument("host")) if part.host else ()
            raise NothingMeasuredError(
                f"there are no samples for {name} in {store.root}",
                expected="samples on both sides",
                hint=Advice(Action("slowdown"), " to see what is stored", *other),
            )
    names = [{key.op for key in of_side} for of_side in series]
    wanted = names[0] | names[1] if ops is None else set(ops)
    both = sorted(names[0] & names[1] & wanted, key=op_order)
    if not both:
        raise NothingMeasuredError("the two sides have no operation in common")
    means = any(has_means(store.root, part) for part in (a, b))
    levels = OF_MEANS if means else LEVELS
    prepared = []
    for op in both:
        keys = [[key for key in of_side if key.op == op] for of_side in series]
        frames = [part_samples(store.root, *pair) for pair in zip((a, b), keys, strict=True)]
        prepared.append(_prepare(op, keys, frames, zone, levels))
    return Compared(
        a,
        b,
        _adjusted(prepared),
        tuple(sorted((names[0] - names[1]) & wanted, key=op_order)),
        tuple(sorted((names[1] - names[0]) & wanted, key=op_order)),
        levels,
    )


class _Prepared(NamedTuple):
    op: str
    a: SideOfOp
    b: SideOfOp
    matching: Matching
    pair: Pair
    by_host: Flags


def _prepare(
    op: str,
    keys: list[list[SeriesKey]],
    frames: list[Frame],
    zone: tzinfo | None,
    levels: tuple[float, ...],
) -> _Prepared:
    groups = _groups(keys)
    known = [frame.take(~np.isnan(frame["response_ns"])) for frame in frames]
    due = [frame["due_ns"] for frame in known]
    kind = [group[frame["series"]] for group, frame in zip(groups, known, strict=True)]
    matching = match(due[0], kind[0], due[1], kind[1], zone)
    origin = min((int(frame["due_ns"][0]) for frame in known if len(frame)), default=0)
    one = _period(known[0], matching.weight_a, origin)
    other = _period(known[1], matching.weight_b, origin)
    return _Prepared(
        op,
        _side(frames[0], known[0], one, keys[0]),
        _side(frames[1], known[1], other, keys[1]),
        matching,
        Pair(one, other, levels),
        explained_by_host(known[0], known[1], levels),
    )


def _groups(keys: list[list[SeriesKey]]) -> list[Ints]:
    """Number of each series: equal on both sides for the same host and period."""
    every = sorted({(key.host, key.period_ns) for side in keys for key in side})
    return [
        np.array([every.index((key.host, key.period_ns)) for key in side], dtype=np.int64)
        for side in keys
    ]


def _period(frame: Frame, weight: Floats, origin_ns: int) -> Period:
    used = weight > 0
    at_s = (frame["due_ns"][used] - origin_ns) / 1e9
    return Period(at_s, frame["response_ns"][used], weight[used])


def _side(frame: Frame, known: Frame, period: Period, keys: list[SeriesKey]) -> SideOfOp:
    span = float(period.at_s[-1] - period.at_s[0]) if len(period.at_s) else 0.0
    return SideOfOp(
        len(frame),
        len(known),
        int(frame["lost"].sum()),
        len(period.value),
        tuple(sorted({key.host for key in keys})),
        tuple(sorted({key.period_ns for key in keys})),
        span,
    )


def _adjusted(ops: list[_Prepared]) -> list[OpShift]:
    """Shifts of all ops, with load evidence shared among ops, and p values adjusted for all tests."""
    odds = [op.pair.odds_of_load for op in ops]
    shifts = [
        op.pair.shift(
            same_level=1 - 2 * _ALPHA / len(ops),
            no_load=no_load_beside(odds[:place] + odds[place + 1 :]),
        )
        for place, op in enumerate(ops)
    ]
    whole = holm(np.array([got.different for got in shifts]))
    parts = benjamini_hochberg(
        np.array([np.append(got.p_value, got.whole.p_value) for got in shifts])
    )
    seen = [
        op.pair.seen(_ALPHA / len(ops)) if p > _ALPHA else float("nan")
        for op, p in zip(ops, whole, strict=True)
    ]
    return [
        OpShift(
            *(op.op, op.a, op.b, op.matching, got, float(p), part[:-1], float(part[-1]), ratio),
            by_host=op.by_host,
        )
        for op, got, p, part, ratio in zip(ops, shifts, whole, parts, seen, strict=True)
    ]
