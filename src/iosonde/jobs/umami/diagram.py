"""The UMAMI diagram of one job as data: every metric of it within its history.

The history of a job are other runs of the same kind (file system, motif and class of size): by default the earlier
ones, so that a diagram says the same today and in a year; ``all`` are all others, before and after. The job itself is
never part of its own history, whichever job is asked for.
Source: Lockwood et al., UMAMI (PDSW 2017), figure 2; docs/umami.md.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from iosonde.jobs.table.runs import find_run
from iosonde.jobs.table.sizes import sized
from iosonde.jobs.umami.quartile import Stood, stand
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.job_metrics import About, job_metrics
from iosonde.model.jobs import JobTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.jobs.umami.since import Since

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

History = Literal["earlier", "all"]

STANDARD: tuple[tuple[str, ...], ...] = (
    ("fraction_of_peak_ratio", "performance_bytes_per_s"),
    ("contention_bandwidth_ratio", "cf_bandwidth_ratio"),
    ("contention_opens_ratio", "cf_opens_ratio"),
    ("contention_stats_ratio", "cf_stats_ratio"),
    ("contention_ops_ratio", "cf_ops_ratio"),
    ("mds_cpu_mean_percent",),
    ("oss_cpu_max_percent",),
    ("fullest_ost_percent",),
    ("overloaded_oss",),
    ("radius_max_hops",),
)
"""Default rows of a diagram, in order: of each the first known metric."""
LARGEST = 1e200
"""Numbers from here on are implausible and taken as missing."""
LARGEST_GAP = 0.01
"""Largest missing share of server samples without a note."""
MOST_ROWS = 10
"""Most default rows."""


@dataclass(frozen=True)
class MetricRow:
    """Metric of the job and of its history.

    ``values`` (n,), missing is NaN: of the runs of ``Umami.times_s``. ``stood``: the job's value, its class,
    its box and the number of other runs that have a value. ``flags``: of ``model.quality.QUALITY``, of the
    job's value.
    """

    metric: str
    about: About
    values: Floats
    stood: Stood
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Umami:
    """A job among other runs of its kind.

    ``times_s`` (n,): begins of the runs, s since the epoch, ascending; ``place``: which of them is the job.
    ``others``: runs of the history (n - 1). ``since_ns``: the last lasting change before the job, if classes and
    boxes are those of the runs since. ``notes``: what to know about the history, for people.
    """

    job_id: str
    step: str
    file_system: str
    motif: str
    history: History
    times_s: Floats
    place: int
    rows: tuple[MetricRow, ...]
    notes: tuple[str, ...] = ()
    since_ns: int | None = None

    @property
    def others(self) -> int:
        """Runs in the history."""
        return len(self.times_s) - 1


def umami(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    last: int | None = None,
    history: History = "earlier",
    since: Since | None = None,
) -> Umami:
    """The diagram of a job of ``table``. ``since``: classes and boxes are those of the runs of its time.

    ``step``: which run of the job, where it has several: as ``find_run``. ``metrics``: names of rows in
    order; default: those of ``STANDARD`` that are known of the job or of its history. ``last``: so many of
    the latest runs of the history. Missing data: NaN is not part of a metric's history, and shown as a gap.
    Raises UsageError: no such job, several runs, no such metric, ``last`` below 1.
    """
    if last is not None and last < 1:
        raise UsageError(f"a history of {last} runs is none", expected="1 or more")
    table = sized(table)
    row = find_run(table, job_id, step)
    rows, notes = history_of(table, row, history)
    if last is not None:
        rows = rows[-last:]
    order = np.append(rows, row)
    order = order[np.argsort(table.start_ns[order], kind="stable")]
    place = int(np.flatnonzero(order == row)[0])
    usual = np.arange(len(order)) != place
    if since is not None:
        usual &= since.of(table.start_ns[order])
    picked = _known(table, order) if metrics is None else _named(table, metrics)
    return Umami(
        job_id=str(table.job_id[row]),
        step=str(table.step[row]),
        file_system=str(table.file_system[row]),
        motif=str(table.motif[row]),
        history=history,
        times_s=_seconds(table.start_ns[order]),
        place=place,
        rows=tuple(_row(table, name, order, place, usual) for name in picked),
        notes=notes,
        since_ns=None if since is None else since.at_ns,
    )


def _row(table: JobTable, metric: str, order: Places, place: int, usual: Flags) -> MetricRow:
    values = measured(np.asarray(table.metrics[metric][order], dtype=np.float64))
    about = table.about(metric)
    stood = stand(values[usual], float(values[place]), about.good)
    return MetricRow(metric, about, values, stood, table.flags.get((int(order[place]), metric), ()))


def measured(values: Floats) -> Floats:
    """Values with NaN for implausible numbers, from ``LARGEST`` on."""
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _seconds(instants: NDArray[np.int64]) -> Floats:
    known = instants != NULL_NS
    return np.where(known, np.where(known, instants, 0) / 1e9, np.nan)


def history_of(table: JobTable, row: int, history: History) -> tuple[Places, tuple[str, ...]]:
    """Rows of other runs of the same (file system, motif) of a ``sized`` table in time order, and notes on them.

    A run whose begin is not known is in no history, and has none. A job without a motif has none either: what
    it could be compared with is not known.
    """
    start, motif = table.start_ns, str(table.motif[row])
    none = np.empty(0, dtype=np.intp)
    said = _unseen(table, row)
    if start[row] == NULL_NS:
        return none, (*said, "the job has no begin, so it has no history")
    if not motif:
        return none, (*said, "the job's program is unknown, so it has no runs to compare with")
    same = (table.motif == motif) & (table.file_system == table.file_system[row])
    known = start != NULL_NS
    when = start < start[row] if history == "earlier" else np.arange(len(table)) != row
    rows = np.flatnonzero(same & known & when)
    undated = int(np.count_nonzero(same & ~known))
    them = (
        "1 run is left out: when it" if undated == 1 else f"{undated} runs are left out: when they"
    )
    left = (f"{them} began is unknown",) if undated else ()
    return rows[np.argsort(start[rows], kind="stable")], (*said, *left)


def _unseen(table: JobTable, row: int) -> tuple[str, ...]:
    """Note on the missing share of server samples during the job: its coverage is an upper bound."""
    column = table.metrics.get("server_missing_ratio")
    share = float("nan") if column is None else float(column[row])
    if not share > LARGEST_GAP:
        return ()
    return (f"{share:.0%} of the servers' samples are missing: coverage factors are upper bounds",)


def standard_rows(table: JobTable) -> list[str]:
    """Default rows with a known value for any job."""
    return _known(table, np.arange(len(table)))


def _known(table: JobTable, order: Places) -> list[str]:
    """Default rows with a known value here; if only performance, the metrics that the table describes itself."""

    def anything(name: str) -> bool:
        return name in table.metrics and bool(np.isfinite(table.metrics[name][order]).any())

    found = [name for name in (next(filter(anything, names), "") for names in STANDARD) if name]
    if any(name not in STANDARD[0] for name in found):
        return found
    own = (n for n, told in table.abouts.items() if told.role not in ("own", "performance"))
    return [*found, *filter(anything, own)][:MOST_ROWS]


def _named(table: JobTable, metrics: Sequence[str]) -> list[str]:
    for name in metrics:
        if name not in table.metrics:
            named = (
                f"{name!r} is not in the table" if name in job_metrics() else f"{name!r} is none"
            )
            near = difflib.get_close_matches(name, list(table.metrics), n=3)
            raise UsageError(
                f"there is no such metric: {named}",
                expected=f"one of {', '.join(sorted(table.metrics)[:40])}",
                hint=", ".join(near),
            )
    return list(dict.fromkeys(metrics))
