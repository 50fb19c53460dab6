"""Incidents with a known cause, written as a site has them: sealed samples, states, collectl, sacct, servers' records.

    made = incident(Kind.ONE_JOB, seed=7, folder=Path("store"), draw="heavy tail")

A file system /work of four probed servers, three more file systems, a cluster whose jobs load /work. What happens to
reads is the truth: a server is slow, a job's load makes all slower, a level stays, the prober waits for a processor, a
backup returns each night, the jobs together fill the queue, the network slows all targets, two of these, or nothing.
Load slows everybody a little.
With the draw ``QUEUE`` /work is one server whose reads are simulated operation by operation (``queued``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.truth.load.week import BEGIN_NS, S
from benchmarks.truth.why.incident_draws import DRAWS
from benchmarks.truth.why.incident_load import load_records, server_records
from benchmarks.truth.why.incident_plan import (
    DAY_S,
    HOUR_S,
    NIGHTS,
    SERVERS,
    STEP_S,
    WHOLE,
    Course,
    Plan,
    Queued,
)
from benchmarks.truth.why.incident_samples import probe_samples
from benchmarks.truth.why.queued import QueueServer
from iosonde.why.links import Kind

LINKS = ("component", "load", "host", "recurrence")
"""Links whose data can be left out."""
QUEUE = "queue"
"""Reads of /work that wait in one queue; its load is a hundredth of that of other incidents."""


@dataclass(frozen=True)
class Incident:
    """What happened, and what ``why`` is asked: ``at_ns`` of ``WHOLE``'s targets, at ``now_ns``.

    ``span_ns``: from the incident's begin to its end. ``courses``: what multiplied latencies of a target, where that is
    known.
    """

    kind: Kind
    root: Path
    targets: tuple[str, ...]
    at_ns: int
    now_ns: int
    span_ns: tuple[int, int]
    component: str | None = None
    jobs: tuple[str, ...] = ()
    withheld: str = ""
    queued: Queued | None = None
    courses: Mapping[str, Course] = field(default_factory=dict)


def incident(
    kind: Kind, seed: int, folder: Path, draw: str = "lognormal", withheld: str = ""
) -> Incident:
    """Write one incident into a new store. ``withheld``: one of ``LINKS``, whose data are left out."""
    rng = np.random.default_rng([seed, list(Kind).index(kind)])
    plan = _plan(kind, rng, withheld)
    root = folder / "store"
    if draw == QUEUE:
        plan.scale = 0.01
    load_records(plan, root, folder, seed)
    if draw == QUEUE:
        plan.queued = _queued(plan)
    else:
        server_records(plan, root)
    targets = probe_samples(plan, root, DRAWS.get(draw, DRAWS["lognormal"]))
    at_s = (plan.begin + plan.end) / 2
    now_s = plan.days * DAY_S
    return Incident(
        kind,
        root,
        tuple(name for name in targets if name.startswith(WHOLE)),
        BEGIN_NS + int(at_s * S),
        BEGIN_NS + int(now_s * S),
        (BEGIN_NS + int(plan.begin * S), BEGIN_NS + int(plan.end * S)),
        plan.component if withheld != "component" else None,
        plan.jobs if withheld != "load" else (),
        withheld,
        plan.queued,
        plan.courses,
    )


def _queued(plan: Plan) -> Queued:
    """A server that the load of the stretch fills: by so much that not every minute of it is too much."""
    first, last = int(plan.begin / STEP_S), int(plan.end / STEP_S)
    middle = float(np.median(plan.cells[first:last]))
    server = QueueServer(plan.rng.uniform(0.9, 1.2) / middle, int(plan.rng.integers(20, 120)))
    return Queued(server, plan.cells, plan.cells - plan.hog_cells, plan.begin, plan.end)


def _plan(kind: Kind, rng: np.random.Generator, withheld: str) -> Plan:
    days, period_s = 4.5, 10
    if withheld == "recurrence":
        days = 1.6
    begin = (days - 0.5) * DAY_S + rng.uniform(0, 3 * HOUR_S)
    end = begin + rng.uniform(0.6, 2.5) * HOUR_S
    plan = Plan(kind, rng, withheld, days, period_s, begin, end)
    if kind is Kind.SLOW_COMPONENT:
        plan.component = str(rng.choice(SERVERS))
    if kind is Kind.ONE_JOB:
        plan.hogs = 1
    if kind is Kind.EVERYTHING:
        plan.network = rng.uniform(3, 8)
    if kind is Kind.SEVERAL:
        plan.component, plan.hogs = str(rng.choice(SERVERS)), 1
    if kind is Kind.RECURRING:
        plan.days = NIGHTS
        at = rng.uniform(0.5, 4.0) * HOUR_S
        plan.begin = (NIGHTS - 1) * DAY_S + at
        plan.end = plan.begin + rng.uniform(1.0, 2.5) * HOUR_S
    if kind is Kind.LASTING_CHANGE:
        plan.days = 7.0
        plan.begin = rng.uniform(4.0, 4.5) * DAY_S
        plan.end = plan.days * DAY_S
    return plan
