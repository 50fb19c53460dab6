"""Transfers of large files as a workload of the runtime. The only module that knows ``_core.Bandwidth``."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from iosonde import _core
from iosonde.bench.core_workload import CoreWorkload, core_errors
from iosonde.bench.runtime.histogram import Counts
from iosonde.bench.runtime.series import BinnedSeries
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import Limit, PhaseKey, StartWorkload
from iosonde.model.transfers import BIN_NS

BYTES = "bytes"
"""The name of a rank's series."""


class BandwidthWorkload(CoreWorkload):
    """Ranks of the core on one directory; ``place`` None: on nothing. ``parameters``: as the core reads them."""

    def __init__(
        self, place: str | None, parameters: Mapping[str, Any], first: int, count: int
    ) -> None:
        name = place or "null:"
        with core_errors(name):
            self._core = _core.Bandwidth(json.dumps(parameters), place, first, count)
        super().__init__(name, self._core)

    @classmethod
    def starter(cls, place: str | None, parameters: Mapping[str, Any]) -> StartWorkload:
        """Starter of the workload for a process's ranks."""
        return functools.partial(cls, place, parameters)

    def load(self, _phase: PhaseKey, work: Mapping[str, Any]) -> None:
        """Prepare a phase. ``work``: as the core reads it."""
        self.order("load", work)

    def go(self, _phase: PhaseKey, limit: Limit) -> None:
        """See ``Workload``."""
        self.order("go", {"limit": {"after_ns": limit.after_ns, "steps": limit.steps}})

    def tallies(self) -> list[RankTally | None]:
        """See ``Workload``; includes the series of bytes."""
        return [
            None if tally is None else replace(tally, series=self._series(at))
            for at, tally in enumerate(super().tallies())
        ]

    def _series(self, at: int) -> dict[str, BinnedSeries]:
        found = self.records(at)
        if found is None or not len(found["bins"]):
            return {}
        return {BYTES: BinnedSeries(BIN_NS, int(found["first_bin"][0]), found["bins"])}

    def records(self, at: int) -> dict[str, Counts] | None:
        """Instants of the rank's file, UTC (``open_begin_ns`` ... ``close_end_ns``), ``bytes``, ``first_bin``: shape
        (1,). ``bins``: bytes of each. ``mismatches``: offsets of wrong bytes, one a transfer, of the first of them.
        """
        found = self._core.records(at)
        if found is None:
            return None
        return {
            name: np.frombuffer(value, np.int64)
            if isinstance(value, bytes)
            else np.array([value], np.int64)
            for name, value in found.items()
        }
