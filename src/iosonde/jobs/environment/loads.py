"""The load that servers or clients recorded beside a probe's operations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.store.series import SeriesName, read_block, series_names
from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants

_UNIT = "operations"


def loads_at(
    root: Path, metrics: Sequence[str], system: str | None, times_ns: Instants
) -> tuple[Floats, list[SeriesName]]:
    """Operations a second of all components at each instant (n,), ascending; and the series they are from.

    ``metrics``: names, or ``level/name``; their rates are added. NaN where a component of one is missing. Raises
    UsageError: no such series, several, or one that does not count operations.
    """
    total: Floats = np.zeros(len(times_ns))
    since, until = int(times_ns[0]), int(times_ns[-1]) + 1
    known = series_names(root, since, until)
    found = [_series(metric, system, known) for metric in metrics]
    for name in found:
        total += _rates(root, name, times_ns)
    return total, found


def _series(metric: str, system: str | None, known: Sequence[SeriesName]) -> SeriesName:
    level, _, name = metric.rpartition("/")
    fits = [
        one
        for one in known
        if one.metric == name and level in ("", one.level) and system in (None, one.system)
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise UsageError(
            f"the store has {len(fits)} series {metric!r}: {_listed(fits)}",
            expected="one of them",
            hint="--system NAME, or --metric LEVEL/NAME",
        )
    raise UsageError(
        f"the store has no series {metric!r} of that time",
        expected=f"one of {_listed(known)}" if known else "an import of servers' or nodes' records",
        hint="" if known else "'iosonde import FILE'",
    )


def _listed(names: Sequence[SeriesName]) -> str:
    some = [f"{one.level}/{one.metric} of {one.system or one.source}" for one in names[:8]]
    return ", ".join(some) + (", ..." if len(names) > 8 else "")


def _rates(root: Path, name: SeriesName, times_ns: Instants) -> Floats:
    rates: Floats = np.full(len(times_ns), np.nan)
    block = read_block(root, name, int(times_ns[0]), int(times_ns[-1]) + 1)
    if block is None:
        return rates
    if block.unit != _UNIT or block.kind != "delta":
        raise UsageError(
            f"{name.metric} counts {block.unit or 'states'}",
            expected="a series of operations, such as read_ops, write_ops or opens",
        )
    place = np.searchsorted(block.time_ns, times_ns, side="right") - 1
    begun = np.maximum(place, 0)
    inside = (place >= 0) & (times_ns < block.time_ns[begun] + block.step_ns[begun])
    amount = block.value.sum(axis=1)
    rates[inside] = amount[begun[inside]] / (block.step_ns[begun[inside]] / 1e9)
    return rates
