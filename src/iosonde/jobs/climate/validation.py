"""Validation of performance predictions from metrics on each file system, judged on later runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.metrics import safe_metrics
from iosonde.jobs.climate.prediction import Validation, validate
from iosonde.jobs.table.derived import FRACTION
from iosonde.model.frames import NULL_NS
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable

SEED = 20_170_804
"""Seed of the random folds that are shown beside the time split."""


@dataclass(frozen=True)
class Validated:
    """Validation of a file system: ``found`` is None for too few runs. ``metrics``: predictors."""

    file_system: str
    runs: int
    metrics: tuple[str, ...]
    found: Validation | None


def validated(table: JobTable, seed: int = SEED) -> tuple[Validated, ...]:
    """Validate a prediction of the fraction of peak on every file system; from metrics that do not leak.

    Missing data: runs without begin, motif or performance are left out; a missing metric is the model's to deal with.
    """
    keep = (table.start_ns != NULL_NS) & np.isfinite(table.metrics[FRACTION]) & (table.motif != "")
    table = table.take(keep)
    safe = safe_metrics(table)
    made = []
    for place in sorted(set(table.file_system.tolist())):
        rows = np.flatnonzero(table.file_system == place)
        _, motif = np.unique(table.motif[rows].astype(str), return_inverse=True)
        columns = [one.values[rows] for one in safe]
        x = np.column_stack(columns) if columns else np.empty((len(rows), 0))
        found = validate(
            table.metrics[FRACTION][rows],
            x,
            table.start_ns[rows] / DAY_NS,
            motif.astype(np.int64),
            seed,
        )
        made.append(Validated(place, len(rows), tuple(one.name for one in safe), found))
    return tuple(made)
