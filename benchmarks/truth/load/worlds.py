"""A day of a cluster whose storage has a capacity, with an event of known cause, as records, allocations and slowdown.

    made = world("hog", seed=1)

Jobs follow each other on blocks of exclusive nodes and on places of shared ones; half do no I/O, the others are steady,
go on and off, repeat or work in one phase. Demands above the capacity are served in proportion, slowdown is that of a
queue: 1 + a rho / (1 - rho). While storage is slow, jobs do the less the more of their time is I/O.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.allocations import Allocations
from iosonde.jobs.attribution.blame import SlowdownSeries
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.join import Joined, join

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats

BEGIN_NS = 1_788_220_800_000_000_000
"""2026-09-01 00:00 UTC."""
S = 1_000_000_000
STEP_S = 30
HOURS = 28
CELLS = HOURS * 3600 // STEP_S
MINUTE = 60 // STEP_S
HOUR = 3600 // STEP_S
Span = tuple[int, int]
"""Begin and end, in cells or minutes."""


class World(NamedTuple):
    """``culprits``: who made the event; none: a fault. ``by_user``: they are users."""

    joined: Joined
    slowdown: SlowdownSeries
    begin_ns: int
    end_ns: int
    culprits: tuple[str, ...]
    by_user: bool


@dataclass
class _Jobs:
    """Runs so far: begin and end in cells, owner, nodes, and demand of all nodes together a cell."""

    rng: np.random.Generator
    nodes: int = 0
    shared_from: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    on: list[list[int]] = field(default_factory=list)
    demand: list[Floats] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def add(self, begin: int, end: int, on: list[int], demand: Floats, user: str = "") -> int:
        """One run; ``demand`` (end - begin,) operations per second on each of its nodes."""
        begin, end = max(begin, 0), min(end, CELLS)
        self.spans.append((begin, end))
        self.users.append(user or f"u{min(int(self.rng.zipf(1.6)), 40):02d}")
        self.on.append(on)
        self.demand.append(demand[: end - begin])
        self.waits.append(float(self.rng.uniform(0.3, 0.9)))
        return len(self.spans) - 1

    def new_nodes(self, n: int) -> list[int]:
        self.nodes += n
        return list(range(self.nodes - n, self.nodes))


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
    jobs = _Jobs(np.random.default_rng((seed, 77)))
    _fill(jobs)
    every = zip(jobs.demand, jobs.on, strict=True)
    truth = np.array([float(demand.sum()) * len(on) * STEP_S for demand, on in every])
    ops = _operations(jobs, np.ones(CELLS), np.ones(CELLS))
    recorded, allocations = _recorded(jobs, ops, set(), "")
    shared = np.array([on[0] >= jobs.shared_from for on in jobs.on])
    return Day(join(recorded, allocations), truth, shared)


def _made(base: str, how: str, rng: np.random.Generator) -> World | None:
    jobs = _Jobs(rng)
    _fill(jobs)
    usual = _total(jobs)
    capacity = float(np.quantile(usual, 0.99)) / rng.uniform(0.4, 0.7)
    begin = int(rng.integers(10 * HOUR, 17 * HOUR))
    length = int(rng.integers(6, 14) if how == "short" else rng.integers(25, 170)) * MINUTE
    span = (begin, begin + length)
    cause = _CAUSES[base](jobs, capacity, span, rng)
    slow = np.ones(CELLS) if cause.slow is None else cause.slow
    total = _total(jobs) + cause.hidden
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


def _meant(base: str, jobs: _Jobs, span: Span, event: Span) -> bool:
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


def _fill(jobs: _Jobs) -> None:
    """Chains of jobs on blocks of exclusive nodes and on places of shared ones."""
    rng = jobs.rng
    left = int(rng.integers(50, 121))
    while left > 0:
        block = jobs.new_nodes(min(left, int(np.clip(rng.lognormal(0.7, 0.9), 1, 16))))
        left -= len(block)
        _chain(jobs, block, 3600 * rng.lognormal(0, 0.5))
    jobs.shared_from = jobs.nodes
    for _ in range(int(rng.integers(8, 31))):
        node = jobs.new_nodes(1)
        for _ in range(int(rng.integers(3, 6))):
            _chain(jobs, node, 1800 * rng.lognormal(0, 0.5))


def _chain(jobs: _Jobs, on: list[int], usual_s: float, until: int = CELLS) -> None:
    rng, at = jobs.rng, -int(jobs.rng.integers(0, 2 * HOUR))
    while at < until:
        length = max(2, int(rng.lognormal(np.log(usual_s), 0.9)) // STEP_S)
        end = min(at + length, until)
        if end - max(at, 0) >= 2:
            jobs.add(at, end, on, _pattern(end - max(at, 0), rng) * rng.lognormal(1.0, 1.2))
        at = end + int(rng.exponential(10)) + 1


def _pattern(n: int, rng: np.random.Generator, kind: int | None = None) -> Floats:
    """Demand over a run in multiples of its rate: none, steady, on and off, repeated, in one phase."""
    kind = int(rng.choice(5, p=[0.45, 0.2, 0.15, 0.12, 0.08])) if kind is None else kind
    at = np.arange(n)
    level = np.zeros(n)
    if kind == 1:
        level[:] = 1
    elif kind == 2:
        mean = rng.uniform(1, 8) * MINUTE
        turns = np.cumsum(1 + rng.exponential(mean, n).astype(int))
        level = (np.searchsorted(turns, at, side="right") % 2).astype(float)
    elif kind == 3:
        period = int(rng.uniform(10, 60) * MINUTE)
        level = (at % period < rng.uniform(1, 5) * MINUTE) * 3.0
    elif kind == 4:
        first = rng.uniform(0, 0.7) * n
        level = ((at >= first) & (at < first + 0.3 * n)) * 2.0
    return level * rng.gamma(6.0, 1 / 6.0, n)


def _total(jobs: _Jobs) -> Floats:
    total = np.zeros(CELLS)
    for (begin, end), on, demand in zip(jobs.spans, jobs.on, jobs.demand, strict=True):
        total[begin:end] += demand * len(on)
    return total


class _Cause(NamedTuple):
    """``slow`` (C,): factor of a fault. ``event``: in minutes, where the kind has its own."""

    culprits: tuple[int, ...] = ()
    slow: Floats | None = None
    hidden: Floats | float = 0.0
    event: Span | None = None
    by_user: bool = False


def _hog_of(jobs: _Jobs, size: float, span: Span, rng: np.random.Generator, kind: int) -> int:
    on = jobs.new_nodes(int(rng.integers(1, 17)))
    _chain(jobs, on, 3600, span[0] - 2)
    demand = _pattern(span[1] - span[0], rng, kind) * size / len(on)
    return jobs.add(*span, on, demand)


def _hog(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    kind = 2 if rng.random() < 0.3 else 1
    return _Cause((_hog_of(jobs, rng.uniform(1.2, 3) * capacity, span, rng, kind),))


def _late(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """A long job that works only in the event."""
    on = jobs.new_nodes(int(rng.integers(1, 17)))
    begin, end = int(rng.integers(0, 6 * HOUR)), int(rng.integers(21 * HOUR, CELLS))
    demand = np.zeros(end - begin)
    length = span[1] - span[0]
    demand[span[0] - begin : span[1] - begin] = (
        _pattern(length, rng, 1) * rng.uniform(1.2, 3) * capacity / len(on)
    )
    return _Cause((jobs.add(begin, end, on, demand),))


def _shared(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    node = int(rng.integers(jobs.shared_from, jobs.nodes))
    demand = _pattern(span[1] - span[0], rng, 1) * rng.uniform(1.2, 3) * capacity
    return _Cause((jobs.add(*span, [node], demand),))


def _two(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    moved = [int(rng.integers(-10, 11)) * MINUTE for _ in range(2)]
    both = [
        _hog_of(
            jobs,
            rng.uniform(0.7, 1.4) * capacity,
            (span[0] + by, span[1] + by),
            rng,
            1 if rng.random() < 0.7 else 2,
        )
        for by in moved
    ]
    return _Cause(tuple(both))


def _array(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """Short tasks of one user, one after the other on a few nodes."""
    nodes = jobs.new_nodes(int(rng.integers(4, 13)))
    size = rng.uniform(1.2, 2) * capacity / len(nodes)
    tasks = []
    for node in nodes:
        at = span[0] + int(rng.integers(0, 3 * MINUTE))
        while at < span[1]:
            end = min(at + int(rng.uniform(2, 10) * MINUTE), span[1] + 1)
            demand = _pattern(end - at, rng, 1) * size
            tasks.append(jobs.add(at, end, [node], demand, "mallory"))
            at = end + int(rng.integers(0, 3))
    return _Cause(tuple(tasks), by_user=True)


def _alike(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    many = int(rng.integers(8, 17))
    for _ in range(many):
        _hog_of(jobs, rng.uniform(1.2, 2) * capacity / many, span, rng, 1)
    return _Cause()


def _diurnal(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """All do more for hours, none stands out."""
    usual = _total(jobs)
    middle, width = sum(span) / 2, rng.uniform(2, 4) * HOUR
    slope = np.exp(-(((np.arange(CELLS) - middle) / width) ** 2))
    top = np.median(usual[int(middle) - HOUR : int(middle) + HOUR])
    rise = 1 + slope * max(rng.uniform(0.9, 1.2) * capacity / top - 1, 0)
    for place, (begin, end) in enumerate(jobs.spans):
        jobs.demand[place] = jobs.demand[place] * rise[begin:end]
    return _Cause()


def _fault(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    del jobs, capacity
    return _Cause(slow=_slow(span, rng))


def _slow(span: Span, rng: np.random.Generator) -> Floats:
    slow = np.ones(CELLS)
    slow[slice(*span)] = rng.uniform(2.5, 8)
    return slow


def _hidden(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """Load from a cluster that nobody records."""
    del jobs
    hidden = np.zeros(CELLS)
    hidden[slice(*span)] = _pattern(span[1] - span[0], rng, 1) * rng.uniform(1.2, 3) * capacity
    return _Cause(hidden=hidden)


def _coinc(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """A fault, and a job of 4 to 12% of the capacity that begins and ends within 4 min of it."""
    off = rng.integers(-4 * MINUTE, 4 * MINUTE + 1, 2)
    _hog_of(jobs, rng.uniform(0.04, 0.12) * capacity, (span[0] + off[0], span[1] + off[1]), rng, 1)
    return _Cause(slow=_slow(span, rng))


def _hourly(jobs: _Jobs, capacity: float, span: Span, rng: np.random.Generator) -> _Cause:
    """A snapshot slows 8 min of each hour; in half of the worlds a job writes checkpoints near the same minute."""
    at = np.arange(CELLS)
    minute = int(rng.integers(0, HOUR))
    slow = np.where((at - minute) % HOUR < 8 * MINUTE, rng.uniform(3, 6), 1.0)
    if rng.random() < 0.5:
        on = jobs.new_nodes(int(rng.integers(1, 17)))
        off = int(rng.integers(-3 * MINUTE, 3 * MINUTE + 1))
        wrote = ((at - minute - off) % HOUR < rng.uniform(4, 8) * MINUTE) * 1.0
        size = rng.uniform(0.05, 0.15) * capacity / len(on)
        begin = int(rng.integers(0, 3 * HOUR))
        jobs.add(begin, CELLS, on, wrote[begin:] * size * rng.gamma(6, 1 / 6, CELLS - begin))
    begin = (span[0] // HOUR * HOUR + minute) // MINUTE
    return _Cause(slow=slow, event=(begin, begin + 8))


_CAUSES = {
    "hog": _hog,
    "late": _late,
    "shared": _shared,
    "two": _two,
    "array": _array,
    "alike": _alike,
    "diurnal": _diurnal,
    "fault": _fault,
    "hidden": _hidden,
    "coinc": _coinc,
    "hourly": _hourly,
}
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


def _operations(jobs: _Jobs, served: Floats, slow: Floats) -> Floats:
    """(N, C) What each node did, with a background of its own."""
    rng = jobs.rng
    ops = rng.standard_gamma(2.0, (jobs.nodes, CELLS)) * rng.gamma(2.0, 0.1, (jobs.nodes, 1)) * 15
    for place, ((begin, end), on) in enumerate(zip(jobs.spans, jobs.on, strict=True)):
        wait = jobs.waits[place]
        part = served[begin:end] * (1 - wait + wait / slow[begin:end])
        ops[on, begin:end] += jobs.demand[place] * part * STEP_S
    return ops


def _recorded(
    jobs: _Jobs, ops: Floats, unrecorded: set[int], how: str
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
