"""What doors call: a self-test that has ended, with what its phases did to the probe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.selftest.effects import PhaseEffect, ProbeSamples, phase_effects, probe_samples
from iosonde.bench.selftest.run import SelftestOutcome
from iosonde.weather.store import Store


@dataclass(frozen=True, slots=True)
class SelftestFindings:
    """Samples of the probe by op, and what each phase did to each op."""

    samples: dict[str, ProbeSamples]
    effects: list[PhaseEffect]


def examined(root: Path, outcome: SelftestOutcome) -> SelftestFindings:
    """Findings from what is in the store; none where no phase was reached. Raises StoreError."""
    if outcome.quiet_ns is None:
        return SelftestFindings({}, [])
    samples = probe_samples(Store(root), outcome.target, outcome.quiet_ns[0], outcome.end_ns)
    return SelftestFindings(samples, phase_effects(samples, outcome.quiet_ns, outcome.phases))
