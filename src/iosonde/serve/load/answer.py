"""``/api/load``: names, totals and the sentence; ``/api/load/cells``: the matrix; ``/api/load/jobs``: jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fastapi import Query, Request
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.engine.kept import Kept
from iosonde.jobs.load.answers import COLUMNS, CSV, Asked, JobLoads, LoadAnswer, jobs_at, load
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.model.json_types import as_json
from iosonde.serve import wire
from iosonde.serve.answers import JsonBody, attachment, compressed_answer, json_answer, json_body
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.load.histories import Histories
from iosonde.serve.load.query import LoadJobsQuery, LoadQuery, LoadTableQuery, asked
from iosonde.serve.params import RefusalError, refuse_backwards

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.serve.shared import Shared

_KEPT = 8
"""Most cached views: numbers and arrays of a view are requested one after the other."""
_NONE = {"n": 0, "sentence": "There are no operations of nodes beside jobs yet."}


class _Shown(NamedTuple):
    number: int
    load: LoadAnswer


class LoadRoutes:
    """Handlers of the routes of loads.

    ``shared`` has a thread for them alone, ``drawings`` that of pictures; ``hashed``: aliases stand for names.
    """

    def __init__(
        self, histories: Histories, shared: Shared, drawings: Shared, *, hashed: bool
    ) -> None:
        self._histories = histories
        self._shared = shared
        self._drawings = drawings
        self._hashed = hashed
        self._kept: Kept[Asked, LoadAnswer] = Kept(_KEPT)

    async def table(self, request: Request, query: Annotated[LoadTableQuery, Query()]) -> Response:
        """Operations of each contributor in a range: columns, totals, a band of totals, the sentence."""
        view = asked(query)
        if query.format != "json":
            body = await self._file(view, query)
            return attachment(body, query.format, ("load", query.by))
        answer = await self._shared.answer(("json", view), lambda: self._json(view))
        return json_answer(request, answer)

    async def cells(self, request: Request, query: Annotated[LoadQuery, Query()]) -> Response:
        """Little-endian 32-bit floats: means and maxima of the total and of each column, by cell.

        Arrays of as many values as /api/load has `cells`: the total's mean and largest rate, then those of each column,
        in operations per second; then the part of each cell that has records, and the part that lies in the band.
        """
        view = asked(query)
        answer = await self._shared.answer(("cells", view), lambda: self._cells(view))
        return compressed_answer(request, answer, "bin")

    async def jobs(self, request: Request, query: Annotated[LoadJobsQuery, Query()]) -> Response:
        """Jobs of a column in a short range, the largest first."""
        refuse_backwards(query.since_ns, query.until_ns)
        answer = await self._shared.answer(query, lambda: self._jobs(query))
        return json_answer(request, answer)

    def shown(self, view: Asked) -> _Shown | None:
        """View of the newest history; None without any. Raises StoreError."""
        try:
            version = self._histories.newest()
        except (NothingMeasuredError, MissingPartError):
            return None
        found = self._kept.get(view, lambda _: load(version.history, view), version.number)
        return _Shown(version.number, found)

    def _json(self, view: Asked) -> JsonBody:
        found = self.shown(view)
        if found is None:
            return json_body(wire.dumps(_NONE))
        about = {"version": found.number, "hashed": self._hashed}
        return json_body(wire.dumps(found.load.data() | about))

    def _cells(self, view: Asked) -> JsonBody:
        found = self.shown(view)
        return json_body(b"" if found is None else found.load.cells())

    async def _file(self, view: Asked, query: LoadTableQuery) -> bytes:
        if query.format == "csv":
            return await self._shared.answer(
                ("csv", view, query.zone), lambda: self._csv(view, query.zone)
            )
        found = await self._shared.answer(("shown", view), lambda: self.shown(view))
        sheet = None if found is None else found.load.picture()
        if sheet is None:
            what = "there is no load to draw"
            raise RefusalError(what, expected="a range with recorded operations", status=404)
        return await self._drawings.answer(("load", query), lambda: sheet_file(sheet, query))

    def _csv(self, view: Asked, zone: tzinfo | None) -> bytes:
        found = self.shown(view)
        if found is None:
            return csv_text([], CSV).encode()
        names, rows = found.load.table(zone)
        return csv_text(rows, names).encode()

    def _jobs(self, query: LoadJobsQuery) -> JsonBody:
        try:
            history = self._histories.newest().history
        except (NothingMeasuredError, MissingPartError):
            return json_body(wire.dumps(as_json(JobLoads(0, ()))))
        column = next(one for one in COLUMNS if one == query.by)
        span = query.since_ns, query.until_ns
        found = jobs_at(history, column, query.name, span, query.offset + query.limit)
        part = replace(found, jobs=tuple(query.part(found.jobs)))
        return json_body(wire.dumps(as_json(part)))
