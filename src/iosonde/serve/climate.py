"""``/api/climate``: lasting changes with dates and simultaneous changes, of all jobs or of some.

A year of jobs takes seconds, on a thread of its own: whoever looks at the weather does not wait for it. It is
computed once for each version of the table of jobs.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.engine.kept import Kept
from iosonde.jobs.climate.answers import ClimateAnswer, ClimateRuns, climate_runs
from iosonde.model import parameters
from iosonde.model.errors import NothingMeasuredError
from iosonde.serve import params, wire
from iosonde.serve.answers import JsonBody, attachment, json_answer, json_body
from iosonde.serve.job_table import JobTables, Version, refused
from iosonde.serve.params import Text
from iosonde.serve.pictures import Inches, PictureParameters

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.serve.shared import Shared

_KEPT = 8
"""Most cached climates."""


class ClimateQuery(PictureParameters):
    """Parameters of ``/api/climate``. Dates of a picture are UTC; those of a table by default."""

    file_system: Text | None = Field(None, description=parameters.ONE_FILE_SYSTEM)
    motif: Text | None = Field(None, description=parameters.ONE_MOTIF)
    since_ns: params.Since = None
    until_ns: params.Until = None
    width: Inches = 12.0


class ClimateRequest(NamedTuple):
    """Filter of jobs; None: all."""

    file_system: str | None
    motif: str | None
    since_ns: int | None
    until_ns: int | None


class ClimateRoute:
    """Answers ``/api/climate``.

    ``slow`` has a thread for it alone, ``drawings`` the one on which pictures are drawn.
    """

    def __init__(self, jobs: JobTables, slow: Shared, drawings: Shared) -> None:
        self._jobs = jobs
        self._slow = slow
        self._drawings = drawings
        self._kept: Kept[ClimateRequest, ClimateRuns] = Kept(_KEPT)

    async def answer(self, request: Request, query: Annotated[ClimateQuery, Query()]) -> Response:
        """Lasting changes over months of jobs: numbers and words; a table; a picture."""
        asked = ClimateRequest(query.file_system, query.motif, query.since_ns, query.until_ns)
        if asked.since_ns is not None and asked.until_ns is not None:
            params.refuse_backwards(asked.since_ns, asked.until_ns)
        if query.format == "json":
            return json_answer(
                request, await self._slow.answer(("climate", asked), lambda: self._json(asked))
            )
        found = await self._slow.answer(("found", asked), lambda: self.found(asked))
        if query.format == "csv":
            body = climate_csv(found.climate, query.zone or UTC)
        else:
            key = ("climate", query)
            body = await self._drawings.answer(key, lambda: _picture(found.climate, query))
        return attachment(body, query.format, ("climate", *(name for name in asked[:2] if name)))

    def found(self, asked: ClimateRequest) -> ClimateRuns:
        """Cached climate of the current version of the jobs. Raises RefusalError: nothing of that kind; no jobs."""
        with refused():
            version = self._jobs.newest()
            return self._kept.get(asked, lambda _: _found(version, asked), version.number)

    def _json(self, asked: ClimateRequest) -> JsonBody:
        try:
            self._jobs.newest()
        except NothingMeasuredError:
            return json_body(wire.dumps({"n": 0}))
        return json_body(wire.dumps(page_data(self.found(asked))))


def _found(version: Version, asked: ClimateRequest) -> ClimateRuns:
    span = asked.since_ns, asked.until_ns
    return climate_runs(version.table, asked.file_system, asked.motif, span)


def page_data(found: ClimateRuns) -> dict[str, Any]:
    """Content of ``iosonde climate --format json``, with drawing data, and the run of each dot."""
    return {
        "n": found.n,
        "file_systems": found.file_systems,
        "motifs": found.motifs,
        **found.climate.data(),
        "figure": found.climate.picture(titled=False).plain(),
        "runs": found.runs,
    }


def climate_csv(found: ClimateAnswer, zone: tzinfo) -> bytes:
    """A line a change, as ``iosonde climate --format csv`` has it."""
    names, rows = found.table(zone)
    return csv_text(rows, names).encode()


def _picture(found: ClimateAnswer, query: ClimateQuery) -> bytes:
    from iosonde.drawing.canvas import encoded

    canvas = found.picture().drawn(width_in=query.width, dark=query.dark, zone=UTC)
    return encoded(canvas, query.format, query.scale)
