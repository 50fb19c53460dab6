"""SQL for the cause of an operation's lateness: an earlier operation still in progress, or the probing host.

::

    held_up    it ended ok and began late (``LATE``), and an operation of its series that was due before it still
               went on when it was due, the time that this one waited for a CPU taken off
    by host    it began late and was not held up, or the host kept the probe from working on its tick

The same as ``Lane::take`` and ``is_missed_by_host`` in rust/core/src/slowdown/seen.rs (docs/methods/slowdown.md); a
test holds both to the same answers. Few operations are late and few are long: only these are looked at in the order of
time. What was due before the first row of ``source`` holds up nothing: the lanes of the agent never begin an operation
that another one held up (they skip its tick).
"""

from __future__ import annotations

import numpy as np

from iosonde.engine.contract import LATE, SERIES_KEY
from iosonde.model.arrays import Flags, Instants
from iosonde.model.frames import NULL_NS

LATE_BY_HOST = f"(outcome = 'ok' AND coalesce({LATE}, false) AND NOT held_up)"
"""SQL: the probing host alone delayed the start. Needs the column ``held_up``."""
MISSED_BY_HOST = "(outcome = 'shed' AND control_runq_ns IS NOT NULL)"
"""SQL: the probing host kept the probe from its tick: neither seen nor lost."""

_SUSPECT = f"(outcome = 'ok' AND coalesce({LATE}, false))"
_FREE = (
    "CASE WHEN began_ns IS NOT NULL THEN ended_ns - greatest(coalesce(control_runq_ns, 0), 0) END"
)
_LONG = "(period_ns > 0 AND began_ns IS NOT NULL AND coalesce(ended_ns - due_ns > period_ns // 2, false))"
"""SQL: long enough to hold up the next operation, a period later."""
_BEFORE = (
    f"OVER (PARTITION BY {', '.join(SERIES_KEY)} ORDER BY due_ns "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
)


def with_held_up(source: str = "samples") -> str:
    """SQL source of the rows of ``source`` with the column ``held_up``, never null."""
    return (
        f"(SELECT *, false AS held_up FROM {source} WHERE NOT {_SUSPECT} UNION ALL "
        "SELECT * EXCLUDE (free_ns), coalesce(free_ns > due_ns, false) AS held_up "
        f"FROM (SELECT *, max({_FREE}) {_BEFORE} AS free_ns FROM {source} WHERE {_SUSPECT} OR {_LONG}) "
        f"WHERE {_SUSPECT})"
    )


def held_up_of(due_ns: Instants, late: Flags, free_ns: Instants) -> Flags:
    """``held_up`` of rows of one series, (n,) in any order.

    ``late``: it ended ok and began late; ``free_ns``: when it had ended but for its wait for a CPU, ``NULL_NS`` where
    it did not begin or its end is unknown.
    """
    order = np.argsort(due_ns, kind="stable")
    before = np.concatenate(([NULL_NS], np.maximum.accumulate(free_ns[order])[:-1]))
    found = np.zeros(len(due_ns), bool)
    found[order] = late[order] & (before > due_ns[order])
    return found
