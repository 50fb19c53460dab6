"""What servers and clients recorded: series, their blocks, loads beside a probe's operations, jobs beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.jobs.environment import join as joining
from iosonde.jobs.environment.join import JoinCounts
from iosonde.jobs.store import series as stored
from iosonde.jobs.store.series import SeriesName
from iosonde.model.errors import NothingMeasuredError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from iosonde.model.arrays import Floats
    from iosonde.model.metrics import MetricBlock

__all__ = ["JoinCounts", "ReadsAnswer", "SeriesName", "block", "join", "reads", "series"]
_FIRST_NS, _LAST_NS = 0, 2**62
"""Of a range without an end."""


class ReadsAnswer(NamedTuple):
    """Latencies (s) of a probe's operations, each with the load beside it (operations/s)."""

    latency_s: Floats
    load_per_s: Floats
    sentence: str


def series(
    root: Path, since_ns: int | None = None, until_ns: int | None = None
) -> list[SeriesName]:
    """Names of the series of a store that have values in a range, sorted. Raises StoreError."""
    return stored.series_names(root, since_ns, until_ns)


def block(root: Path, name: SeriesName, since_ns: int | None, until_ns: int | None) -> MetricBlock:
    """Everything of a series that overlaps a range. Raises NothingMeasuredError: nothing then."""
    first = _FIRST_NS if since_ns is None else since_ns
    found = stored.read_block(root, name, first, _LAST_NS if until_ns is None else until_ns)
    if found is None:
        raise NothingMeasuredError(f"{root} has no samples of {' '.join(name)} in that time")
    return found


def join(root: Path, progress: Callable[[int, int], None] | None = None) -> JoinCounts:
    """Put jobs and the servers' records together. Raises StoreError."""
    return joining.join(root, progress=progress)


def reads(
    root: Path,
    probe: tuple[str, str],
    span_ns: tuple[int | None, int | None],
    metrics: tuple[str, ...],
    system: str | None,
) -> ReadsAnswer:
    """Operations of ``probe`` (target, op) that ended ok, with the sum of ``metrics`` beside them.

    Raises UsageError (no such series), NothingMeasuredError (no read, or none with a load), StoreError.
    """
    from iosonde.jobs.environment.loads import LoadSeries, ProbeReads, reads_beside

    found = reads_beside(root, ProbeReads(*probe, *span_ns), LoadSeries(metrics, system))
    named = ", ".join(f"{one.level}/{one.metric}" for one in found.series)
    said = (
        f"{len(found.latency_s):,} of {found.n:,} reads have a load of {named} beside them; a counter "
        "of what servers completed understates the load once their queue is full"
    )
    return ReadsAnswer(found.latency_s, found.load_per_s, said)
