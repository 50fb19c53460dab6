"""Operations of each job, user or account in slots of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.join import divide

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.jobs.attribution.shares import By
    from iosonde.model.arrays import Floats, Instants


class Loads(NamedTuple):
    """``ops`` (M, K): of each of ``names`` (M,) in slots that start at ``begin_ns`` (K,), all of ``step_ns``.

    ``covered`` (K,): part of the nodes' time with records.
    """

    names: tuple[str, ...]
    begin_ns: Instants
    step_ns: int
    ops: Floats
    covered: Floats


def loads(joined: Joined, begin_ns: int, end_ns: int, step_ns: int, by: By = "job_id") -> Loads:
    """Loads in slots from ``begin_ns``; the last one ends at or before ``end_ns``. Only those that ran."""
    slots = max(0, (end_ns - begin_ns) // step_ns)
    edges = begin_ns + step_ns * np.arange(slots + 1, dtype=np.int64)
    divided = divide(joined, begin_ns, int(edges[-1]), edges)
    pieces = divided.pieces
    slot = (pieces.begin_ns - begin_ns) // step_ns
    allocations = joined.allocations
    run = allocations.run[pieces.allocation]
    present, at = np.unique(getattr(allocations, by)[run].astype(str), return_inverse=True)
    flat = at * slots + slot[pieces.piece]
    ops = np.zeros(len(present) * slots)
    np.add.at(ops, flat, divided.part)
    known = np.bincount(slot, pieces.covered_s, minlength=slots)
    nodes = max(1, len(joined.recorded.nodes))
    covered = np.minimum(1.0, known / (nodes * step_ns / 1e9))
    names = tuple(str(one) for one in present)
    return Loads(names, edges[:-1], step_ns, ops.reshape(len(present), slots), covered)
