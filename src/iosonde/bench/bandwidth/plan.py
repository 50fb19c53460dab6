"""Plan of a bandwidth benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.bench.bandwidth.spec import BandwidthSpec
from iosonde.model.transfers import DIRECTIONS


@dataclass(frozen=True, slots=True)
class BandwidthPlan:
    """A run: a spec at one or several directories. ``places`` empty: nowhere, which measures the harness overhead."""

    places: tuple[str, ...]
    """Rank r has its file in directory r modulo their number."""
    threads: int
    """Number of ranks per process."""
    spec: BandwidthSpec
    directions: tuple[str, ...] = DIRECTIONS
    repetitions: int = 1
    keep: bool = False
    """Leave the files in place."""

    @property
    def place(self) -> str | None:
        """The first directory; None: nowhere."""
        return self.places[0] if self.places else None

    @property
    def name(self) -> str:
        """The place as named in rows."""
        return ",".join(self.places) or "null:"
