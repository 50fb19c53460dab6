"""Does the probe measure what one thinks: findings about this host, the store, the agent and targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from iosonde.doctor.examine import Request
from iosonde.doctor.examine import examine as findings_of
from iosonde.doctor.finding import LEVELS, Diagnosis, worst
from iosonde.doctor.gather.agent import DEFAULT_ADDRESS

__all__ = ["DEFAULT_ADDRESS", "Diagnosis", "DoctorAnswer", "Request", "examine"]
SCHEMA_VERSION = 2


class DoctorAnswer(NamedTuple):
    """Findings, in the order of the examination."""

    findings: Sequence[Diagnosis]

    @property
    def bad(self) -> bool:
        """Whether something is worth doing."""
        return worst(self.findings) in ("warning", "problem")

    def by_subject(self, *, quiet: bool) -> list[tuple[str, list[Diagnosis]]]:
        """Findings of each subject; ``quiet``: warnings and problems only."""
        shown = [f for f in self.findings if not quiet or f.level in ("warning", "problem")]
        return [(name, list(group)) for name, group in groupby(shown, key=lambda f: f.subject)]

    def counts(self) -> str:
        """``1 problem, 2 warnings, 12 ok``."""
        counts = Counter(finding.level for finding in self.findings)
        return ", ".join(_count(counts[one], one) for one in reversed(LEVELS) if counts[one])

    def data(self) -> dict[str, Any]:
        """Findings with the numbers behind them."""
        return {
            "schema_version": SCHEMA_VERSION,
            "findings": [finding.to_json() for finding in self.findings],
        }


def examine(request: Request) -> DoctorAnswer:
    """Examine this host, the store, the agent and targets; what hangs is a finding."""
    return DoctorAnswer(findings_of(request))


def _count(n: int, level: str) -> str:
    return f"{n} {level}" if n == 1 or level == "ok" else f"{n} {level}s"
