"""``/api/load``: names, totals and the sentence; ``/api/load/cells``: the matrix; ``/api/load/jobs``: who ran."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from fastapi import Query, Request
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.jobs.load.at import JobLoads, jobs_at
from iosonde.jobs.load.history import COLUMNS
from iosonde.jobs.load.sheet import load_sheet
from iosonde.jobs.load.view import Asked, ColumnLoad, LoadView, TotalBand, load_view
from iosonde.jobs.load.words import NOUNS, say
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.model.json_types import as_json
from iosonde.model.units import iso_time
from iosonde.serve import wire
from iosonde.serve.answers import JsonBody, attachment, compressed_answer, json_answer, json_body
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.load.histories import Histories, LoadVersion
from iosonde.serve.load.query import LoadJobsQuery, LoadQuery, LoadTableQuery, asked
from iosonde.serve.params import RefusalError, refuse_backwards

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.serve.shared import Shared

_KEPT = 8
"""Views that are kept: the numbers and the arrays of one are asked for one after the other."""
_NONE = {"n": 0, "sentence": "There are no operations of nodes beside jobs yet."}


class _Shown(NamedTuple):
    version: LoadVersion
    view: LoadView


class LoadRoutes:
    """Answers the routes of loads.

    ``shared`` has a thread for them alone, ``drawings`` that of pictures; ``hashed``: aliases stand for names.
    """

    def __init__(
        self, histories: Histories, shared: Shared, drawings: Shared, *, hashed: bool
    ) -> None:
        self._histories = histories
        self._shared = shared
        self._drawings = drawings
        self._hashed = hashed
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, Asked], LoadView] = OrderedDict()

    async def table(self, request: Request, query: Annotated[LoadTableQuery, Query()]) -> Response:
        """Who did how many operations in a range: columns, totals, a band of totals, the sentence."""
        view = asked(query)
        if query.format != "json":
            body = await self._file(view, query)
            return attachment(body, query.format, ("load", query.by))
        answer = await self._shared.answer(("json", view), lambda: self._json(view))
        return json_answer(request, answer)

    async def cells(self, request: Request, query: Annotated[LoadQuery, Query()]) -> Response:
        """The same as little-endian 32-bit floats: means and maxima of the total and of each column, by cell.

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
        """The view of the newest history; None: there is none. Raises StoreError."""
        try:
            version = self._histories.newest()
        except (NothingMeasuredError, MissingPartError):
            return None
        key = version.number, view
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = load_view(version.history, view)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return _Shown(version, found)

    def _json(self, view: Asked) -> JsonBody:
        found = self.shown(view)
        return json_body(wire.dumps(_NONE if found is None else load_data(found, self._hashed)))

    def _cells(self, view: Asked) -> JsonBody:
        found = self.shown(view)
        return json_body(b"" if found is None else cell_bytes(found.view))

    async def _file(self, view: Asked, query: LoadTableQuery) -> bytes:
        if query.format == "csv":
            return await self._shared.answer(
                ("csv", view, query.zone), lambda: self._csv(view, query.zone)
            )
        found = await self._shared.answer(("shown", view), lambda: self.shown(view))
        if found is None or not found.view.axis.cells:
            what = "there is no load to draw"
            raise RefusalError(what, expected="a range with recorded operations", status=404)
        sheet = load_sheet(found.view)
        return await self._drawings.answer(("load", query), lambda: sheet_file(sheet, query))

    def _csv(self, view: Asked, zone: tzinfo | None) -> bytes:
        found = self.shown(view)
        return csv_text([] if found is None else cell_records(found.view, zone), _CSV).encode()

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


_CSV = ("begin", "end", "begin_ns", "end_ns", "name", "mean_per_s", "most_per_s")


def load_data(shown: _Shown, hashed: bool) -> dict[str, Any]:
    """What ``/api/load`` says, names and numbers of ``cells`` apart."""
    view, grid = shown.view, shown.version.history.grid
    return {
        "n": view.columns,
        "version": shown.version.number,
        "by": view.asked.column,
        "noun": NOUNS[view.asked.column][0],
        "nouns": NOUNS[view.asked.column][1],
        "hashed": hashed,
        "sentence": say(view),
        "recorded": {"begin_ns": grid.begin_ns, "end_ns": grid.end_ns, "step_ns": grid.step_ns},
        "begin_ns": view.axis.begin_ns,
        "step_ns": view.axis.step_ns,
        "cells": view.axis.cells,
        "ops": round(view.ops),
        "most_per_s": float(view.total.most.max(initial=0.0)),
        "half": view.half,
        "columns": [
            _part(part) | {"most_per_s": float(view.of.most[place].max(initial=0.0))}
            for place, part in enumerate(view.parts)
        ],
        "totals": {
            "edges_per_s": [float(f"{edge:.4g}") for edge in view.rates.edges_per_s.tolist()],
            "seconds": view.rates.seconds.tolist(),
        },
        "band": None if view.band is None else _band(view.band),
        "left_out": [str(one) for one in shown.version.history.left_out],
    }


def _part(part: ColumnLoad) -> dict[str, Any]:
    return {"name": part.name, "ops": round(part.ops), "share": part.share}


def _band(band: TotalBand) -> dict[str, Any]:
    return {
        "low_per_s": band.low,
        "high_per_s": band.high,
        "seconds": band.seconds,
        "share_of_time": band.share_of_time,
        "ops": round(band.ops),
        "half": band.half,
        "ranked": [_part(part) for part in band.ranked],
    }


def cell_bytes(view: LoadView) -> bytes:
    """The arrays, one after the other."""
    pairs = (view.total, view.of)
    rows = [
        row
        for dense in pairs
        for at in range(len(dense.ops))
        for row in (dense.ops[at], dense.most[at])
    ]
    return np.concatenate([*rows, view.covered, view.inside]).astype("<f4").tobytes()


def cell_records(view: LoadView, zone: tzinfo | None) -> list[dict[str, Any]]:
    """A record a cell and column that did something, the total first; ``zone``: of its times (None: the machine's)."""
    edges = (view.axis.begin_ns + view.axis.step_ns * np.arange(view.axis.cells + 1)).tolist()
    times = [iso_time(edge, zone) for edge in edges]
    found = []
    for name, means, most in (
        ("(all nodes)", view.total.ops[0], view.total.most[0]),
        *((part.name, view.of.ops[row], view.of.most[row]) for row, part in enumerate(view.parts)),
    ):
        for cell in np.flatnonzero(most > 0).tolist():
            spans = (*times[cell : cell + 2], *edges[cell : cell + 2])
            values = (f"{means[cell]:.6g}", f"{most[cell]:.6g}")
            found.append(dict(zip(_CSV, (*spans, name, *values), strict=True)))
    return found
