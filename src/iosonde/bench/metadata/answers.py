"""The metadata benchmark: a plan to run, and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.verdict import more_to_run
from iosonde.bench.backends.places import parse_place
from iosonde.bench.metadata.plan import AdaptivePlan, Plan
from iosonde.bench.metadata.run import run_plan
from iosonde.bench.metadata.spec import PHASES, Spec
from iosonde.model.errors import IosondeError
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet
    from iosonde.model.runs import RunRow

__all__ = [
    "PHASES",
    "AdaptivePlan",
    "Plan",
    "Spec",
    "metadata_pictures",
    "more_measurements",
    "parse_place",
    "run_plan",
]


def more_measurements(rows: Sequence[RunRow], measurements: int) -> int:
    """How many measurements of each waiting factor to add before judging again; none where nothing can be said."""
    try:
        return more_to_run(adaptive(rows).verdict, measurements)
    except IosondeError:
        return 0


def metadata_pictures(
    samples: Path, each: Sequence[Sequence[RunRow]]
) -> tuple[Sheet | None, Sheet | None]:
    """Densities and the timeline of runs whose operations are in the store ``samples``; None: none ended."""
    from iosonde.bench.metadata.sheets import bench_sheets

    densities, timeline = bench_sheets(Store(samples), each)
    return densities, timeline
