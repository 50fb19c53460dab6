"""Phases of a run in their order: a cycle, bulk, or the waiting factors of adaptive mode."""

from __future__ import annotations

import random

from iosonde.bench.metadata.plan import AdaptivePlan, Plan
from iosonde.bench.metadata.spec import BULK_OPS, Spec
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.bench.recorder import Recorder


def do_phases(plan: Plan, steps: MetadataSteps, spec: Spec, recorder: Recorder) -> bool:
    """Run the phases; True if the user ended it."""
    if spec.pattern == "bulk":
        return _bulk(plan, steps)
    if "precreate" in plan.phases and steps.precreate().stopped:
        return True
    if "benchmark" in plan.phases and plan.adaptive is not None:
        if _adaptive(plan.adaptive, steps, spec, recorder):
            return True
    elif "benchmark" in plan.phases:
        for repetition in range(plan.repetitions):
            if steps.benchmark(repetition, plan.waiting_factor).stopped:
                return True
    return "cleanup" in plan.phases and steps.cleanup().stopped


def _bulk(plan: Plan, steps: MetadataSteps) -> bool:
    counts: list[int] | None = None
    for repetition in range(plan.repetitions):
        for op in BULK_OPS:
            if op.removeprefix("md_") not in plan.phases:
                continue
            result = steps.bulk(op, repetition, counts)
            if result.stopped:
                return True
            if op == "md_create":
                counts = steps.created(result)
    if "delete" in plan.phases:
        steps.end()
    return False


def _adaptive(adaptive: AdaptivePlan, steps: MetadataSteps, spec: Spec, recorder: Recorder) -> bool:
    """Measure every level, each time in a new order; adds measurements while they would decide."""
    order = random.Random(spec.seed)
    number, wanted = 0, adaptive.measurements
    while number < wanted:
        levels = list(adaptive.levels)
        order.shuffle(levels)
        for level in levels:
            if steps.benchmark(number, level, number).stopped:
                return True
        number += 1
        if number == wanted:
            more = adaptive.more(recorder.rows, number) if steps.session.leads else 0
            wanted += steps.session.broadcast(more)
    return False
