"""``/api/jobs`` and ``/api/umami``: which jobs there are, and the diagram of one.

::

    /api/jobs    search=WORDS  limit=1..500            newest first; all words, in id, step, motif or file system
    /api/umami   job=ID  run=AS LISTED  history=earlier|all  last=N  metric= (may be repeated)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from iosonde.analysis.culprits import explain
from iosonde.analysis.job_list import found_jobs, listed
from iosonde.analysis.leakage import judged
from iosonde.analysis.umami import History, standard_rows, umami
from iosonde.findings.explanation import judge, shown_rows
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError
from iosonde.model.jobs import JobTable
from iosonde.plots.umami_figure import to_json, umami_figure
from iosonde.serve import params
from iosonde.serve.params import RefusalError

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

KEEP_S = 20.0
"""A table that was read is taken for so long: jobs end now and then, and reading them takes a while."""
_LIMIT, _MOST = 100, 500
_LONGEST = 200
_MOST_METRICS = 60
_LISTED = ("job", "run", "step", "motif", "file_system", "start_ns", "end_ns")


class Which(TypedDict):
    """Which history."""

    last: int | None
    history: History


class JobsRequest(NamedTuple):
    """What ``/api/jobs`` is asked."""

    words: tuple[str, ...]
    limit: int


class UmamiRequest(NamedTuple):
    """What ``/api/umami`` is asked; ``run`` "": the job has but one."""

    job: str
    run: str
    history: History
    last: int | None
    metrics: tuple[str, ...]


class Jobs:
    """The jobs of a table that is read anew every ``KEEP_S``. Safe to use from several threads."""

    def __init__(self, read: Callable[[], JobTable], seconds: Callable[[], float]) -> None:
        self._read = read
        self._seconds = seconds
        self._lock = threading.Lock()
        self._table: JobTable | None = None
        self._read_at = 0.0

    def listed(self, asked: JobsRequest) -> dict[str, Any]:
        """How many jobs there are, how many match, the newest of these. No jobs at all are no error."""
        try:
            table = self._current()
        except (NothingMeasuredError, MissingPartError):
            return {"n": 0, "n_found": 0, "jobs": []}
        rows = found_jobs(table, asked.words)
        return {
            "n": len(table),
            "n_found": len(rows),
            "jobs": [_listed(table, row) for row in rows[: asked.limit].tolist()],
        }

    def diagram(self, asked: UmamiRequest) -> dict[str, Any]:
        """What is drawn, and what is said beside it. Raises RefusalError: no such job, run or metric; no jobs."""
        run = asked.run or None
        which: Which = {"last": asked.last, "history": asked.history}
        try:
            table = self._current()
            explained = explain(table, asked.job, run, **which)
            verdict = judge(explained)
            rows = shown_rows(explained, verdict, standard_rows(table))
            rows = list(asked.metrics) or [name for name in rows if name in table.metrics]
            found = umami(table, asked.job, run, metrics=rows, **which)
        except (UsageError, NothingMeasuredError, MissingPartError) as error:
            expected, hint = error.expected[:500], error.hint
            raise RefusalError(error.what, expected=expected, hint=hint, status=404) from error
        notes = list(explained.notes)
        return {**to_json(umami_figure(found)), **verdict.data(), "notes": notes}

    def _current(self) -> JobTable:
        with self._lock:
            now = self._seconds()
            if self._table is None or not 0 <= now - self._read_at < KEEP_S:
                self._table = judged(self._read())
                self._read_at = now
            return self._table


def _listed(table: JobTable, row: int) -> dict[str, Any]:
    found = listed(table, row)._asdict()
    return {name: found[name] for name in _LISTED}


def jobs_request(query: QueryParams) -> JobsRequest:
    """The checked parameters of ``/api/jobs``. Raises RefusalError."""
    params.known(query, ("search", "limit"))
    words = tuple(_text(query, "search").lower().split())
    return JobsRequest(words, _number(query, "limit", _MOST) or _LIMIT)


def umami_request(query: QueryParams) -> UmamiRequest:
    """The checked parameters of ``/api/umami``. Raises RefusalError."""
    params.known(query, ("job", "run", "history", "last", "metric"))
    history = query.get("history", "earlier")
    if history not in ("earlier", "all"):
        raise RefusalError(f"history is {history[:80]!r}", expected="earlier or all")
    job = _text(query, "job")
    if not job:
        raise RefusalError("the parameter job is missing", expected="a job as /api/jobs lists it")
    metrics = tuple(query.getlist("metric"))
    if len(metrics) > _MOST_METRICS:
        raise RefusalError(f"{len(metrics)} metrics are too many", expected=f"{_MOST_METRICS}")
    chosen: History = "all" if history == "all" else "earlier"
    return UmamiRequest(job, _text(query, "run"), chosen, _number(query, "last", 10_000), metrics)


def _text(query: QueryParams, name: str) -> str:
    text = query.get(name, "")
    if len(text) > _LONGEST:
        raise RefusalError(f"{name} is too long", expected=f"at most {_LONGEST} characters")
    return str(text)


def _number(query: QueryParams, name: str, most: int) -> int | None:
    if name not in query:
        return None
    text = query[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= most):
        raise RefusalError(f"{name} is {text[:80]!r}", expected=f"a number from 1 to {most}")
    return int(text)
