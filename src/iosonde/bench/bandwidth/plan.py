"""What a bandwidth benchmark is to measure."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.bench.bandwidth.spec import Spec
from iosonde.model.transfers import DIRECTIONS


@dataclass(frozen=True, slots=True)
class BandwidthPlan:
    """One run: a spec at a place. ``place`` None: nowhere, which prices the harness."""

    place: str | None
    threads: int
    """Ranks of one process."""
    spec: Spec
    directions: tuple[str, ...] = DIRECTIONS
    repetitions: int = 1
    keep: bool = False
    """Leave the files in place."""

    @property
    def name(self) -> str:
        """The place as rows name it."""
        return self.place or "null:"
