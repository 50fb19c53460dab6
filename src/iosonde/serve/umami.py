"""``/api/umami``: the diagram of a job, as numbers and words, as a picture, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.jobs.answers import JobAnswer, explain_job
from iosonde.jobs.umami.answers import MOST_ROWS, MOST_RUNS, DiagramAnswer, History, Shown
from iosonde.model import parameters
from iosonde.serve import wire
from iosonde.serve.answers import JsonBody, attachment, json_answer, json_body
from iosonde.serve.errors import page
from iosonde.serve.job_table import JobTables, refused
from iosonde.serve.params import DIGITS, Text
from iosonde.serve.pictures import Inches, PictureParameters

if TYPE_CHECKING:
    from iosonde.serve.shared import Shared


class UmamiQuery(PictureParameters):
    """Parameters of ``/api/umami``."""

    job: Text = Field(min_length=1, description=parameters.JOB)
    run: Text = Field("", description=parameters.RUN_OF_JOB)
    history: History = Field("earlier", description="runs beside it: the earlier ones, or all")
    last: Annotated[int, Field(ge=1, le=10_000), DIGITS] | None = Field(
        None, description=parameters.HISTORY_LAST
    )
    metrics: tuple[str, ...] = Field(
        (), alias="metric", max_length=60, description=parameters.UMAMI_METRIC
    )
    runs: Annotated[int, Field(ge=0, le=10_000), DIGITS] = Field(
        MOST_RUNS, description=f"{parameters.UMAMI_RUNS} (0: all)"
    )
    rows: Annotated[int, Field(ge=0, le=1000), DIGITS] = Field(
        MOST_ROWS, description=f"{parameters.UMAMI_ROWS} (0: all)"
    )
    width: Inches = 8.0

    @property
    def shown(self) -> Shown:
        """Part of the diagram drawn; requested rows are all drawn."""
        return Shown(self.runs or None, None if self.metrics else self.rows or None)


class Diagrams:
    """Handler of ``/api/umami``. ``drawings`` has the single drawing thread."""

    def __init__(self, jobs: JobTables, shared: Shared, drawings: Shared) -> None:
        self._jobs = jobs
        self._shared = shared
        self._drawings = drawings

    async def answer(self, request: Request, query: Annotated[UmamiQuery, Query()]) -> Response:
        """The diagram of a job: drawing data, in numbers and words; a table; a picture."""
        if query.format == "json":
            return json_answer(
                request, await self._shared.answer(("json", query), lambda: self._json(query))
            )
        found = await self._shared.answer(query, lambda: self.explained(query))
        if query.format == "csv":
            body = umami_csv(found.diagram)
        else:
            body = await self._drawings.answer(query, lambda: _picture(found, query))
        return attachment(body, query.format, ("umami", query.job, query.run))

    def explained(self, asked: UmamiQuery) -> JobAnswer:
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

    def _json(self, asked: UmamiQuery) -> JsonBody:
        return json_body(wire.dumps(umami_data(self.explained(asked), asked.shown)))


def umami_data(found: JobAnswer, shown: Shown) -> dict[str, Any]:
    """What ``iosonde explain --format json`` says, with what is drawn."""
    figure = found.diagram._replace(most=shown).picture().plain()
    return {**found.explained(page), "figure": figure}


def umami_csv(found: DiagramAnswer) -> bytes:
    """A line a metric, as ``iosonde explain --diagram --format csv`` has it."""
    names, rows = found.table()
    return csv_text(rows, names).encode()


def _picture(found: JobAnswer, query: UmamiQuery) -> bytes:
    from iosonde.drawing.canvas import encoded

    diagram = found.diagram._replace(most=query.shown, sentence=found.sentence)
    drawn = diagram.picture().drawn(width_in=query.width, dark=query.dark, zone=query.zone)
    return encoded(drawn, query.format, query.scale)
