"""Plan of a metadata benchmark: places, numbers of ranks, specs and phases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.adaptive.rates import LEVELS
from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata.spec import Spec
from iosonde.model.runs import RunRow


@dataclass(frozen=True, slots=True)
class AdaptivePlan:
    """Measurements of every waiting factor; ``more`` returns how many to add after those."""

    measurements: int
    more: Callable[[Sequence[RunRow], int], int]
    levels: tuple[float, ...] = LEVELS


@dataclass(frozen=True, slots=True)
class Plan:
    """Every spec with every number of ranks at every place."""

    places: tuple[StorageLocation, ...]
    threads: tuple[int, ...]
    """Ranks per process."""
    specs: tuple[Spec, ...]
    phases: tuple[str, ...]
    repetitions: int = 3
    """R, repetitions of the benchmark phase (bulk: of all phases)."""
    waiting_factor: float = 0.0
    adaptive: AdaptivePlan | None = None
    samples: Path | None = None
    """Store for single operations."""

    def each(self) -> Iterator[tuple[StorageLocation, int, Spec]]:
        """Yield every run of the plan."""
        for place in self.places:
            for threads in self.threads:
                for spec in self.specs:
                    yield place, threads, spec

    def __len__(self) -> int:
        return len(self.places) * len(self.threads) * len(self.specs)
