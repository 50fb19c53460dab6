"""Result of a phase, and its receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from iosonde.bench.runtime.tallies import PhaseTally, RankTally
from iosonde.bench.runtime.workload import PhaseKey, RankRecords
from iosonde.host.pressure import CpuPressure


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """Result of a phase. ``total`` only at process 0; ``ranks`` are this process's."""

    key: PhaseKey
    ranks: tuple[RankTally, ...] = ()
    total: PhaseTally | None = None
    at_limit: PhaseTally | None = None
    """Tally at the moment the limit was reached."""
    stopped: bool = False
    """True if the user ended it, in some process."""
    records: tuple[RankRecords, ...] = ()
    """Single events of this process's ranks, if the session keeps them."""
    pressure: CpuPressure | None = None
    """CPU pressure of the most loaded host; None: not measured."""
    snapshot: bool = False
    """True for an intermediate state of this process's ranks."""


class Watch(Protocol):
    """Receiver of a session's progress, which may end it."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Report operations of this process's ranks so far; called a few times a second."""

    def wanted(self) -> bool:
        """True if an end is wanted."""

    def note(self, text: str) -> None:
        """Show a message."""

    def result(self, result: PhaseResult) -> None:
        """Report the result of a phase, or a snapshot."""
