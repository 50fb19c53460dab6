"""Plan of a kernel benchmark: a quiet time, then writers of one block size after the other, with creates beside
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.bench.bandwidth.spec import BandwidthSpec
from iosonde.model.ops import SECOND_NS
from iosonde.model.units import format_size

BLOCKS = (1 << 10, 64 << 10, 1 << 20)
"""Bytes of a write call."""
QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """Parameters of the benchmark. ``place``: a directory of the mounted file system, the same on every node."""

    place: Path
    writers: int = 4
    """Writers per process."""
    blocks: tuple[int, ...] = BLOCKS
    duration_ns: int = 30 * SECOND_NS
    """Duration of the writes of one block size."""
    quiet_ns: int = 30 * SECOND_NS
    """Duration of creates alone, the baseline."""
    pause_ns: int = 2 * SECOND_NS
    """Pause after the writes of a block size, for the removal of their files."""
    every_ns: int = SECOND_NS // 10
    """Interval between creates."""
    period_ns: int = SECOND_NS
    """Period of which the longest create is kept."""
    file_bytes: int = 1 << 30
    """File size of a writer; at the end it starts a new file in its place."""
    fsync: str = "end"
    drop_caches: bool = True
    seed: int = 0

    @property
    def target(self) -> str:
        """Target name of the probe's samples: distinct from an agent's on the same directory."""
        return f"{self.place} (kernel)"

    def spec(self, block: int) -> BandwidthSpec:
        """Writers of one block size, each with a file of its own."""
        size = max(1, self.file_bytes // block) * block
        limit = self.duration_ns
        return BandwidthSpec(block, size, fsync=self.fsync, seed=self.seed, limit_ns=limit)

    def probe(self, store: Path, folder: Path) -> dict[str, Any]:
        """The probe's configuration, as in the agent's file. ``folder``: location of its files."""
        return {
            "store": str(store),
            "window": "1s",
            "flush": "250ms",
            "probe": {"period": f"{self.every_ns}ns", "file_size": 16 << 20, "pool": 50},
            "target": [{"path": str(folder), "name": self.target}],
        }


def phase_name(block: int) -> str:
    """``write 64 KiB``."""
    return f"write {format_size(block)}"
