"""Load of one job over time, beside that of all nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.load.spans import dense
from iosonde.jobs.load.view import axis_of

if TYPE_CHECKING:
    from iosonde.jobs.load.history import LoadHistory
    from iosonde.model.arrays import Floats


class JobCourse(NamedTuple):
    """Operations per second in cells of ``step_ns`` from ``begin_ns``, shapes (K,); NaN without records.

    ``ops``: of the job in all cells; ``share``: of all operations recorded there, 0 to 1; ``most_per_s``: of the job in
    its largest finest cell.
    """

    begin_ns: int
    step_ns: int
    own_per_s: Floats
    all_per_s: Floats
    ops: float
    share: float
    most_per_s: float


def course_of(
    history: LoadHistory, job_id: str, span_ns: tuple[int, int], cells: int
) -> JobCourse | None:
    """Load of the job's runs that overlap [begin, end), in at most ``cells``; None without records."""
    axis = axis_of(history, *span_ns, cells)
    runs, grid = history.runs, history.grid
    mine = (runs.job_id.astype(str) == job_id) & (runs.begin_ns < span_ns[1])
    mine &= runs.end_ns > span_ns[0]
    if not axis.cells or not mine.any():
        return None
    place = np.where(mine, 0, -1)
    own = dense(history.run_cells, axis.low, axis.high, place, 1)
    total, covered = (column[axis.low : axis.high] for column in (history.total, history.covered))
    ops, everything = float(own.ops.sum()), float(total.sum())
    if not (covered > 0).any():
        return None
    first = np.arange(0, axis.high - axis.low, max(1, axis.step_ns // grid.step_ns))
    known = np.add.reduceat(np.where(covered > 0, 1.0, 0.0), first)
    seconds = np.where(known > 0, known, np.nan) * grid.step_ns / 1e9
    return JobCourse(
        begin_ns=axis.begin_ns,
        step_ns=axis.step_ns,
        own_per_s=np.add.reduceat(own.ops[0], first) / seconds,
        all_per_s=np.add.reduceat(total, first) / seconds,
        ops=ops,
        share=min(1.0, ops / everything) if everything > 0 else 0.0,
        most_per_s=float(own.most[0].max(initial=0.0)) / (grid.step_ns / 1e9),
    )
