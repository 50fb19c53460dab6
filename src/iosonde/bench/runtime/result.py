"""A phase as it ended, and who receives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from iosonde.bench.runtime.tallies import PhaseTally, RankTally
from iosonde.bench.runtime.workload import PhaseKey, RankRecords
from iosonde.host.pressure import CpuPressure


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """A phase as it ended. ``total`` only at process 0; ``ranks`` are this process's."""

    key: PhaseKey
    ranks: tuple[RankTally, ...] = ()
    total: PhaseTally | None = None
    at_limit: PhaseTally | None = None
    """What had been done when the limit was reached."""
    stopped: bool = False
    """An end was wanted, in some process."""
    records: tuple[RankRecords, ...] = ()
    """Single events of this process's ranks, where the session keeps them."""
    pressure: CpuPressure | None = None
    """Of the processors of the host that was pressed most; None: not measured."""
    snapshot: bool = False
    """Not the end, but how far this process's ranks are."""


class Watch(Protocol):
    """What a session reports to, and asks whether to end."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Operations of this process's ranks so far; called a few times a second."""

    def wanted(self) -> bool:
        """Whether an end is wanted."""

    def note(self, text: str) -> None:
        """A message for people."""

    def result(self, result: PhaseResult) -> None:
        """A phase ended, or how far it is."""
