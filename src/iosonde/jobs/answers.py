"""All that is answered about one run: why it was slow, what is said of it, and the diagram beside that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.jobs.explain.explain import Explanation, explain
from iosonde.jobs.explain.words import Verdict, judge
from iosonde.jobs.umami.diagram import History, Umami, standard_rows, umami

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.jobs import JobTable


class JobAnswer(NamedTuple):
    """An explanation, its verdict, and the job's history metric by metric."""

    explanation: Explanation
    verdict: Verdict
    umami: Umami


def explain_job(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    history: History = "earlier",
    last: int | None = None,
    metrics: Sequence[str] = (),
) -> JobAnswer:
    """Why a run was slow, of a table whose metrics are ``judged``.

    ``metrics``: rows of the diagram; none: the performance, what is told of, and the usual ones that are known.
    Raises UsageError: no such job, run or metric.
    """
    found = explain(table, job_id, step, history=history, last=last)
    verdict = judge(found)
    rows = metrics or [name for name in _rows(found, verdict, table) if name in table.metrics]
    diagram = umami(table, job_id, step, metrics=rows, history=history, last=last)
    return JobAnswer(found, verdict, diagram)


def _rows(found: Explanation, verdict: Verdict, table: JobTable) -> list[str]:
    told = (one.metric for one in verdict.told)
    return list(dict.fromkeys((found.measure, *told, *standard_rows(table))))
