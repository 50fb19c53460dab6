"""A day of a cluster whose storage has a capacity, with an event of known cause, as records, allocations and slowdown.

    made = world("hog", seed=1)

Jobs follow each other on blocks of exclusive nodes and on places of shared ones; half do no I/O, the others are steady,
go on and off, repeat or work in one phase. Demands above the capacity are served in proportion, slowdown is that of a
queue: 1 + a rho / (1 - rho). While storage is slow, jobs do the less the more of their time is I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.load.world_causes import CAUSES
from benchmarks.truth.load.world_jobs import (
    BEGIN_NS,
    CELLS,
    HOUR,
    MINUTE,
    STEP_S,
    Jobs,
    S,
    Span,
    demand_of,
    fill,
)
from iosonde.jobs.attribution.allocations import Allocations
from iosonde.jobs.attribution.blame import SlowdownSeries
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.join import Joined, join

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


class World(NamedTuple):
    """``culprits``: who made the event; none: a fault. ``by_user``: they are users."""

    joined: Joined
    slowdown: SlowdownSeries
    begin_ns: int
    end_ns: int
    culprits: tuple[str, ...]
    by_user: bool


def world(kind: str, seed: int) -> World:
    """One event of a kind; seeds that make none are passed over."""
    base, _, how = kind.partition("_")
    for attempt in range(50):
        rng = np.random.default_rng((seed, attempt, sum(map(ord, base))))
        made = _made(base, how, rng)
        if made is not None:
            return made
    raise ValueError(f"{kind}, seed {seed}: no event in 50 attempts")


class Day(NamedTuple):
    """A day without an event. ``truth`` (R,): operations of each run; ``shared`` (R,): on a shared node."""

    joined: Joined
    truth: Floats
    shared: Flags


def day(seed: int) -> Day:
    """Jobs as usual, none of them throttled."""
    jobs = Jobs(np.random.default_rng((seed, 77)))
    fill(jobs)
    every = zip(jobs.demand, jobs.on, strict=True)
    truth = np.array([float(demand.sum()) * len(on) * STEP_S for demand, on in every])
    ops = _operations(jobs, np.ones(CELLS), np.ones(CELLS))
    recorded, allocations = _recorded(jobs, ops, set(), "")
    shared = np.array([on[0] >= jobs.shared_from for on in jobs.on])
    return Day(join(recorded, allocations), truth, shared)


def _made(base: str, how: str, rng: np.random.Generator) -> World | None:
    jobs = Jobs(rng)
    fill(jobs)
    usual = demand_of(jobs)
    capacity = float(np.quantile(usual, 0.99)) / rng.uniform(0.4, 0.7)
    begin = int(rng.integers(10 * HOUR, 17 * HOUR))
    length = int(rng.integers(6, 14) if how == "short" else rng.integers(25, 170)) * MINUTE
    span = (begin, begin + length)
    cause = CAUSES[base](jobs, capacity, span, rng)
    slow = np.ones(CELLS) if cause.slow is None else cause.slow
    total = demand_of(jobs) + cause.hidden
    rho = np.minimum(total / capacity, 0.97)
    served = np.minimum(1.0, 0.97 * capacity / np.maximum(total, 1e-9))
    factor = (1 + rng.uniform(0.1, 0.5) * rho / (1 - rho)) * slow
    factor = factor / float(np.median(factor)) * np.exp(_wander(rng))
    event = cause.event or _longest(_minutes(factor) >= 2)
    if event is None or not _real(factor, event) or not _meant(base, jobs, span, event):
        return None
    unrecorded = set(cause.culprits) if how == "gap" else set()
    ops = _operations(jobs, served, slow)
    recorded, allocations = _recorded(jobs, ops, unrecorded, how)
    times = BEGIN_NS + np.arange(CELLS // MINUTE) * 60 * S
    seen = _minutes(factor) * np.exp(0.05 * rng.standard_normal(len(times)))
    names = tuple(jobs.users[one] if cause.by_user else str(70000 + one) for one in cause.culprits)
    return World(
        join(recorded, allocations),
        SlowdownSeries(times, seen),
        int(times[event[0]]),
        int(times[0]) + event[1] * 60 * S,
        () if how == "gap" else tuple(dict.fromkeys(names)),
        cause.by_user,
    )


def _real(factor: Floats, event: Span) -> bool:
    long = event[1] - event[0] >= 3
    return long and float(np.median(_minutes(factor)[slice(*event)])) >= 2


def _meant(base: str, jobs: Jobs, span: Span, event: Span) -> bool:
    """Whether most of the event is that of its cause; a busy hour of all is one in which no job did a quarter."""
    if base == "diurnal":
        first, last = event[0] * MINUTE, event[1] * MINUTE
        did = [
            float(demand[max(first - begin, 0) : max(last - begin, 0)].sum()) * len(on)
            for (begin, _), on, demand in zip(jobs.spans, jobs.on, jobs.demand, strict=True)
        ]
        return max(did) < 0.25 * sum(did)
    common = min(event[1], span[1] / MINUTE) - max(event[0], span[0] / MINUTE)
    return base == "hourly" or common >= (event[1] - event[0]) / 2


KINDS = (
    *("hog", "hog_short", "hog_300", "hog_gap", "late", "shared", "two", "array", "alike"),
    *("diurnal", "fault", "fault_short", "fault_300", "hidden", "coinc", "hourly"),
)


def _wander(rng: np.random.Generator) -> Floats:
    """Logarithm of slow changes of the storage: 0.1 over half an hour."""
    keep = np.exp(-1 / (30 * MINUTE))
    steps = 0.1 * np.sqrt(1 - keep**2) * rng.standard_normal(CELLS)
    found = np.zeros(CELLS)
    for place in range(1, CELLS):
        found[place] = keep * found[place - 1] + steps[place]
    return found


def _minutes(cells: Floats) -> Floats:
    return cells.reshape(-1, MINUTE).mean(axis=1)


def _longest(slow: Flags) -> Span | None:
    """The longest run of slow minutes; gaps of 10 min belong to it."""
    places = np.flatnonzero(slow)
    if not len(places):
        return None
    run = max(np.split(places, np.flatnonzero(np.diff(places) > 10) + 1), key=len)
    return int(run[0]), int(run[-1]) + 1


def _operations(jobs: Jobs, served: Floats, slow: Floats) -> Floats:
    """(N, C) What each node did, with a background of its own."""
    rng = jobs.rng
    ops = rng.standard_gamma(2.0, (jobs.nodes, CELLS)) * rng.gamma(2.0, 0.1, (jobs.nodes, 1)) * 15
    for place, ((begin, end), on) in enumerate(zip(jobs.spans, jobs.on, strict=True)):
        wait = jobs.waits[place]
        part = served[begin:end] * (1 - wait + wait / slow[begin:end])
        ops[on, begin:end] += jobs.demand[place] * part * STEP_S
    return ops


def _recorded(
    jobs: Jobs, ops: Floats, unrecorded: set[int], how: str
) -> tuple[NodeOps, Allocations]:
    """Records of nodes each 30 or 300 s, on clocks that may be 300 s late."""
    rng = jobs.rng
    step = 10 if how == "300" else 1
    if how == "300" and rng.random() < 0.5:
        ops = np.roll(ops, 300 // STEP_S, axis=1)
    ops = ops.reshape(jobs.nodes, -1, step).sum(axis=2)
    covered = np.ones(ops.shape, np.float32)
    if how == "gap":
        dark = rng.random(jobs.nodes) < 1 / 3
        dark[[node for one in unrecorded for node in jobs.on[one]]] = True
        covered[dark], ops[dark] = 0, 0
    names = tuple(f"n{one:03d}" for one in range(jobs.nodes))
    grid = Grid(BEGIN_NS, STEP_S * step * S, ops.shape[1])
    pairs = np.array([(run, node) for run, on in enumerate(jobs.on) for node in on], np.intp)
    spans = np.array(jobs.spans, np.int64)
    users = np.array(jobs.users, object)
    return NodeOps(grid, names, ops.astype(np.float32), covered), Allocations(
        job_id=np.array([str(70000 + one) for one in range(len(spans))], object),
        user=users,
        account=users,
        name=users,
        begin_ns=BEGIN_NS + spans[:, 0] * STEP_S * S,
        end_ns=BEGIN_NS + spans[:, 1] * STEP_S * S,
        going_on=np.zeros(len(spans), bool),
        run=pairs[:, 0],
        node=pairs[:, 1],
        cpus=np.full(len(pairs), np.nan),
        nodes=names,
    )
