"""Jobs that ran in a span of time, sorted, for queries of shorter spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints

COLUMNS = "source, job_id, step, start_ns, end_ns, nodes"
"""SQL columns for ``company_of``."""


class JobTime(NamedTuple):
    """A record of a job's time; ``end_ns`` None: still running."""

    source: str
    job_id: str
    start_ns: int
    end_ns: int | None
    nodes: int


@dataclass(frozen=True)
class Company:
    """Jobs that ran in [begin, end), by start."""

    begin_ns: int
    end_ns: int
    records: Sequence[JobTime]
    starts: Ints
    ends: Ints
    """``NULL_NS``: still running."""

    def during(self, begin_ns: int, end_ns: int) -> list[JobTime]:
        """Jobs that ran in a part of it."""
        last = int(np.searchsorted(self.starts, end_ns, "left"))
        ran = (self.ends[:last] > begin_ns) | (self.ends[:last] == NULL_NS)
        return [self.records[row] for row in np.flatnonzero(ran).tolist()]


def company_of(parts: Sequence[Mapping[str, Any]], begin_ns: int, end_ns: int) -> Company:
    """Rows with ``COLUMNS`` and known start and nodes, in the order of start, id, step and source."""
    rows = []
    for columns in parts:
        values = [np.ma.asarray(column).tolist() for column in columns.values()]
        rows += list(zip(*values, strict=True))
    rows.sort(key=lambda row: (row[3], row[1], row[2], row[0]))
    records = [
        JobTime(source, job_id, start, end, nodes) for source, job_id, _, start, end, nodes in rows
    ]
    starts = np.array([one.start_ns for one in records], dtype=np.int64)
    ends = [NULL_NS if one.end_ns is None else one.end_ns for one in records]
    return Company(begin_ns, end_ns, records, starts, np.array(ends, dtype=np.int64))
