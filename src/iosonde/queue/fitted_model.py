"""Storage queue model fitted to reads: N, M, L and the family of service times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.queue.measured import QUANTILES
from iosonde.queue.stationary import latency_quantiles

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


@dataclass(frozen=True)
class Model:
    """``service_s``: N; ``queue``: M; ``base_s``: L; ``family``: of ``stationary.FAMILIES``."""

    family: str
    service_s: float
    queue: float
    base_s: float

    def quantiles_s(self, load_per_s: float, q: Floats = QUANTILES, queue: float = 0.0) -> Floats:
        """Quantiles of latency at a load; with another ``queue`` unless it is 0."""
        load = load_per_s * self.service_s
        relative = latency_quantiles(self.family, load, queue or self.queue, q)
        return self.base_s + self.service_s * relative
