"""Jobs to query: each among its kind, and all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from iosonde.jobs import answers
from iosonde.jobs.answers import job_diagram
from iosonde.jobs.climate.answers import climate, regions_of
from iosonde.jobs.correlate.answers import FRACTION, Peak, correlate
from iosonde.jobs.scheduled import answers as stored
from iosonde.jobs.table import answers as job_tables
from iosonde.jobs.table.answers import JobFilter, Sort, judged, list_jobs
from iosonde.jobs.umami.answers import STANDARD, History
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.jobs import JobTable
from iosonde.notebook.arguments import in_python, instant, names_of, now_ns, span
from iosonde.notebook.columns import instants, of_records, texts
from iosonde.notebook.display import Answer, TableResult
from iosonde.notebook.job_result import (
    Diagram,
    Explained,
    ExplainedRuns,
    ScheduledResult,
    TasksResult,
)
from iosonde.notebook.jobs_result import ClimateResult, Correlations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.notebook.arguments import Instant
    from iosonde.notebook.columns import Columns

_BY = ("file_system", "motif")
_CLIMATE = "climate"
_FIRST_SHOWN = ("job_id", "step", "start", "file_system", "motif")
_MOST_SHOWN = 9
_PERFORMANCE = ("performance_bytes_per_s", "performance_ops_per_s", FRACTION)


class Jobs(Answer):
    """Jobs with known I/O performance, a row each, in time order.

    ``data``: the ``JobTable``; ``notes``: what was left out of a table, and why. Metrics have their unit last in the
    name; ``.metrics`` says what they are.
    """

    def __init__(self, data: JobTable, notes: Sequence[str] = (), root: Path | None = None) -> None:
        self.data = data
        self.notes = tuple(notes)
        self._root = root

    def __len__(self) -> int:
        return len(self.data)

    @property
    def columns(self) -> Columns:
        """``job_id step start end file_system motif``, then a column per metric (float64, missing is NaN).

        Behind them, as far as some row has it: ``user account name node_names state raw_id nodes ranks``.
        ``raw_id``: the scheduler's, where ``job_id`` is as users write it (``4711_7``).
        """
        table = self.data
        said = {name: texts(column) for name, column in table.labels.items()}
        sizes = {name: column for name, column in table.sizes.items() if name not in table.metrics}
        return {
            "job_id": table.job_id,
            "step": table.step,
            "start": instants(table.start_ns),
            "end": instants(table.end_ns),
            "file_system": texts(table.file_system),
            "motif": texts(table.motif),
            **{name: column for name, column in said.items() if name not in table.metrics},
            **sizes,
            **table.metrics,
        }

    @property
    def metrics(self) -> TableResult:
        """Descriptions of the metrics: label, unit, good direction, role, and number of jobs with a value."""
        table = self.data
        rows = [
            {"metric": name, **table.about(name)._asdict(), "known": int(np.isfinite(column).sum())}
            for name, column in table.metrics.items()
        ]
        return TableResult(
            of_records(rows, ("metric", "label", "unit", "good", "role", "known")), rows
        )

    def __getitem__(self, name: Any) -> Any:
        """Column by name; jobs of a mask (n,), of a slice or of places. Raises UsageError: no such column, other n."""
        if isinstance(name, str):
            return super().__getitem__(name)
        rows = np.arange(len(self)) if isinstance(name, slice) else np.asarray(name)
        if isinstance(name, slice):
            return self._taken(rows[name])
        if rows.ndim != 1 or rows.dtype.kind not in "biu" or not self._fits(rows):
            raise UsageError(
                f"jobs cannot be chosen by {rows.dtype} values of shape {rows.shape}",
                expected=f"the name of a column, {len(self)} times True or False, or places below {len(self)}",
            )
        return self._taken(np.flatnonzero(rows) if rows.dtype.kind == "b" else rows)

    def _fits(self, rows: NDArray[Any]) -> bool:
        if rows.dtype.kind == "b":
            return len(rows) == len(self)
        return not len(rows) or bool((rows >= -len(self)).all() and (rows < len(self)).all())

    def _taken(self, rows: NDArray[Any]) -> Jobs:
        """Some of the jobs, in time order; fractions of peak stay."""
        return Jobs(self.data.take(np.unique(rows % max(1, len(self)))))

    @in_python
    def where(
        self,
        *,
        file_system: str | Sequence[str] | None = None,
        motif: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        account: str | Sequence[str] | None = None,
        since: Instant = None,
        until: Instant = None,
    ) -> Jobs:
        """Jobs of these file systems, motifs, users, accounts (one or several), that started in [since, until).

        Their fraction of peak stays. Raises UsageError (no such file system or motif), NothingMeasuredError (no job
        matches).
        """
        table = job_tables.select(
            self.data, names_of(file_system), names_of(motif), span(since, until)
        )
        keep = np.full(len(table), True)
        for name, wanted in (("user", names_of(user)), ("account", names_of(account))):
            if wanted is not None:
                keep &= np.isin(table.label(name).astype(str), wanted)
        if not keep.any():
            raise NothingMeasuredError(
                f"{table.source or 'the table'} has no job for this question"
            )
        return Jobs(table.take(keep))

    @in_python
    def listed(
        self,
        *,
        search: str = "",
        user: str | None = None,
        account: str | None = None,
        node: str | None = None,
        file_system: str | None = None,
        since: Instant = None,
        until: Instant = None,
        slow: bool = False,
        sort: Sort | None = None,
        limit: int | None = None,
    ) -> TableResult:
        """Jobs as ``iosonde jobs`` lists them, with ``run_s`` and ``slowness``: newest first, slow ones slowest first.

        ``slow``: only those that took 1.5 times as long as others of their kind; ``since``, ``until``: they ran in a
        part of it. Raises UsageError: a time or order that is none.
        """
        if sort not in (None, *get_args(Sort)):
            raise UsageError(f"there is no order {sort!r}", expected="time or slowness")
        begin, end = span(since, until)
        which = JobFilter(search.split(), begin, end, user, account, node, file_system, slow)
        order: Sort = sort or ("slowness" if slow else "time")
        found = list_jobs(self.data, which, limit, order)
        columns = of_records(found.records(), found.table().names)
        named = {"job_id" if name == "job" else name: one for name, one in columns.items()}
        return TableResult(named, found.found)

    @in_python
    def umami(
        self,
        job: object,
        step: str | int | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        also: str | Sequence[str] = (),
        last: int | None = None,
        history: History = "earlier",
    ) -> Diagram:
        """A job among earlier runs of its kind (``history="all"``: later ones, too), metric by metric.

        ``step``: which run of the job, where it has several: its step, its motif, or 2 for the second. ``metrics``: the
        rows; None: the usual ones that are known, and those of ``also``. ``last``: the latest so many of the history.
        Raises UsageError: no such job, run or metric.
        """
        found = job_diagram(
            self._judged,
            self._known(job),
            _step(step),
            metrics=names_of(metrics),
            also=names_of(also or ()) or (),
            last=last,
            history=_history(history),
        )
        return Diagram(found)

    @in_python
    def explain(
        self,
        job: object,
        step: str | int | None = None,
        *,
        last: int | None = None,
        history: History = "earlier",
    ) -> Explained | ExplainedRuns | ScheduledResult | TasksResult:
        """Explain a slow job: metrics that stood out, evidence of history, groups as usual. Arguments as ``umami``.

        ``job``: several ids (a list, a column, ``Jobs``) give a row and a sentence a run, the worst first. Of a job of
        several runs without ``step``: a row and a sentence a run, the worst first; of an array of a store
        a row and a sentence a task. ``job``: as users write it (``"4711_7"``), or the scheduler's raw id.

        What stood out need not be the cause (docs/umami.md). Of a job of a store that only a scheduler recorded: what
        storage was like while it ran (docs/jobs.md). Raises UsageError: no such job or run.
        """
        if isinstance(job, Jobs) or not isinstance(job, str | int | np.integer):
            return self._explained(job, _history(history), last)
        if step is None and (tasks := self._tasks(str(job), last, history)) is not None:
            return tasks
        if (only := self._scheduled(str(job), _step(step))) is not None:
            return only
        of_job = self.data.job_id == self._known(job)
        if step is None and int(np.count_nonzero(of_job)) > 1:
            runs = answers.explain_runs(
                self._judged, self._known(job), history=_history(history), last=last
            )
            return ExplainedRuns([runs])
        found = answers.explain_job(
            self._judged,
            self._known(job),
            _step(step),
            history=_history(history),
            last=last,
        )
        return Explained(found)

    @in_python
    def correlate(
        self,
        metrics: str | Sequence[str] | None = None,
        by: str | Sequence[str] | None = _BY,
        *,
        y: str = FRACTION,
        control: str | Sequence[str] = (),
        boundaries: Sequence[Instant] = (),
    ) -> Correlations:
        """Correlations with ``y`` in each group of ``by``, and over all rows (docs/correlate.md).

        ``by``: ``file_system``, ``motif``, ``climate`` (the pieces of time of ``climate()``), or several; with
        ``boundaries`` pieces of time lie between these instants instead.

        ``metrics``: None: those that somebody described and that could explain it. ``control``: of these the partial
        coefficients are freed. Raises UsageError (no such metric or group), NothingMeasuredError (nothing known).
        """
        names = tuple(dict.fromkeys(names_of(by) or ()))
        if not set(names) <= {*_BY, _CLIMATE}:
            raise UsageError(
                f"cannot group by {by!r}", expected="file_system, motif, climate, several or None"
            )
        groups: Any = tuple(name for name in names if name != _CLIMATE)
        edges = [at for at in map(instant, boundaries) if at is not None]
        regions = regions_of(self.data, edges) if edges or _CLIMATE in names else None
        asked = (names_of(metrics), groups, names_of(control) or ())
        return Correlations(correlate(self.data, y, *asked, regions=regions))

    @in_python
    def climate(
        self,
        *,
        file_system: str | None = None,
        motif: str | None = None,
        since: Instant = None,
        until: Instant = None,
        validate: bool = False,
    ) -> ClimateResult:
        """Lasting changes: date, size, file systems and motifs, and series without change (docs/climate.md).

        ``validate``: also what a prediction of performance would be worth, as ``.validations``.
        Raises UsageError (no performance; no such file system or motif), NothingMeasuredError (no run).
        """
        found = climate(self.data, file_system, motif, span(since, until), validate=validate)
        return ClimateResult(found)

    def _explained(self, jobs: object, history: History, last: int | None) -> ExplainedRuns:
        """Explanations of several jobs; those without a known performance are noted."""
        given = jobs.data.job_id.tolist() if isinstance(jobs, Jobs) else _several(jobs)
        found, unknown = [], []
        for name in dict.fromkeys(map(str, given)):
            try:
                known = self._known(name)
                if not (self.data.job_id == known).any():
                    unknown.append(f"there is no job {name!r}")
                    continue
                found.append(answers.explain_runs(self._judged, known, history=history, last=last))
            except (UsageError, NothingMeasuredError) as error:
                unknown.append(str(error))
        if not found:
            first = unknown[0] if unknown else "no job was named"
            raise NothingMeasuredError(f"nothing to explain: {first}")
        return ExplainedRuns(found, unknown)

    def _tasks(self, job: str, last: int | None, history: History) -> TasksResult | None:
        """The answer about an array or a heterogeneous job of the store; None: it is none."""
        found = None if self._root is None else stored.meant(self._root, job)
        if self._root is None or found is None or not found.whole:
            return None
        asked: Any = {"history": _history(history), "last": last}
        return TasksResult(answers.explain_tasks(self._root, found, now_ns(), zone=UTC, **asked))

    def _scheduled(self, job: str, step: str | None) -> ScheduledResult | None:
        """The answer about a job without performance; None: it has one, or there is no store or record."""
        records = [] if self._root is None else stored.records_of(self._root, job)
        if self._root is None or stored.has_performance(records):
            return None
        found = stored.scheduled_job(self._root, records, now_ns(), step, zone=UTC)
        return None if found is None else ScheduledResult(found)

    @cached_property
    def _judged(self) -> JobTable:
        return judged(self.data)

    def _known(self, job: object) -> str:
        """The job's id as text; raises if the store knows the job but not its speed."""
        if self._root is not None:
            job_tables.must_have(self._root, self.data, str(job))
        return job_tables.known_id(self.data, str(job))

    def _shown(self) -> Columns:
        """Columns with known values: identity and time; the performance, metrics of the diagram, then others."""
        columns = self.columns
        known = [name for name in _FIRST_SHOWN if not _nothing(columns[name])]
        metrics = [
            *_PERFORMANCE,
            *(name for names in STANDARD for name in names),
            *self.data.metrics,
        ]
        some = [name for name in dict.fromkeys((*known, *metrics)) if name in columns]
        return {name: columns[name] for name in some[:_MOST_SHOWN]}


def _nothing(column: NDArray[Any]) -> bool:
    """True if all values are missing."""
    return bool(np.isnat(column).all()) if column.dtype.kind == "M" else not any(column.tolist())


def _several(jobs: object) -> list[object]:
    """Ids of several jobs. Raises UsageError: no ids."""
    if not isinstance(jobs, Iterable):
        raise UsageError(f"{jobs!r} is no job", expected="an id, or several")
    return list(jobs)


def _step(step: str | int | None) -> str | None:
    """Step argument of ``find_run``: a number is that of the job's run."""
    return f"#{step}" if isinstance(step, int) else step


def _history(word: str) -> History:
    if word not in ("earlier", "all"):
        raise UsageError(f"there is no history {word!r}", expected="earlier or all")
    return "all" if word == "all" else "earlier"


def of_store(root: Path, peak: Peak, *, scheduled: bool = False) -> Jobs:
    """The jobs of a store and iosonde's own runs. Raises NothingMeasuredError: it holds none."""
    return Jobs(job_tables.store_jobs(root, peak, scheduled=scheduled).table, root=root)
