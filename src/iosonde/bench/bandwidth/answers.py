"""The bandwidth benchmark: a plan to run, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.bench.bandwidth import spec
from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.run import run_bandwidth
from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.recorder import PlanOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.runs import RunRow

__all__ = [
    "BandwidthPlan",
    "PlanOutcome",
    "bandwidth_picture",
    "format_bandwidth",
    "run_bandwidth",
    "spec",
]


def bandwidth_picture(root: Path, rows: Sequence[RunRow]) -> Sheet | None:
    """Rates over time and times of files of a run in the store; None: nothing to draw. Raises StoreError."""
    from iosonde.bench.bandwidth.sheets import bandwidth_sheet

    return bandwidth_sheet(root, rows)
