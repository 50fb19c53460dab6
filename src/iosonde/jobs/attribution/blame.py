"""Who made a slow event, or the operations of an interval: a ranked answer, or that there is none.

Two questions that are kept apart. Who did most: the fewest jobs that make up more than half of the operations, and
whether they stand out. Who caused the slowdown: whose load explains its course (``culprits``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.course import BLOCK
from iosonde.jobs.attribution.culprits import Confidence, Culprits, Suspect, culprits
from iosonde.jobs.attribution.loads import Loads, loads
from iosonde.jobs.attribution.shares import By, Share, Shares, shares

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.model.arrays import Floats, Instants

HALF = 0.5
SLOT_NS = 300_000_000_000
AROUND_NS = 12 * 3_600_000_000_000
"""Time before and after an event with which its loads are compared."""
STANDS_OUT = 1.5
"""Several jobs of which the first did less than this times the last contribute alike."""
FEWEST_ALIKE = 3
COVERED = 0.8
"""With records of less of the nodes' time nobody is said to have caused most of it."""
SLOTS_OF_EVENT = 12
"""Slots are so short that an event has this many, down to a step of the records."""
LEAST = 0.005
"""Loads that never reach this share of all operations of a busy slot are no suspects."""


class Majority(NamedTuple):
    """The fewest that made up more than half of the operations. ``alike``: none of them stands out."""

    of: tuple[Share, ...]
    share: float
    """Theirs of all operations."""
    effective: float
    """exp(entropy) of all shares: how many equal contributors would look like this."""
    alike: bool


class SlowdownSeries(NamedTuple):
    """``factor`` (L,): slowdown at ``time_ns`` (L,), NaN where it is not known."""

    time_ns: Instants
    factor: Floats


class NamedLoad(NamedTuple):
    """A suspect with its name and what it did in the event."""

    who: str
    suspect: Suspect
    did: Share | None
    alike: tuple[str, ...]


class Blame(NamedTuple):
    """``ranked`` is empty where no load explains the event, or no slowdown was given.

    ``found`` None: the slowdown was not compared, as it is known in too few slots of ``slot_ns``.
    """

    shares: Shares
    majority: Majority
    ranked: tuple[NamedLoad, ...]
    found: Culprits | None
    slot_ns: int = SLOT_NS


def majority(found: Shares) -> Majority:
    """Fewest contributors to a majority of the operations; unattributed operations count to the total."""
    ops = np.array([one.ops for one in found.ranked])
    total = max(found.total, 1e-300)
    reached = np.cumsum(ops) / total > HALF
    count = int(np.argmax(reached)) + 1 if reached.any() else 0
    of = found.ranked[:count]
    part = ops[ops > 0] / max(float(ops.sum()), 1e-300)
    effective = float(np.exp(-(part * np.log(part)).sum())) if len(part) else 0.0
    alike = count >= FEWEST_ALIKE and of[0].ops < STANDS_OUT * of[-1].ops
    return Majority(of, sum(one.ops for one in of) / total, effective, alike)


def blame(
    joined: Joined,
    begin_ns: int,
    end_ns: int,
    slowdown: SlowdownSeries | None = None,
    by: By = "job_id",
    *,
    moved: Joined | None = None,
) -> Blame:
    """Who did most in [begin, end), and with a slowdown who caused it, the surest first.

    ``moved``: the same for bytes, where nodes recorded them.
    """
    done = shares(joined, begin_ns, end_ns, by)
    most = majority(done)
    if slowdown is None:
        return Blame(done, most, (), None)
    grid = joined.recorded.grid
    slot_ns = slot_of(begin_ns, end_ns, grid.step_ns)
    around = AROUND_NS // SLOT_NS * slot_ns
    first = max(grid.begin_ns, begin_ns - (begin_ns - grid.begin_ns) // slot_ns * slot_ns)
    first = max(first, begin_ns - around)
    wide = loads(joined, first, min(grid.end_ns, end_ns + around), slot_ns, by)
    wide = _worth_naming(wide)
    event = (wide.begin_ns + wide.step_ns > begin_ns) & (wide.begin_ns < end_ns)
    recorded = wide.covered >= HALF * wide.covered.max(initial=0.0)
    factor = np.where(recorded, in_slots(slowdown, wide), np.nan)
    if np.isfinite(factor).sum() < 2 * BLOCK or not np.isfinite(factor[event]).any():
        return Blame(done, most, (), None, slot_ns)
    found = culprits(wide.ops, factor, event, moved=_moved(moved, wide))
    did = {one.who: one for one in done.ranked}
    ranked = []
    for one in found.suspects:
        unsure = done.covered < COVERED and one.confidence is Confidence.MOST
        said = one._replace(confidence=Confidence.PROBABLE) if unsure else one
        name = wide.names[one.place]
        alike = tuple(wide.names[other] for other in one.alike)
        ranked.append(NamedLoad(name, said, did.get(name), alike))
    return Blame(done, most, tuple(ranked), found, slot_ns)


def _moved(moved: Joined | None, wide: Loads) -> Floats | None:
    """(K,) Bytes of all in the slots of ``wide``; None where a slot with operations has no record of bytes."""
    slots = len(wide.begin_ns)
    if moved is None or not slots:
        return None
    begin = int(wide.begin_ns[0])
    there = loads(moved, begin, begin + slots * wide.step_ns, wide.step_ns)
    if len(there.covered) < slots or ((there.covered == 0) & (wide.covered > 0)).any():
        return None
    return np.asarray(there.ops.sum(axis=0))


def slot_of(begin_ns: int, end_ns: int, step_ns: int) -> int:
    """Slots that an event is compared in: a twelfth of it, in whole steps of the records, at most 5 min."""
    fit = min((end_ns - begin_ns) // SLOTS_OF_EVENT, SLOT_NS)
    return max(1, fit // step_ns) * step_ns


def _worth_naming(wide: Loads) -> Loads:
    """Those that were ever a visible part of all operations."""
    busiest = float(wide.ops.sum(axis=0).max(initial=0.0))
    rows = np.flatnonzero(wide.ops.max(axis=1, initial=0.0) >= LEAST * busiest)
    return wide._replace(names=tuple(wide.names[row] for row in rows), ops=wide.ops[rows])


def in_slots(slowdown: SlowdownSeries, wide: Loads) -> Floats:
    """(K,) Median slowdown of each slot, NaN where there is none."""
    slots = len(wide.begin_ns)
    found = np.full(slots, np.nan)
    if not slots:
        return found
    keep = np.isfinite(slowdown.factor)
    at = (slowdown.time_ns[keep] - int(wide.begin_ns[0])) // wide.step_ns
    inside = (at >= 0) & (at < slots)
    at, factor = at[inside], slowdown.factor[keep][inside]
    order = np.lexsort((factor, at))
    at, factor = at[order], factor[order]
    slot, begin, count = np.unique(at, return_index=True, return_counts=True)
    found[slot] = (factor[begin + (count - 1) // 2] + factor[begin + count // 2]) / 2
    return found
