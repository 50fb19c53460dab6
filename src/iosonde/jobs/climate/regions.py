"""Period of each run of a table: a climate of its file system, or between given instants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.climate.climate import picked
from iosonde.jobs.climate.metrics import safe_metrics
from iosonde.jobs.climate.regimes import climates_of
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.units import day

if TYPE_CHECKING:
    from iosonde.model.arrays import Texts
    from iosonde.model.jobs import JobTable


def between(table: JobTable, boundaries_ns: Sequence[int]) -> Texts:
    """(n,) ``until 2018-03-01``, ``2018-03-01 to 2018-06-01``, ``from 2018-06-01``; "" without a begin.

    Raises UsageError: no boundary, or they do not ascend.
    """
    if not boundaries_ns or any(a >= b for a, b in pairwise(boundaries_ns)):
        raise UsageError("the boundaries do not ascend", expected="one time or more, each later")
    days = [day(at) for at in boundaries_ns]
    names = [f"until {days[0]}", *(f"{a} to {b}" for a, b in pairwise(days)), f"from {days[-1]}"]
    place = np.searchsorted(np.asarray(boundaries_ns, dtype=np.int64), table.start_ns, side="right")
    found = np.array(names, dtype=object)[place]
    found[table.start_ns == NULL_NS] = ""
    return found


def climates(table: JobTable) -> Texts:
    """(n,) ``climate B, 2018-03-01 to 2018-06-01``: of the run's file system; "" without climates.

    Raises as ``climate``; NothingMeasuredError: no file system has climates that can be told apart.
    """
    some = picked(table, None, None, None, None)
    found = np.full(len(table), "", dtype=object)
    for one in climates_of(some, safe_metrics(some)):
        here = np.asarray(table.file_system == one.file_system, dtype=bool)
        for regime in one.regimes:
            inside = here & (table.start_ns >= regime.start_ns) & (table.start_ns < regime.end_ns)
            first, behind = day(regime.start_ns), day(regime.end_ns)
            found[inside] = f"climate {regime.name}, {first} to {behind}"
    if not (found != "").any():
        raise NothingMeasuredError(
            f"{table.source or 'the table'} has no climates that can be told apart",
            hint="given boundaries, such as 2018-03-01",
        )
    return found
