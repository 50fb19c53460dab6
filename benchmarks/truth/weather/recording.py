"""What an agent recorded, operation by operation: a store as streams."""

from __future__ import annotations

import warnings
from pathlib import Path

from iosonde.model.frames import SeriesKey
from iosonde.weather.samples.operations import Operations
from iosonde.weather.slowdown.baseline import LearntBaselines, learn
from iosonde.weather.store import Store

_EVER_NS = 2**62


def recorded(root: Path) -> tuple[dict[SeriesKey, Operations], LearntBaselines]:
    """Operations and baselines of every series of a store, also while an agent writes it. Raises StoreError."""
    store = Store(root)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last rows of a spool that grows
        known = learn(store)
        rows = store.operations(list(known.past), 0, _EVER_NS)
    return rows, known
