"""Rows of a job table as single records, for a store of jobs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import Direction, Job, JobTable, Mode, Scalar

if TYPE_CHECKING:
    from typing import Any

_DIRECTIONS, _MODES = (frozenset(get_args(kind)) - {""} for kind in (Direction, Mode))


def jobs_of(table: JobTable, system: str = "", metrics: Sequence[str] = ()) -> Iterator[Job]:
    """Yield each row as a job, in the table's order; ``metrics`` () = all. ``system``: the cluster.

    A metric that is missing is no scalar, unless it is for a reason (a flag): then its value is None.
    """
    names = list(metrics) or list(table.metrics)
    units = {name: table.about(name).unit for name in names}
    columns = [table.metrics[name].tolist() for name in names]
    flags: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for (row, name), told in table.flags.items():
        flags[row][name] = told
    for row in range(len(table)):
        scalars = {}
        for name, column in zip(names, columns, strict=True):
            value, told = column[row], flags[row].get(name, ()) if row in flags else ()
            if told or not math.isnan(value):
                known = None if math.isnan(value) else value
                scalars[name] = Scalar(known, units[name], table.source, flags=told)
        yield Job(
            source=table.source,
            job_id=table.job_id[row],
            step=table.step[row],
            system=system,
            file_system=table.file_system[row],
            start_ns=_instant(table.start_ns[row]),
            end_ns=_instant(table.end_ns[row]),
            scalars=scalars,
            **_parts(table.motif[row]),
        )


def _instant(ns: Any) -> int | None:
    return None if int(ns) == NULL_NS else int(ns)


def _parts(motif: str) -> dict[str, Any]:
    """Split ``app mode direction``, so that the job's motif stays equal."""
    words = motif.split()
    found: dict[str, Any] = {}
    for key, known in (("direction", _DIRECTIONS), ("mode", _MODES)):
        if words and words[-1] in known:
            found[key] = words.pop()
    return {**found, "app": " ".join(words)}
