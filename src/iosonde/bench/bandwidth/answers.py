"""The bandwidth benchmark: a plan to run, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.bench.backends.places import parse_place
from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.run import run_bandwidth
from iosonde.bench.bandwidth.spec import (
    BLOCK_BYTES,
    FSYNCS,
    LAYOUTS,
    TIMED_SEGMENTS,
    TRANSFER_BYTES,
    BandwidthSpec,
)
from iosonde.bench.bandwidth.words import format_bandwidth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.drawing.sheet import Sheet
    from iosonde.model.runs import RunRow

__all__ = [
    "BLOCK_BYTES",
    "FSYNCS",
    "LAYOUTS",
    "TIMED_SEGMENTS",
    "TRANSFER_BYTES",
    "BandwidthPlan",
    "BandwidthSpec",
    "bandwidth_picture",
    "format_bandwidth",
    "parse_place",
    "run_bandwidth",
]


def bandwidth_picture(root: Path, rows: Sequence[RunRow]) -> Sheet | None:
    """Rates over time and times of files of a run in the store; None: nothing to draw. Raises StoreError."""
    from iosonde.bench.bandwidth.sheets import bandwidth_sheet

    return bandwidth_sheet(root, rows)
