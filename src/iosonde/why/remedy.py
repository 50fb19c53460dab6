"""What would help, as the queue model says: without the job's load, or with a shorter queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.stored import RecordChoice, stored_load
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.queue.fit import fit
from iosonde.queue.what_if import estimate, what_if
from iosonde.why.links import Gap, Link, Ratio, Remedy, found, not_known

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats
    from iosonde.queue.fit import Model, QueueFit
    from iosonde.queue.what_if import WaitEstimate
    from iosonde.why.links import LoadEvidence
    from iosonde.why.question import Scene

AROUND_NS = 12 * 3_600_000_000_000
"""How much time before the stretch gives reads at other loads."""
MOST_READS = 20_000
SHORTER = 4
"""A queue is shortened to one part of so many."""


def remedy_link(scene: Scene, load: LoadEvidence | None) -> Link[Remedy]:
    """Only where a load explains the stretch. Raises StoreError."""
    if load is None:
        return not_known(Gap.NO_LOAD)
    if not scene.question.model:
        return not_known(Gap.NOT_ASKED)
    try:
        latency, per_s, during = _reads(scene)
        model = fit(latency, per_s, seed=scene.question.seed + 1)
    except (NothingMeasuredError, UsageError):
        return not_known(Gap.FEW_LOADS)
    if not model.explained:
        return not_known(Gap.NO_FIT)
    return found(_remedy(model, load, during))


def _remedy(model: QueueFit, load: LoadEvidence, during: float) -> Remedy:
    if load.culprits and load.culprits[0].ops_share is not None:
        share = sum(one.ops_share or 0.0 for one in load.culprits)
        then = during * max(0.0, 1 - share)
        return Remedy(
            during,
            _median(model, during),
            _median(model, then),
            without_job=load.culprits[0].job,
            then_per_s=then,
        )
    queue = max(1, round(model.model.queue / SHORTER))
    changed = what_if(model, queue, during)
    return Remedy(
        during,
        _ratio(changed.median_s),
        _ratio(changed.then_median_s),
        queue=model.model.queue if model.full else None,
        then_queue=queue,
    )


def _median(model: QueueFit, per_s: float) -> Ratio:
    half = np.array([0.5])

    def at(one: Model) -> float:
        return float(one.quantiles_s(per_s, half)[0])

    return _ratio(estimate(model, at))


def _ratio(one: WaitEstimate) -> Ratio:
    return Ratio(one.value, one.lower, one.upper)


def _reads(scene: Scene) -> tuple[Floats, Floats, float]:
    """Latencies (s) and loads (operations/s) of reads around the stretch, in order; and the median load in it.

    Raises NothingMeasuredError: no records.
    """
    weather, slow, _, question, now_ns = scene
    end = min(now_ns, scene.end_ns)
    records = stored_load(
        weather.root,
        slow.begin_ns,
        end,
        now_ns=now_ns,
        around_ns=AROUND_NS,
        choice=RecordChoice(systems=question.systems),
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
    return latency, total[cell][::every], float(np.median(known))
