"""``iosonde blame``: who made a slow event, or the operations of an interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.blame import AROUND_NS, Blame, SlowdownSeries, blame, slot_of
from iosonde.jobs.attribution.clock import Offset, clock_offset
from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.own_counters import by_node, without_background
from iosonde.jobs.attribution.shares import shares
from iosonde.jobs.attribution.stored import RecordChoice, StoredLoad, stored_load
from iosonde.jobs.attribution.systems import recorded_systems
from iosonde.jobs.blame.bands import OpsBand, band_of
from iosonde.jobs.blame.interval import BlamedSpan, BlameQuestion, span_of
from iosonde.jobs.blame.probed import probed_slowdown
from iosonde.model.errors import NothingMeasuredError

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.jobs.attribution.shares import By
    from iosonde.jobs.blame.interval import Grouping

BYTES = ("read_bytes", "written_bytes")
SLOW = 1.5
"""In an interval that somebody named, nobody caused a slowdown below this."""
_COLUMN: dict[str, By] = {
    "job": "job_id",
    "user": "user",
    "account": "account",
    "name": "name",
    "node": "job_id",
}


class RunInfo(NamedTuple):
    """A job as the scheduler has it; its run that was under way in the interval."""

    user: str
    account: str
    name: str
    began_ns: int | None
    """None where only counters know the job."""


class BlameAnswer(NamedTuple):
    """``bytes_of``: bytes by who did them, {} where nobody counted; ``runs``: of jobs that the scheduler knows.

    ``op``, ``factor``: what the probe says was slow, and how much in the middle; None without a probe.
    """

    question: BlameQuestion
    span: BlamedSpan
    found: Blame
    load: StoredLoad
    clock: Offset
    shifted: bool
    """The scheduler's times were moved by the clocks' offset."""
    op: str | None
    factor: float | None
    bytes_of: dict[str, float]
    runs: dict[str, RunInfo]
    band: OpsBand | None
    joined: Joined
    """Records and runs on one clock."""
    moved: Joined | None
    """The same for bytes, where nodes recorded them."""
    seen: SlowdownSeries | None
    """The slowdown that loads were compared with; None: nothing was slow, or nobody probed."""

    def grouped(self, by: Grouping) -> Blame:
        """The same question about users or accounts: all of their jobs together."""
        span, column = self.span, _COLUMN[by]
        return blame(self.joined, span.begin_ns, span.end_ns, self.seen, column, moved=self.moved)


def blamed(root: Path, question: BlameQuestion, now_ns: int) -> BlameAnswer:
    """Who did most, and who caused it where a probe saw it slow.

    Raises UsageError, NothingMeasuredError (no event; no records of nodes, no jobs), StoreError.
    """
    span = span_of(root, question, now_ns)
    if question.systems is None and span.target is not None:
        systems = recorded_systems(root, span.target, span.begin_ns, span.end_ns)
        question = question._replace(systems=systems)
    choice = RecordChoice(systems=question.systems, per_job=question.per_job)
    load = stored_load(root, span.begin_ns, span.end_ns, now_ns=now_ns, choice=choice)
    joined, clock, shifted = _on_one_clock(load)
    by = _COLUMN[question.by]
    asked = by_node(joined) if question.by == "node" else joined
    slot_ns = slot_of(span.begin_ns, span.end_ns, joined.recorded.grid.step_ns)
    series = _series(root, span, slot_ns)
    factor = None if series is None else _middle(series[0], span)
    slow = span.event is not None or (factor is not None and factor >= SLOW)
    seen = series[0] if series is not None and slow else None
    moved = _bytes(root, span, question, now_ns)
    found = blame(asked, span.begin_ns, span.end_ns, seen, by, moved=moved)
    band = None
    if question.band is not None:
        column = "job_id" if question.by == "node" else by
        band = band_of(joined, span.begin_ns, span.end_ns, question.band, column)
    return BlameAnswer(
        question,
        span,
        found,
        load,
        clock,
        shifted,
        None if series is None else series[1],
        factor,
        _bytes_of(moved, span, question),
        _runs(joined, span) if question.by == "job" else {},
        band,
        joined,
        moved,
        seen,
    )


def _on_one_clock(load: StoredLoad) -> tuple[Joined, Offset, bool]:
    """The scheduler's times moved to the nodes' clocks, where the offset is sure and more than a step."""
    joined = load.joined
    clock = clock_offset(joined.recorded, joined.allocations)
    step_s = joined.recorded.grid.step_ns / 1e9
    if clock.seconds is None or clock.lower is None or clock.upper is None:
        return joined, clock, False
    if abs(clock.seconds) <= step_s or clock.lower <= 0 <= clock.upper:
        return joined, clock, False
    allocations = joined.allocations.shifted(round(clock.seconds * 1e9))
    return without_background(join(joined.recorded, allocations), load.own), clock, True


def _series(root: Path, span: BlamedSpan, slot_ns: int) -> tuple[SlowdownSeries, str] | None:
    if span.target is None:
        return None
    inside = (span.begin_ns, span.end_ns)
    return probed_slowdown(
        root, span.target, (inside[0] - AROUND_NS, inside[1] + AROUND_NS), inside, slot_ns
    )


def _middle(series: SlowdownSeries, span: BlamedSpan) -> float | None:
    inside = (series.time_ns >= span.begin_ns) & (series.time_ns < span.end_ns)
    return float(np.median(series.factor[inside])) if inside.any() else None


def _bytes(root: Path, span: BlamedSpan, question: BlameQuestion, now_ns: int) -> Joined | None:
    choice = RecordChoice(question.systems, None, BYTES, question.per_job)
    try:
        return stored_load(root, span.begin_ns, span.end_ns, now_ns=now_ns, choice=choice).joined
    except NothingMeasuredError:
        return None


def _bytes_of(moved: Joined | None, span: BlamedSpan, question: BlameQuestion) -> dict[str, float]:
    if moved is None:
        return {}
    joined = by_node(moved) if question.by == "node" else moved
    done = shares(joined, span.begin_ns, span.end_ns, _COLUMN[question.by])
    return {one.who: one.ops for one in done.ranked}


def _runs(joined: Joined, span: BlamedSpan) -> dict[str, RunInfo]:
    """Jobs' runs in the interval; of several of one job the last."""
    runs = joined.allocations.within(span.begin_ns, span.end_ns)
    columns = (runs.job_id, runs.user, runs.account, runs.name, runs.begin_ns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    first = joined.recorded.grid.begin_ns  # of runs that stand for a job's own counters
    return {
        str(job): RunInfo(str(user), str(account), str(name), began if began > first else None)
        for job, user, account, name, began in rows
    }
