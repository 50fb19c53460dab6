"""What a metadata benchmark is to measure: places, numbers of ranks, specs and phases."""

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
    """Measurements of every waiting factor; ``more`` says after those how many to add."""

    measurements: int
    more: Callable[[Sequence[RunRow], int], int]
    levels: tuple[float, ...] = LEVELS


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: every spec with every number of ranks at every place."""

    places: tuple[StorageLocation, ...]
    threads: tuple[int, ...]
    """Ranks of one process."""
    specs: tuple[Spec, ...]
    phases: tuple[str, ...]
    repetitions: int = 3
    """R, how often the benchmark phase (bulk: all phases) is done."""
    waiting_factor: float = 0.0
    adaptive: AdaptivePlan | None = None
    samples: Path | None = None
    """Store that every operation goes into."""

    def each(self) -> Iterator[tuple[StorageLocation, int, Spec]]:
        """Every run of the plan."""
        for place in self.places:
            for threads in self.threads:
                for spec in self.specs:
                    yield place, threads, spec

    def __len__(self) -> int:
        return len(self.places) * len(self.threads) * len(self.specs)
