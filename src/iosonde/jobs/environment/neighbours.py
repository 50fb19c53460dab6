"""Environment of a job: distance between its nodes, and concurrent jobs."""

from __future__ import annotations

import re

import numpy as np

from iosonde.jobs.environment import during as job_window
from iosonde.jobs.store.running import JobTime
from iosonde.jobs.store.scan import Passing
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import Edge
from iosonde.model.units import DAY_NS

YEAR_NS = 365 * DAY_NS
"""Largest time by which a table of node positions may be younger than the job: nodes stay in place."""


def placement(store: Passing, job: Job, start_ns: int) -> dict[str, Scalar]:
    """Distances between the job's nodes, which may come from the scheduler."""
    names = set(job.node_names or store.nodes_of(job.job_id))
    if not names:
        return {}
    edges = store.read_edges("node", 0, start_ns + YEAR_NS)
    known = {edge.child: place for edge in edges if (place := _coordinates(edge)) is not None}
    places = {
        name: known[child] for name in names for child in (name, _number_of(name)) if child in known
    }
    found = job_window.radius([places[name] for name in sorted(places)], len(names))
    if found is None:
        return {}
    values = {
        "radius_min_hops": found.smallest,
        "radius_mean_hops": found.mean,
        "radius_max_hops": found.largest,
    }
    return {
        name: Scalar(value, "hops", edges[-1].source, found.n, found.missing)
        for name, value in values.items()
    }


def _number_of(name: str) -> str:
    """Name in tables of coordinates of a node named after its number: ``17`` of ``node00017``."""
    digits = re.search(r"[0-9]{1,18}$", name)
    return str(int(digits[0])) if digits else name


def _coordinates(edge: Edge) -> tuple[float, float, float] | None:
    try:
        x, y, z = (float(part) for part in edge.parent.split(","))
    except ValueError:
        return None
    return x, y, z


def company(store: Passing, job: Job, start_ns: int, end_ns: int) -> dict[str, Scalar]:
    """Concurrent jobs of the scheduler, including this one, as is customary."""
    batch: dict[tuple[str, str], JobTime] = {}
    for record in store.ran_during(start_ns, end_ns):
        if record.source != job.source:
            best = batch.get((record.source, record.job_id))
            if best is None or record.nodes > best.nodes:
                batch[record.source, record.job_id] = record
    by_source: dict[str, list[JobTime]] = {}
    for (source, _), record in batch.items():
        by_source.setdefault(source, []).append(record)
    if not by_source:
        return {}
    source, records = max(by_source.items(), key=lambda item: len(item[1]))
    found = job_window.concurrency(
        np.array([record.start_ns for record in records], dtype=np.int64),
        np.array([end_ns if r.end_ns is None else r.end_ns for r in records], dtype=np.int64),
        np.array([record.nodes for record in records], dtype=np.int64),
        start_ns,
        end_ns,
    )
    units = {
        "concurrent_jobs": ("jobs", float(found.jobs)),
        "concurrent_nodes": ("nodes", float(found.nodes)),
        "concurrent_node_hours": ("node hours", found.node_hours),
    }
    return {
        name: Scalar(value, unit, source, len(records)) for name, (unit, value) in units.items()
    }
