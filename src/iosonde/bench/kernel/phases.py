"""What writers of each block size did to creates: latencies, the longest of each period, slowdown; rows of it."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.bench.kernel.plan import QUIET, KernelPlan
from iosonde.bench.kernel.run import KernelOutcome
from iosonde.bench.nfs.points import quantile
from iosonde.bench.runs import store as runs
from iosonde.bench.runtime.machine import describe
from iosonde.bench.selftest.effects import PhaseEffect, ProbeSamples, phase_effects, probe_samples
from iosonde.model.phases import Phase
from iosonde.model.runs import RUN_QUANTILES, RunRow
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

CREATE = "md_create"


@dataclass(frozen=True, slots=True)
class KernelPhase:
    """Creates of one phase. ``latency_ns``: of those that ended, shape (n,); ``max_ns``: the longest of each period
    of ``KernelPlan.period_ns`` from the begin on, shape (periods,), NaN: none ended; ``bytes_per_s`` None: no writer.
    """

    phase: Phase
    block: int | None
    writers: int
    bytes_per_s: float | None
    latency_ns: Floats
    max_ns: Floats
    effect: PhaseEffect
    """Against the quiet time; of the quiet time against itself."""

    def quantile_ns(self, q: float) -> float | None:
        """The order statistic ceil(q n); None where there are too few."""
        value = quantile(self.latency_ns.astype(np.int64), q)
        return None if math.isnan(value) else value

    @property
    def longest_ns(self) -> float | None:
        """The longest create; None without any."""
        return float(self.latency_ns.max()) if len(self.latency_ns) else None

    @property
    def usual_longest_ns(self) -> float | None:
        """The median over periods of the longest create of each; None without any."""
        known = self.max_ns[~np.isnan(self.max_ns)]
        return float(np.median(known)) if len(known) else None


def examined(
    root: Path, outcome: KernelOutcome, period_ns: int
) -> tuple[dict[str, ProbeSamples], list[KernelPhase]]:
    """Samples of creates and what they come to, the quiet time first; none where it was not reached.

    Raises StoreError.
    """
    if outcome.quiet_ns is None:
        return {}, []
    found = probe_samples(Store(root), outcome.target, outcome.quiet_ns[0], outcome.end_ns)
    samples = {op: one for op, one in found.items() if op == CREATE}
    return samples, kernel_phases(samples[CREATE], outcome, period_ns) if samples else []


def kernel_phases(
    samples: ProbeSamples, outcome: KernelOutcome, period_ns: int
) -> list[KernelPhase]:
    """Each phase of an outcome that reached its quiet time, which comes first."""
    if outcome.quiet_ns is None:
        return []
    phases = [Phase(QUIET, *outcome.quiet_ns), *outcome.phases]
    effects = phase_effects({CREATE: samples}, outcome.quiet_ns, phases)
    return [
        _phase(samples, phase, effect, outcome, period_ns)
        for phase, effect in zip(phases, effects, strict=True)
    ]


def _phase(
    samples: ProbeSamples, phase: Phase, effect: PhaseEffect, outcome: KernelOutcome, period_ns: int
) -> KernelPhase:
    inside = samples.within(phase.start_ns, phase.end_ns)
    known = ~np.isnan(inside.latency_ns)
    latency = inside.latency_ns[known]
    longest = period_maxima(
        inside.due_ns[known] - phase.start_ns, latency, phase.end_ns - phase.start_ns, period_ns
    )
    block = outcome.blocks.get(phase.name)
    rows = [] if block is None else _totals(outcome, block)
    writers = max((row.ranks or 0 for row in rows), default=0)
    return KernelPhase(phase, block, writers, _rate(rows), latency, longest, effect)


def period_maxima(due_ns: Floats, latency_ns: Floats, length_ns: int, period_ns: int) -> Floats:
    """The longest of each period; ``due_ns`` from the begin on, shapes (n,); result (ceil(length / period),)."""
    longest = np.full(max(1, -(-length_ns // period_ns)), -np.inf)
    np.maximum.at(longest, (due_ns // period_ns).astype(np.int64), latency_ns)
    return np.where(np.isinf(longest), np.nan, longest)


def _totals(outcome: KernelOutcome, block: int) -> list[RunRow]:
    """All writers together, a row a round of files."""
    run_id = f"{outcome.run_id}-{block}"
    return [r for r in outcome.rows if r.run_id == run_id and r.rank is None and r.op is None]


def _rate(rows: Sequence[RunRow]) -> float | None:
    moved, took = sum(r.bytes or 0 for r in rows), sum(r.duration_ns or 0 for r in rows)
    return moved * 1e9 / took if took else None


def keep_creates(
    root: Path, outcome: KernelOutcome, plan: KernelPlan, phases: Sequence[KernelPhase]
) -> list[RunRow]:
    """Rows of the creates, two a phase (``measurement`` is its number), into the store. Raises StoreError."""
    if not phases:
        return []
    machine = describe(plan.place)
    rows = []
    for number, one in enumerate(phases):
        whole = _row(outcome, plan, one, number)
        rows += [replace(whole, machine=machine), replace(whole, op=CREATE)]
    runs.write(root, rows, phases[0].phase.start_ns)
    return rows


def _row(outcome: KernelOutcome, plan: KernelPlan, one: KernelPhase, number: int) -> RunRow:
    n, took = len(one.latency_ns), one.phase.end_ns - one.phase.start_ns
    lost = one.effect.n_due - n
    latency: dict[str, Any] = {f"{q}_ns": one.quantile_ns(at) for q, at in RUN_QUANTILES.items()}
    if n:
        latency |= {"min_ns": float(one.latency_ns.min()), "max_ns": one.longest_ns}
        latency["mean_ns"] = float(one.latency_ns.mean())
    return RunRow(
        run_id=outcome.run_id,
        source="iosonde",
        host=platform.node(),
        target=str(plan.place),
        backend="posix",
        pattern="beside writes",
        phase=one.phase.name,
        measurement=number,
        ranks=1,
        began_ns=one.phase.start_ns,
        duration_ns=took,
        ops=one.effect.n_due,
        rate_per_s=n * 1e9 / took if took else None,
        outcomes={name: count for name, count in {"ok": n, "lost": lost}.items() if count},
        complete=not (outcome.stopped and one.phase == _last(outcome)),
        parameters=_parameters(plan, one),
        **latency,
    )


def _last(outcome: KernelOutcome) -> Phase | None:
    if outcome.phases:
        return outcome.phases[-1]
    return None if outcome.quiet_ns is None else Phase(QUIET, *outcome.quiet_ns)


def _parameters(plan: KernelPlan, one: KernelPhase) -> dict[str, Any]:
    effect = one.effect
    found = {
        "writers": one.writers,
        "block_bytes": one.block,
        "written_bytes_per_s": one.bytes_per_s,
        "limit_ns": plan.duration_ns if one.block else plan.quiet_ns,
        "every_ns": plan.every_ns,
        "period_ns": plan.period_ns,
        "period_max_ns": [None if math.isnan(v) else v for v in one.max_ns.tolist()],
        "slowdown": effect.slowdown,
        "lower": effect.lower,
        "upper": effect.upper,
        "verdict": effect.verdict,
    }
    return {name: value for name, value in found.items() if value is not None}
