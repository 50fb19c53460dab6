"""Entry points for doors: a finished self-test with the effects of its phases on the probe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.bench.selftest import words
from iosonde.bench.selftest.effects import PhaseEffect, ProbeSamples, phase_effects, probe_samples
from iosonde.bench.selftest.plan import SelftestPlan
from iosonde.bench.selftest.run import SelftestOutcome, Surroundings, run_selftest
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet

__all__ = ["SelftestAnswer", "SelftestOutcome", "SelftestPlan", "Surroundings", "run_selftest"]
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class SelftestFindings:
    """Samples of the probe by op, and the effect of each phase on each op."""

    samples: dict[str, ProbeSamples]
    effects: list[PhaseEffect]


@dataclass(frozen=True, slots=True)
class SelftestAnswer:
    """Findings of a self-test of a directory, ``place`` as it was named."""

    place: str
    outcome: SelftestOutcome
    found: SelftestFindings

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return words.say(self.place, self.found.effects)

    def shown(self) -> list[Block]:
        """A row a phase, and what its marks mean."""
        effects = self.found.effects
        rows = words.table_rows(effects, self.outcome.phases)
        return [TableBlock(words.head(effects), rows), "", Prose(words.EXPLAINED)]

    def cautions(self, ranks: int) -> list[str]:
        """What to be careful about."""
        machine = next((row.machine for row in self.outcome.rows if row.machine), {})
        return words.cautions(self.found.effects, int(machine.get("processors", 1)), ranks)

    def data(self) -> dict[str, Any]:
        """Effects of each phase on each operation."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.outcome.run_id,
            "target": self.outcome.target,
            "quiet_ns": self.outcome.quiet_ns,
            "effects": words.as_json(self.found.effects, self.outcome.phases),
            "sentence": self.sentence,
        }

    def picture(self) -> Sheet | None:
        """Operations over time; None: no sample."""
        from iosonde.bench.selftest.sheet import selftest_sheet

        title = f"Self-test of {self.place}: slowdown of the probe"
        return selftest_sheet(self.found.samples, self.outcome, title, [self.sentence])


def examined(root: Path, outcome: SelftestOutcome) -> SelftestFindings:
    """Findings from the store; none if no phase was reached. Raises StoreError."""
    if outcome.quiet_ns is None:
        return SelftestFindings({}, [])
    samples = probe_samples(Store(root), outcome.target, outcome.quiet_ns[0], outcome.end_ns)
    return SelftestFindings(samples, phase_effects(samples, outcome.quiet_ns, outcome.phases))
