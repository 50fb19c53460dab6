"""Metadata operations as a workload of the runtime. The only module that knows ``_core.Metadata``.

Orders and answers of the core are JSON (``metadata::team::Order``); ``runtime.decode`` makes tallies of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde import _core
from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.core_workload import CoreWorkload, core_errors
from iosonde.bench.runtime.histogram import Counts
from iosonde.bench.runtime.workload import Limit, PhaseKey, StartWorkload


class MetadataWorkload(CoreWorkload):
    """Ranks of the core on one place. ``parameters`` and ``faults``: as the core reads them."""

    def __init__(
        self,
        place: StorageLocation,
        parameters: Mapping[str, Any],
        faults: tuple[dict[str, Any], ...],
        first: int,
        count: int,
    ) -> None:
        with core_errors(place.name):
            self._core = _core.Metadata(
                json.dumps(parameters), place.core, first, count, json.dumps(faults)
            )
        super().__init__(place.name, self._core)

    @classmethod
    def starter(
        cls,
        place: StorageLocation,
        parameters: Mapping[str, Any],
        faults: tuple[dict[str, Any], ...] = (),
    ) -> StartWorkload:
        """Starter of the workload for a process's ranks."""
        return functools.partial(cls, place, parameters, faults)

    def load(self, phase: PhaseKey, work: Mapping[str, Any]) -> None:
        """Prepare a phase. ``work``: as the core reads it."""
        self.order("load", {"work": work, "iteration": phase.repetition})

    def go(self, phase: PhaseKey, limit: Limit) -> None:
        """See ``Workload``."""
        bounds = {"after_ns": limit.after_ns, "steps": limit.steps}
        self.order("go", {"limit": bounds, "waiting_factor": phase.waiting_factor})

    def records(self, at: int) -> dict[str, Counts] | None:
        """Columns of operations: ``began_ns`` since the phase started, ``latency_ns``, ``op``, ``outcome`` (codes)."""
        columns = self._core.rows(at)
        if columns is None:
            return None
        return {name: np.frombuffer(data, np.int64) for name, data in columns.items()}
