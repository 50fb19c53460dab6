"""What would help, as the queue model says: without the job's load, or with a shorter queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.stored import RecordChoice, stored_load
from iosonde.jobs.attribution.systems import recorded_systems
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.queue.fit import fit
from iosonde.queue.what_if import estimate
from iosonde.why.links import Gap, Link, Ratio, Remedy, found, not_known

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats
    from iosonde.queue.fit import QueueFit
    from iosonde.queue.fitted_model import Model
    from iosonde.why.links import LoadEvidence
    from iosonde.why.question import Scene

AROUND_NS = 12 * 3_600_000_000_000
"""How much time before the stretch gives reads at other loads."""
MOST_READS = 20_000
SHORTER = 4
"""A queue is shortened to one part of so many."""
OFF = 1.5
"""The model has to give the median read of the stretch itself within so many times."""
_MIDDLES = (np.arange(16) + 0.5) / 16
"""Quantiles of loads, and of reads at each, that stand for all of a stretch."""


def remedy_link(scene: Scene, load: LoadEvidence | None) -> Link[Remedy]:
    """Only where a load explains the stretch, and the model the reads of the stretch itself. Raises StoreError."""
    if load is None:
        return not_known(Gap.NO_LOAD)
    if not scene.question.model:
        return not_known(Gap.NOT_ASKED)
    try:
        reads = _reads(scene)
        model = fit(reads.latency_s, reads.per_s, seed=scene.question.seed + 1)
    except (NothingMeasuredError, UsageError):
        return not_known(Gap.FEW_LOADS)
    return _of_model(model, reads, load)


def _of_model(model: QueueFit, reads: _Reads, load: LoadEvidence) -> Link[Remedy]:
    """Without the job's load where there is a job, else with a shorter queue, which must have been full."""
    now_s = _median(model, reads.during_per_s)
    if not model.explained or not reads.median_s / OFF <= now_s.value <= reads.median_s * OFF:
        return not_known(Gap.NO_FIT)
    per_s = float(np.median(reads.during_per_s))
    if load.culprits and load.culprits[0].by == "job" and load.culprits[0].ops_share is not None:
        left = max(0.0, 1 - sum(one.ops_share or 0.0 for one in load.culprits))
        then_s = _median(model, left * reads.during_per_s)
        job = load.culprits[0].job
        return found(Remedy(per_s, now_s, then_s, without_job=job, then_per_s=left * per_s))
    if not model.full:
        return not_known(Gap.NEVER_FULL)
    queue = max(1, round(model.model.queue / SHORTER))
    then_s = _median(model, reads.during_per_s, queue)
    return found(Remedy(per_s, now_s, then_s, queue=model.model.queue, then_queue=queue))


def _median(model: QueueFit, loads_per_s: Floats, queue: float = 0.0) -> Ratio:
    """Of reads at all these loads together: near capacity one load in the middle says little of the others."""
    levels = np.quantile(loads_per_s, _MIDDLES)

    def at(one: Model) -> float:
        return float(np.median([one.quantiles_s(level, _MIDDLES, queue) for level in levels]))

    told = estimate(model, at)
    return Ratio(told.value, told.lower, told.upper)


class _Reads(NamedTuple):
    """(N,) Latencies and loads of reads around the stretch, in order; loads of those in it, and their median."""

    latency_s: Floats
    per_s: Floats
    during_per_s: Floats
    median_s: float


def _reads(scene: Scene) -> _Reads:
    """Raises NothingMeasuredError: no records, or no reads."""
    weather, slow, _, question, now_ns = scene
    end = min(now_ns, scene.end_ns)
    systems = question.systems or recorded_systems(weather.root, slow.target, slow.begin_ns, end)
    records = stored_load(
        weather.root,
        slow.begin_ns,
        end,
        now_ns=now_ns,
        around_ns=AROUND_NS,
        choice=RecordChoice(systems=systems),
    )
    recorded = records.joined.recorded
    grid, step_s = recorded.grid, recorded.grid.step_ns / 1e9
    total = recorded.ops.sum(axis=0, dtype=np.float64) / step_s
    total[recorded.covered.max(axis=0, initial=0.0) <= 0] = np.nan
    samples = weather.store.samples(
        ("due_ns", "service_ns", "outcome"),
        host=slow.host,
        target=slow.target,
        ops=("data_read",),
        since_ns=grid.begin_ns,
        until_ns=end,
    )
    good = samples.take(samples["outcome"] == "ok")
    cell = (good["due_ns"] - grid.begin_ns) // grid.step_ns
    inside = (cell >= 0) & (cell < grid.cells)
    good, cell = good.take(inside), cell[inside]
    if not len(good):
        raise NothingMeasuredError("no reads were probed in the time of the records")
    every = max(1, len(good) // MOST_READS)
    latency = np.asarray(good["service_ns"], dtype=np.float64)[::every] / 1e9
    within = (good["due_ns"] >= slow.begin_ns) & (good["due_ns"] < end)
    there = total[cell[within]]
    known = there[np.isfinite(there)]
    if not len(known):
        raise NothingMeasuredError("no reads were probed in the stretch")
    median_s = float(np.median(np.asarray(good["service_ns"], dtype=np.float64)[within])) / 1e9
    return _Reads(latency, total[cell][::every], known, median_s)
