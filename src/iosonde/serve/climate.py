"""``/api/climate``: what changed for good, when, and together with what, of all jobs or of some.

::

    file_system=  motif=  since_ns=  until_ns=          as ``iosonde climate`` has them
    format=json|csv|svg|png|pdf      theme= width= scale= as in ``pictures``; dates are UTC

A year of jobs takes seconds, on a thread of its own: whoever looks at the weather does not wait for it. It is
computed once for each version of the table of jobs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import fields
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from iosonde.jobs.answers import ClimateRuns, climate_runs
from iosonde.jobs.climate.climate import Climate
from iosonde.jobs.climate.data import change_data, climate_data
from iosonde.jobs.climate.figure import climate_figure, to_json
from iosonde.jobs.climate.series import Change
from iosonde.jobs.climate.words import say_largest
from iosonde.model.errors import NothingMeasuredError
from iosonde.serve import params, pictures, wire
from iosonde.serve.answers import Answer, attachment, csv_bytes, json_answer, packed
from iosonde.serve.job_table import JobTables, Version, refused
from iosonde.serve.params import RefusalError
from iosonde.serve.pictures import Wanted

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from iosonde.serve.shared import Shared

_KEPT = 8
"""Climates that are kept."""
_WIDTH_IN = 12.0
_NAMES = ("file_system", "motif", "since_ns", "until_ns", *pictures.NAMES)
_CSV = (*(field.name for field in fields(Change) if field.name != "own"), "ratio", "sentence")


class ClimateRequest(NamedTuple):
    """Of which jobs; None: of all."""

    file_system: str | None
    motif: str | None
    since_ns: int | None
    until_ns: int | None


class Climates:
    """Answers ``/api/climate``.

    ``slow`` has a thread for it alone, ``drawings`` the one on which pictures are drawn.
    """

    def __init__(self, jobs: JobTables, slow: Shared, drawings: Shared) -> None:
        self._jobs = jobs
        self._slow = slow
        self._drawings = drawings
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, ClimateRequest], ClimateRuns] = OrderedDict()

    async def answer(self, request: Request) -> Response:
        """The route's handler."""
        query = request.query_params
        asked, how = climate_request(query), pictures.wanted(query, pictures.FORMS, _WIDTH_IN)
        if how.form == "json":
            return json_answer(
                request, await self._slow.answer(("climate", asked), lambda: self._json(asked))
            )
        found = await self._slow.answer(("found", asked), lambda: self.found(asked))
        if how.form == "csv":
            body = climate_csv(found.climate)
        else:
            key = ("climate", asked, how)
            body = await self._drawings.answer(key, lambda: _picture(found.climate, how))
        return attachment(body, how.form, ("climate", *(name for name in asked[:2] if name)))

    def found(self, asked: ClimateRequest) -> ClimateRuns:
        """Computed once a version of the jobs. Raises RefusalError: nothing of that kind; no jobs."""
        with refused():
            version = self._jobs.newest()
            key = (version.number, asked)
            with self._lock:
                found = self._kept.get(key) or _found(version, asked)
                self._kept[key] = found
                self._kept.move_to_end(key)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return found

    def _json(self, asked: ClimateRequest) -> Answer:
        try:
            self._jobs.newest()
        except NothingMeasuredError:
            return packed(wire.dumps({"n": 0}))
        return packed(wire.dumps(page_data(self.found(asked))))


def _found(version: Version, asked: ClimateRequest) -> ClimateRuns:
    span = asked.since_ns, asked.until_ns
    return climate_runs(version.table, asked.file_system, asked.motif, span)


def page_data(found: ClimateRuns) -> dict[str, Any]:
    """What ``iosonde climate --format json`` says, with what is drawn, and which run each dot is."""
    return {
        "n": found.n,
        "file_systems": found.file_systems,
        "motifs": found.motifs,
        **climate_data(found.climate),
        "figure": to_json(climate_figure(found.climate)),
        "runs": found.runs,
    }


def climate_csv(found: Climate) -> bytes:
    """A line a change, as ``iosonde climate --format csv`` has it."""
    return csv_bytes([change_data(one) for one in found.changes], _CSV)


def _picture(found: Climate, how: Wanted) -> bytes:
    from iosonde.drawing.canvas import encoded
    from iosonde.jobs.climate.render import draw_climate

    figure = climate_figure(found, say_largest(found))
    canvas = draw_climate(figure, width_in=how.width_in, dark=how.dark, zone=UTC)
    return encoded(canvas, how.form, how.scale)


def climate_request(query: QueryParams) -> ClimateRequest:
    """The checked parameters of ``/api/climate``. Raises RefusalError."""
    params.known(query, _NAMES)
    place, motif = (
        params.text(query, name) if name in query else None for name in ("file_system", "motif")
    )
    since, until = (
        params.integer(name, query[name]) if name in query else None
        for name in ("since_ns", "until_ns")
    )
    if since is not None and until is not None and since >= until:
        raise RefusalError(
            f"since_ns {since} is not before until_ns {until}", expected="an instant before the end"
        )
    return ClimateRequest(place, motif, since, until)
