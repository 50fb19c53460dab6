"""``/api/umami``: the diagram of a job, as numbers and words, as a picture, as a table.

::

    job=ID  run=AS LISTED  history=earlier|all  last=N  metric= (may be repeated)
    format=json|csv|svg|png|pdf      theme= width= scale= zone= as in ``pictures``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from iosonde.jobs.answers import JobAnswer, explain_job
from iosonde.jobs.explain.data import explanation_data
from iosonde.jobs.umami.diagram import History, Umami
from iosonde.jobs.umami.figure import to_json, umami_figure
from iosonde.jobs.umami.records import flat_records
from iosonde.serve import params, pictures, wire
from iosonde.serve.advice import page
from iosonde.serve.answers import Answer, attachment, csv_bytes, json_answer, packed
from iosonde.serve.job_table import JobTables, refused
from iosonde.serve.params import RefusalError
from iosonde.serve.pictures import Wanted

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from iosonde.serve.shared import Shared

_MOST_METRICS = 60
_NAMES = ("job", "run", "history", "last", "metric", *pictures.NAMES)
_WIDTH_IN = 8.0


class UmamiRequest(NamedTuple):
    """Which diagram is asked for; ``run`` "": the job has but one."""

    job: str
    run: str
    history: History
    last: int | None
    metrics: tuple[str, ...]


class Diagrams:
    """Answers ``/api/umami``. ``drawings`` has the single thread on which pictures are drawn."""

    def __init__(self, jobs: JobTables, shared: Shared, drawings: Shared) -> None:
        self._jobs = jobs
        self._shared = shared
        self._drawings = drawings

    async def answer(self, request: Request) -> Response:
        """The route's handler."""
        query = request.query_params
        asked, how = umami_request(query), pictures.wanted(query, pictures.FORMS, _WIDTH_IN)
        if how.form == "json":
            return json_answer(
                request, await self._shared.answer(("umami", asked), lambda: self._json(asked))
            )
        found = (
            await self._shared.answer(("explained", asked), lambda: self.explained(asked))
        ).umami
        if how.form == "csv":
            body = umami_csv(found)
        else:
            key = ("umami", asked, how)
            body = await self._drawings.answer(key, lambda: _picture(found, how))
        return attachment(body, how.form, ("umami", asked.job, asked.run))

    def explained(self, asked: UmamiRequest) -> JobAnswer:
        """The diagram. Raises RefusalError: no such job, run or metric; no jobs."""
        with refused():
            return explain_job(
                self._jobs.newest().judged,
                asked.job,
                asked.run or None,
                history=asked.history,
                last=asked.last,
                metrics=asked.metrics,
            )

    def _json(self, asked: UmamiRequest) -> Answer:
        return packed(wire.dumps(umami_data(self.explained(asked))))


def umami_data(found: JobAnswer) -> dict[str, Any]:
    """What ``iosonde explain --format json`` says, with what is drawn."""
    return {
        **explanation_data(found.explanation, found.verdict, page),
        "figure": to_json(umami_figure(found.umami)),
    }


def umami_csv(found: Umami) -> bytes:
    """A line a metric, as ``iosonde umami --format csv`` has it."""
    names, rows = flat_records(found)
    return csv_bytes(rows, names)


def _picture(found: Umami, how: Wanted) -> bytes:
    from iosonde.drawing.canvas import encoded
    from iosonde.jobs.umami.render import draw_umami

    figure = umami_figure(found)
    canvas = draw_umami(figure, width_in=how.width_in, dark=how.dark, zone=how.zone)
    return encoded(canvas, how.form, how.scale)


def umami_request(query: QueryParams) -> UmamiRequest:
    """The checked parameters of ``/api/umami``. Raises RefusalError."""
    params.known(query, _NAMES)
    chosen: History = "all" if query.get("history") == "all" else "earlier"
    params.choice(query, "history", ("earlier", "all"), chosen)
    job = params.text(query, "job")
    if not job:
        raise RefusalError("the parameter job is missing", expected="a job as /api/jobs lists it")
    metrics = tuple(query.getlist("metric"))
    if len(metrics) > _MOST_METRICS:
        raise RefusalError(f"{len(metrics)} metrics are too many", expected=f"{_MOST_METRICS}")
    last = params.count(query, "last", 10_000)
    return UmamiRequest(job, params.text(query, "run"), chosen, last, metrics)
