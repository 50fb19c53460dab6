"""Roll-ups of one answer, read once: a report asks for parts of the same ones repeatedly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.engine.contract import INTERVAL_NS, QUANTILE_COLUMNS
from iosonde.engine.reader import SampleFilter
from iosonde.weather.rollups.files import IntervalColumns
from iosonde.weather.rollups.intervals import Rollups, take
from iosonde.weather.rollups.rollups import rollups

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags

MOST_BYTES = 256 << 20
"""Most bytes of histograms held; larger ones are read again."""
_EVERYTHING = IntervalColumns(QUANTILE_COLUMNS)


@dataclass(frozen=True)
class RollupsAtHand:
    """All roll-ups of a scope."""

    scope: SampleFilter
    found: Rollups

    @staticmethod
    def read(root: Path, scope: SampleFilter) -> RollupsAtHand | None:
        """Read the roll-ups; None if they are too large to hold. Raises what ``rollups`` raises."""
        found = rollups(root, scope, _EVERYTHING)
        whole = found.unsorted
        columns = [part for h in (whole.service, whole.response) for part in (h.bucket, h.count)]
        return RollupsAtHand(scope, found) if sum(c.nbytes for c in columns) <= MOST_BYTES else None

    def part(self, scope: SampleFilter) -> Rollups | None:
        """Result of ``rollups`` for ``scope``; None if it is not contained."""
        if not self._holds(scope):
            return None
        whole = self.found.unsorted
        wanted: Flags = np.array([scope.has(key) for key in whole.series], dtype=bool)
        rows = wanted[whole.columns["id"][self.found.order]]
        start_ns = whole.columns["start_ns"][self.found.order]
        if scope.since_ns is not None:
            rows &= start_ns >= scope.since_ns // INTERVAL_NS * INTERVAL_NS
        if scope.until_ns is not None:
            rows &= start_ns < scope.until_ns
        chosen = take(whole, self.found.order[rows])
        there, ids = np.unique(chosen.columns["id"], return_inverse=True)
        series = [whole.series[number] for number in there]
        columns = chosen.columns | {"id": ids.astype(np.int64)}
        return Rollups(replace(chosen, series=series, columns=columns), np.arange(len(ids)))

    def _holds(self, scope: SampleFilter) -> bool:
        mine = self.scope
        ops = mine.ops is None or (scope.ops is not None and set(scope.ops) <= set(mine.ops))
        begins = mine.since_ns is None or (
            scope.since_ns is not None and scope.since_ns >= mine.since_ns
        )
        ends = mine.until_ns is None or (
            scope.until_ns is not None and scope.until_ns <= mine.until_ns
        )
        same = mine.host in (None, scope.host) and mine.target in (None, scope.target)
        return same and ops and begins and ends and scope.runs is None
