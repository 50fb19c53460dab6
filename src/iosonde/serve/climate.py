"""``/api/climate``: what changed for good, when, and together with what, of all jobs or of some.

A year of jobs takes seconds, on a thread of its own: whoever looks at the weather does not wait for it. It is
computed once for each version of the table of jobs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import fields, replace
from datetime import UTC
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.jobs.climate.climate import SMALLEST_SERIES, Climate, climate, picked
from iosonde.jobs.climate.data import change_data, climate_data
from iosonde.jobs.climate.figure import climate_figure, to_json
from iosonde.jobs.climate.series import Change
from iosonde.jobs.climate.words import say_event
from iosonde.jobs.table.runs import run_names
from iosonde.model import parameters
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.jobs import JobTable
from iosonde.serve import params, wire
from iosonde.serve.answers import JsonBody, attachment, json_answer, json_body
from iosonde.serve.job_table import JobTables, Version, refused
from iosonde.serve.params import Text
from iosonde.serve.pictures import Inches, PictureParameters

if TYPE_CHECKING:
    from iosonde.serve.shared import Shared

_KEPT = 8
"""Climates that are kept."""
_MOST_TOLD = 5
"""Events that the caption of a picture tells, those of most series."""
_CSV = (*(field.name for field in fields(Change) if field.name != "own"), "ratio", "sentence")


class ClimateQuery(PictureParameters):
    """What ``/api/climate`` is asked. Dates of a picture are UTC, whatever the zone."""

    file_system: Text | None = Field(None, description=parameters.ONE_FILE_SYSTEM)
    motif: Text | None = Field(None, description=parameters.ONE_MOTIF)
    since_ns: params.Since = None
    until_ns: params.Until = None
    width: Inches = 12.0


class ClimateRequest(NamedTuple):
    """Of which jobs; None: of all."""

    file_system: str | None
    motif: str | None
    since_ns: int | None
    until_ns: int | None


class ClimateAnswer(NamedTuple):
    """A climate. ``runs``: of each series (job, run) of every run, as they can be asked for; ``n``: all jobs."""

    climate: Climate
    runs: list[list[tuple[str, str]]]
    n: int
    file_systems: list[str]
    motifs: list[str]


class ClimateRoute:
    """Answers ``/api/climate``.

    ``slow`` has a thread for it alone, ``drawings`` the one on which pictures are drawn.
    """

    def __init__(self, jobs: JobTables, slow: Shared, drawings: Shared) -> None:
        self._jobs = jobs
        self._slow = slow
        self._drawings = drawings
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, ClimateRequest], ClimateAnswer] = OrderedDict()

    async def answer(self, request: Request, query: Annotated[ClimateQuery, Query()]) -> Response:
        """What changed for good over months of jobs: numbers and words; a table; a picture."""
        asked = ClimateRequest(query.file_system, query.motif, query.since_ns, query.until_ns)
        if asked.since_ns is not None and asked.until_ns is not None:
            params.refuse_backwards(asked.since_ns, asked.until_ns)
        if query.format == "json":
            return json_answer(
                request, await self._slow.answer(("climate", asked), lambda: self._json(asked))
            )
        found = await self._slow.answer(("found", asked), lambda: self.found(asked))
        if query.format == "csv":
            body = climate_csv(found.climate)
        else:
            key = ("climate", query)
            body = await self._drawings.answer(key, lambda: _picture(found.climate, query))
        return attachment(body, query.format, ("climate", *(name for name in asked[:2] if name)))

    def found(self, asked: ClimateRequest) -> ClimateAnswer:
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

    def _json(self, asked: ClimateRequest) -> JsonBody:
        try:
            self._jobs.newest()
        except NothingMeasuredError:
            return json_body(wire.dumps({"n": 0}))
        return json_body(wire.dumps(page_data(self.found(asked))))


def _found(version: Version, asked: ClimateRequest) -> ClimateAnswer:
    """Everything about the jobs asked for; each knows under which name it can be asked for itself."""
    table = version.table
    named = replace(table, step=np.array(run_names(table), dtype=object))
    some = picked(named, *asked)
    made = climate(table, **asked._asdict())
    strata = some.strata()
    runs = [
        list(zip(some.job_id[rows].tolist(), some.step[rows].tolist(), strict=True))
        for rows in (strata[one.file_system, one.motif] for one in made.series)
    ]
    return ClimateAnswer(made, runs, len(table), *_choices(table))


def _choices(table: JobTable) -> tuple[list[str], list[str]]:
    """File systems and motifs that have a series in which something can be found."""
    usable = picked(table, None, None, None, None)
    keys = [key for key, rows in usable.strata().items() if len(rows) >= SMALLEST_SERIES]
    return sorted({place for place, _ in keys}), sorted({motif for _, motif in keys})


def page_data(found: ClimateAnswer) -> dict[str, Any]:
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
    return csv_text([change_data(one) for one in found.changes], _CSV).encode()


def _picture(found: Climate, query: ClimateQuery) -> bytes:
    from iosonde.drawing.canvas import encoded
    from iosonde.jobs.climate.render import draw_climate

    large = sorted(found.events, key=lambda event: -len(event.changes))[:_MOST_TOLD]
    told = [say_event(event) for event in sorted(large, key=lambda event: event.at_ns)]
    figure = climate_figure(found, told)
    canvas = draw_climate(figure, width_in=query.width, dark=query.dark, zone=UTC)
    return encoded(canvas, query.format, query.scale)
