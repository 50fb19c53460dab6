"""What a phase comes to, and who is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from iosonde.bench.metadata.tallies import Lap, Together


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """A phase as it ended. ``total`` only at process 0; ``laps`` are this process's ranks."""

    phase: str
    iteration: int
    waiting_factor: float
    repeat: int
    laps: tuple[Lap, ...]
    total: Together | None
    walled: Together | None = None
    """What had been done when the limit was reached."""
    stopped: bool = False
    """Somebody, in some process, wanted an end."""
    samples: tuple[tuple[int, int, dict[str, bytes]], ...] = ()
    """Kept operations: rank, when its part of the phase began (UTC ns), columns as the core gives them."""
    snapshot: bool = False
    """Not the end, but how far this process's ranks are."""


class Watch(Protocol):
    """Who looks on."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Operations of this process's ranks so far; called a few times a second."""

    def wanted(self) -> bool:
        """Whether somebody wants an end."""

    def note(self, text: str) -> None:
        """Something people should know."""

    def result(self, result: PhaseResult) -> None:
        """A phase ended, or how far it is."""
