"""Entry points for doors: a finished self-test with the effects of its phases on the probe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.selftest.effects import PhaseEffect, ProbeSamples, phase_effects, probe_samples
from iosonde.bench.selftest.run import SelftestOutcome
from iosonde.weather.store import Store


@dataclass(frozen=True, slots=True)
class SelftestFindings:
    """Samples of the probe by op, and the effect of each phase on each op."""

    samples: dict[str, ProbeSamples]
    effects: list[PhaseEffect]


def examined(root: Path, outcome: SelftestOutcome) -> SelftestFindings:
    """Findings from the store; none if no phase was reached. Raises StoreError."""
    if outcome.quiet_ns is None:
        return SelftestFindings({}, [])
    samples = probe_samples(Store(root), outcome.target, outcome.quiet_ns[0], outcome.end_ns)
    return SelftestFindings(samples, phase_effects(samples, outcome.quiet_ns, outcome.phases))
