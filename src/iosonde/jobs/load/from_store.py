"""Load from the store, read period by period: records of a year are never in memory together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.blame import SLOT_NS
from iosonde.jobs.attribution.grid import OPS
from iosonde.jobs.attribution.records import OwnedComponent, owner_of
from iosonde.jobs.attribution.stored import SHORTEST_NS, stored
from iosonde.jobs.load.history import LoadHistory, gathered, node_groups
from iosonde.jobs.store.operations import recorded_components
from iosonde.model.errors import NothingMeasuredError

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined

OWN = "jobs' own counters"
"""Group of records that belong to a job and to no node."""
_AT_ONCE = 30_000_000
"""Most cells of nodes read at once."""


def load_of_store(root: Path, now_ns: int) -> LoadHistory:
    """Load of the whole store. Raises NothingMeasuredError: no records of nodes or jobs, or no job beside them;
    StoreError.
    """
    found = recorded_components(root, ("client", "job"), OPS, 0, now_ns)
    owned = [owner for one in found if (owner := owner_of(one)) is not None]
    if not owned:
        raise NothingMeasuredError(
            "the store has no operations of nodes or jobs",
            expected="records of nodes (collectl, mountstats, node_exporter, mmpmon) or of jobs (Lustre job_stats)",
            hint="'iosonde import FILE'",
        )
    groups = node_groups(sorted({one.row for one in owned if not one.job}))
    groups |= {one.row: OWN for one in owned if one.job}
    parts = _parts(root, owned, len(groups), now_ns)
    first = next(parts, None)
    if first is None:
        raise NothingMeasuredError(
            "the store has records of nodes and no job that had one of them",
            expected="a scheduler's records, such as sacct with NodeList",
            hint="'iosonde import sacct.txt'",
        )
    return gathered(_after(first, parts), groups)


def _after(first: Joined, others: Iterator[Joined]) -> Iterator[Joined]:
    yield first
    yield from others


def _parts(root: Path, owned: Sequence[OwnedComponent], rows: int, now_ns: int) -> Iterator[Joined]:
    """Periods in which jobs ran on nodes with records, one after the other."""
    usual = int(np.median([one.of.step_ns for one in owned]))
    step = min(max(usual, SHORTEST_NS), SLOT_NS)
    begin = min(one.of.begin_ns for one in owned) // step * step
    end = min(max(one.of.end_ns for one in owned), now_ns)
    length = max(1, _AT_ONCE // max(rows, 1)) * step
    while begin < end:
        until = min(begin + length, end)
        with contextlib.suppress(NothingMeasuredError):  # nothing was recorded then, or nobody ran
            yield stored(root, begin, until, now_ns=now_ns, step_ns=step, around_ns=0)
        begin += length
