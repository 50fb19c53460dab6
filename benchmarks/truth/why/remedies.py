"""How often ``why`` says what would help where the storage is one queue, and how far that is from the truth."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.truth.load.week import BEGIN_NS, S
from benchmarks.truth.target import Row, share
from benchmarks.truth.why.incident_plan import STEP_S, Queued
from benchmarks.truth.why.incidents import QUEUE, incident
from benchmarks.truth.why.queued import QueueServer
from iosonde.model.arrays import Floats
from iosonde.why.answers import why
from iosonde.why.links import Kind, Remedy
from iosonde.why.question import WhyQuestion
from iosonde.why.remedy import SHORTER

KINDS = (Kind.ONE_JOB, Kind.OVERLOAD)
NEAR = 1.5
"""A median within so many times the true one is right."""


class Remedied(NamedTuple):
    """``remedy``: None: not known, for ``reason``; ``true_s``: the median of reads now and with the remedy."""

    kind: Kind
    reason: str
    remedy: Remedy | None
    true_s: tuple[float, float]


def remedied(kind: Kind, seed: int) -> Remedied:
    """Make the incident, ask, simulate the remedy."""
    with tempfile.TemporaryDirectory() as folder:
        made = incident(kind, seed, Path(folder), QUEUE)
        found = why(made.root, WhyQuestion(made.targets, made.at_ns), made.now_ns)
    queued, link, slow = made.queued, found.links.remedy, found.links.slowness.found
    assert queued is not None
    assert slow is not None
    # Of the stretch as it was found: its reads are what the remedy is about.
    begin, end = slow.begin_ns, slow.end_ns or slow.seen_until_ns
    queued = replace(queued, begin_s=(begin - BEGIN_NS) / S, end_s=(end - BEGIN_NS) / S)
    load = queued.without_per_s if kind is Kind.ONE_JOB else queued.per_s
    server = queued.server
    shorter = QueueServer(server.service_s, max(1, round(server.queue / SHORTER)))
    true_s = (
        _median(queued, queued.per_s, server, seed),
        _median(queued, load, server if kind is Kind.ONE_JOB else shorter, seed),
    )
    return Remedied(found.kind, str(link.gap or ""), link.found, true_s)


def _median(queued: Queued, load: Floats, server: QueueServer, seed: int) -> float:
    """Of reads of the stretch, seconds."""
    first, last = int(queued.begin_s / STEP_S), int(queued.end_s / STEP_S)
    due_s = np.arange(0, (last - first) * STEP_S, 1.0)
    return float(np.nanmedian(server.reads(due_s, load[first:last], STEP_S, seed)))


def _near(said: float, true: float) -> bool:
    return true / NEAR <= said <= true * NEAR


def remedies(seed: int, scale: float = 1.0) -> list[Row]:
    """A line a kind: found, and right now and then."""
    rows = []
    each = max(1, round(10 * scale))
    for kind in KINDS:
        every = [remedied(kind, seed + number) for number in range(each)]
        given = [(one.remedy, one.true_s) for one in every if one.remedy is not None]
        for one in every:
            if one.remedy is None:
                print(f"  {kind}: {one.kind}, remedy not known: {one.reason}", flush=True)
        right = {
            "found": len(given),
            "median now": sum(_near(remedy.now_s.value, true[0]) for remedy, true in given),
            "median then": sum(_near(remedy.then_s.value, true[1]) for remedy, true in given),
        }
        for what, hits in right.items():
            of = each if what == "found" else len(given)
            p, error = share(hits, max(1, of))
            rows.append(
                Row("remedy", f"{kind}: {what}", p, 0.8, 1, "-", "-", error, "all", f"{hits}/{of}")
            )
    return rows
