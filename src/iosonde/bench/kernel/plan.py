"""What a kernel benchmark does: a quiet time, then writers of one block size after the other, creates beside them."""

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
    """What to measure. ``place``: a directory of the mounted file system, the same on every node."""

    place: Path
    writers: int = 4
    """Of one process."""
    blocks: tuple[int, ...] = BLOCKS
    duration_ns: int = 30 * SECOND_NS
    """Of the writes of one block size."""
    quiet_ns: int = 30 * SECOND_NS
    """Creates alone: what is usual."""
    pause_ns: int = 2 * SECOND_NS
    """After the writes of a block size, when their files are removed."""
    every_ns: int = SECOND_NS // 10
    """Between two creates."""
    period_ns: int = SECOND_NS
    """The longest create of each such period is kept."""
    file_bytes: int = 1 << 30
    """Of a writer; at its end the writer begins a new file in its place."""
    fsync: str = "end"
    drop_caches: bool = True
    seed: int = 0

    @property
    def target(self) -> str:
        """What samples of the probe call their target: apart from an agent's on the same directory."""
        return f"{self.place} (kernel)"

    def spec(self, block: int) -> BandwidthSpec:
        """Writers of one block size, each with a file of its own."""
        size = max(1, self.file_bytes // block) * block
        limit = self.duration_ns
        return BandwidthSpec(block, size, fsync=self.fsync, seed=self.seed, limit_ns=limit)

    def probe(self, store: Path, folder: Path) -> dict[str, Any]:
        """The probe's configuration, as the agent's file has it. ``folder``: where its files lie."""
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
