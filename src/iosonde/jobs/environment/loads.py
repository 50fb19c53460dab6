"""Load recorded by servers or clients during a probe's operations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.store.series import SeriesName, read_block, series_names
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants

_UNIT = "operations"


class ProbeReads(NamedTuple):
    """Operations of a probe due in [since, until); None = open."""

    target: str
    op: str
    since_ns: int | None
    until_ns: int | None


class LoadSeries(NamedTuple):
    """Series whose rates are summed. ``metrics``: names, or ``level/name``; ``system`` None = any."""

    metrics: tuple[str, ...]
    system: str | None


class LoadedReads(NamedTuple):
    """Reads (k,) with a concurrent load, of ``n`` that ended ok; the series the loads are from."""

    latency_s: Floats
    load_per_s: Floats
    n: int
    series: list[SeriesName]


def reads_beside(root: Path, which: ProbeReads, series: LoadSeries) -> LoadedReads:
    """Service times of a probe's successful operations, each with the concurrent load in operations/s.

    Reads beside a missing record, or without load, are left out. Raises UsageError: no such series, several, or one
    that does not count operations; NothingMeasuredError: no read, or none with a load; StoreError.
    """
    samples = Store(root).samples(
        ("due_ns", "service_ns", "outcome"),
        target=which.target,
        ops=[which.op],
        since_ns=which.since_ns,
        until_ns=which.until_ns,
    )
    good = samples.take(samples["outcome"] == "ok")
    if not len(good):
        raise NothingMeasuredError(f"{which.target} has no {which.op} that ended ok at that time")
    due_ns = good["due_ns"]
    known = series_names(root, int(due_ns[0]), int(due_ns[-1]) + 1)
    names = [_series(metric, series.system, known) for metric in series.metrics]
    load: Floats = sum((_rates(root, name, due_ns) for name in names), np.zeros(len(due_ns)))
    there = np.isfinite(load) & (load > 0)
    if not there.any():
        raise NothingMeasuredError("no read has a load beside it: the series and the probe differ")
    return LoadedReads(good["service_ns"][there] / 1e9, load[there], len(good), names)


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
    """Operations per second of all components at each instant (n,), ascending; NaN if one is missing."""
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
