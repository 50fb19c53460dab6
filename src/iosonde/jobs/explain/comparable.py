"""The runs that a run is compared with: as if they did what it did itself, and since the last lasting change.

Source: docs/methods/umami.md, what is usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.explain.own_doing import OwnChange, own_changes
from iosonde.jobs.explain.own_level import OwnLevel, own_level
from iosonde.jobs.explain.since import Since, since

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places
    from iosonde.model.jobs import JobTable


SLOW_FROM = 0.1
"""Least loss of a slow run; below, it is as usual in any quartile."""


class Comparable(NamedTuple):
    """``others``: rows of the history since the last change; ``y`` (n,): performance of every row of the table."""

    others: Places
    y: Floats
    own: tuple[OwnChange, ...]
    """What the run did otherwise itself; what its performance depends on comes first."""
    level: OwnLevel | None
    since: Since | None


def comparable(table: JobTable, row: int, others: Places, y: Floats) -> Comparable:
    """What the run of ``row`` is compared with, of its history ``others`` and the performance ``y`` (n,)."""
    level = own_level(table, row, others, y)
    own = own_changes(table, row, others)
    if level is not None:
        y = level.y
        own = (level.change, *(one for one in own if one.what != level.change.what))
    rows = np.append(others, row)
    order = rows[np.argsort(table.start_ns[rows], kind="stable")]
    changed = since(table.start_ns[order], y[order], int(np.flatnonzero(order == row)[0]))
    if changed is not None:
        others = others[changed.of(table.start_ns[others])]
    return Comparable(others, y, own, level, changed)
