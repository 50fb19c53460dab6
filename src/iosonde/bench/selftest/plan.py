"""Plan of a self-test: the phases of IO500 in their order, short, and a probe beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.bench.bandwidth.spec import BandwidthSpec
from iosonde.bench.metadata.spec import Spec
from iosonde.model.ops import SECOND_NS

PHASES: tuple[tuple[str, str], ...] = (
    *(("ior-easy", "write"), ("mdtest-easy", "create"), ("ior-hard", "write")),
    *(("mdtest-hard", "create"), ("find", "find"), ("ior-easy", "read"), ("mdtest-easy", "stat")),
    *(("ior-hard", "read"), ("mdtest-hard", "stat"), ("mdtest-easy", "delete")),
    *(("mdtest-hard", "read"), ("mdtest-hard", "delete")),
)
"""Benchmark and phase, in the order of IO500: writes first, so that reads find less in caches."""
_NAMES = {"create": "write"}
"""IO500's name for creates."""
HARD_BYTES = 47008
"""A transfer of ior-hard: no multiple of a page or a stripe."""
HARD_OBJECT_BYTES = 3901


@dataclass(frozen=True, slots=True)
class SelftestPlan:
    """Parameters of a self-test. ``place``: an existing directory."""

    place: Path
    ranks: int = 2
    limit_ns: int = 5 * SECOND_NS
    """Time limit of a write phase; the others use its files."""
    rank_bytes: int = 1 << 30
    """Most bytes of a rank in a data phase."""
    objects: int = 50_000
    """Most objects of a rank in a metadata phase."""
    quiet_ns: int = 10 * SECOND_NS
    """Duration of the probe alone, the baseline."""
    pause_ns: int = SECOND_NS
    """Pause between phases, and after the last one."""
    period_ns: int = SECOND_NS // 20
    file_bytes: int = 256 << 20
    """Size of the probe's big file."""
    pool: int = 200
    """Number of the probe's small files."""
    seed: int = 0

    @property
    def target(self) -> str:
        """Target name of the probe's samples: distinct from an agent's on the same directory."""
        return f"{self.place} (selftest)"

    def bandwidth(self, part: str) -> BandwidthSpec:
        """ior-easy: a file per rank in large transfers; ior-hard: one file, small unaligned transfers in turn."""
        if part == "ior-easy":
            transfer = min(1 << 20, self.rank_bytes)
            block = self.rank_bytes // transfer * transfer
            return BandwidthSpec(
                transfer, block, fsync="end", seed=self.seed, limit_ns=self.limit_ns
            )
        segments = max(1, self.rank_bytes // HARD_BYTES)
        return BandwidthSpec(
            *(HARD_BYTES, HARD_BYTES, segments, "strided"),
            fsync="end",
            seed=self.seed,
            limit_ns=self.limit_ns,
        )

    def metadata(self, part: str) -> Spec:
        """mdtest-easy: empty objects, a directory per rank; mdtest-hard: 3901 bytes, one directory."""
        hard = part == "mdtest-hard"
        return Spec(
            data_sets=1,
            objects=self.objects,
            size_bytes=HARD_OBJECT_BYTES if hard else 0,
            iterations=1,
            pattern="bulk",
            shared=hard,
            limit_ns=self.limit_ns,
            seed=self.seed,
        )

    def probe(self, store: Path, folder: Path) -> dict[str, Any]:
        """The probe's configuration, as in the agent's file. ``folder``: location of its files."""
        return {
            "store": str(store),
            "window": "1s",
            "flush": "250ms",
            "probe": {
                "period": f"{self.period_ns}ns",
                "file_size": self.file_bytes,
                "pool": self.pool,
            },
            "target": [{"path": str(folder), "name": self.target}],
        }


def phase_name(part: str, phase: str) -> str:
    """``ior-easy-write``, as IO500 calls it."""
    return "find" if part == "find" else f"{part}-{_NAMES.get(phase, phase)}"
