"""``/api/runs``, ``/api/runs/run``, ``/api/runs/compare``: content of ``iosonde runs``, ``report`` and ``compare``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.bench.report.answers import compared_runs, listed_runs, run_page
from iosonde.model.advice import spelled
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError
from iosonde.model.json_types import as_json
from iosonde.serve import params, wire
from iosonde.serve.answers import JsonBody, attachment, json_answer, json_body
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.errors import page
from iosonde.serve.params import PageQuery, Parameters, RefusalError, Text
from iosonde.serve.pictures import PictureParameters

if TYPE_CHECKING:
    from iosonde.bench.report.content import RunPage, Table
    from iosonde.serve.shared import Shared

RUN = "a run's id, as /api/runs has it"
RunId = Annotated[str, Field(min_length=1, max_length=300, description=RUN)]


class RunsQuery(PageQuery):
    """Parameters of ``/api/runs``: the newest run is the first."""

    kind: Text | None = Field(None, description="one benchmark only: metadata, bandwidth, nfs ...")
    target: Annotated[str, Field(max_length=4096)] | None = Field(
        None, description="runs of one target only"
    )
    since_ns: params.Since = None
    until_ns: params.Until = None


class RunQuery(PictureParameters):
    """Parameters of ``/api/runs/run``."""

    run: RunId
    picture: Literal["components", "rates", "density", "timeline"] = Field(
        "density", description="which picture, where a picture is asked for"
    )
    format: Literal["json", "csv", "png", "svg", "pdf"] = Field(
        "json", description="words and numbers, a picture, or the table of what it draws"
    )


class RunCompareQuery(Parameters):
    """Parameters of ``/api/runs/compare``."""

    a: Annotated[RunId, Field(description=f"{RUN}: the reference")]
    b: Annotated[RunId, Field(description=f"{RUN}: the one that is judged")]


class RunRoutes:
    """Handlers of the routes of runs. ``drawings`` has the drawing thread."""

    def __init__(
        self, root: Path, shared: Shared, drawings: Shared, clock: Callable[[], int]
    ) -> None:
        self._root = root
        self._shared = shared
        self._drawings = drawings
        self._clock = clock

    async def listed(self, request: Request, query: Annotated[RunsQuery, Query()]) -> Response:
        """Benchmark runs of the store, the newest first."""
        return json_answer(request, await self._shared.answer(query, lambda: self._listed(query)))

    async def one(self, request: Request, query: Annotated[RunQuery, Query()]) -> Response:
        """A run in words and numbers, or one of its pictures."""
        if query.format == "json":
            answer = await self._shared.answer(query, lambda: self._one(query))
            return json_answer(request, answer)
        body = await self._drawings.answer(query, lambda: self._picture(query))
        return attachment(body, query.format, ("run", query.run, query.picture))

    async def compare(
        self, request: Request, query: Annotated[RunCompareQuery, Query()]
    ) -> Response:
        """Verdict on run B relative to run A: faster, slower, same, or inconclusive."""
        return json_answer(request, await self._shared.answer(query, lambda: self._compare(query)))

    def _listed(self, query: RunsQuery) -> JsonBody:
        every = listed_runs(self._root, query.target, query.since_ns, query.until_ns)
        found = [one for one in every if query.kind in (None, one.kind)]
        return json_body(
            wire.dumps(
                {
                    "n": len(every),
                    "total": len(found),
                    "kinds": sorted({one.kind for one in every}),
                    "targets": sorted({one.target for one in every}),
                    "runs": as_json(query.part(found)),
                }
            )
        )

    def _page(self, query: RunQuery) -> RunPage:
        with _refused():
            return run_page(self._root, query.run, None, query.zone, lambda _: None)

    def _one(self, query: RunQuery) -> JsonBody:
        return json_body(wire.dumps(page_data(self._page(query))))

    def _picture(self, query: RunQuery) -> bytes:
        pictures = {one.name: one.sheet for one in self._page(query).pictures}
        if query.picture not in pictures:
            raise RefusalError(
                f"run {query.run[:100]!r} has no picture {query.picture!r}",
                expected=", ".join(pictures) or "a run with samples or transfers in the store",
                status=404,
            )
        return sheet_file(pictures[query.picture], query)

    def _compare(self, query: RunCompareQuery) -> JsonBody:
        with _refused():
            found = compared_runs(self._root, (query.a, query.b))
        table = {"head": list(found.head), "rows": [list(row) for row in found.rows]}
        return json_body(wire.dumps({"say": list(found.say), "table": table, "note": found.note}))


@contextmanager
def _refused() -> Iterator[None]:
    """Convert errors about missing run data to a 404 refusal."""
    try:
        yield
    except (UsageError, NothingMeasuredError, MissingPartError) as error:
        expected, hint = spelled(error.expected, page), spelled(error.hint, page)
        raise RefusalError(error.what, expected=expected, hint=hint, status=404) from error


def page_data(found: RunPage) -> dict[str, Any]:
    """Content of ``iosonde report RUN``, as data."""
    parts = found.components
    return {
        "title": found.title,
        "subtitle": found.subtitle,
        "headline": found.headline,
        "slow": found.slow,
        "rates": _table(found.rates),
        "notes": list(found.notes),
        "components": None
        if parts is None
        else {
            "say": list(parts.say),
            "findings": _table(parts.findings),
            "limits": list(parts.limits),
        },
        "cautions": list(found.cautions),
        "parameters": [list(one) for one in found.parameters],
        "machine": [list(one) for one in found.machine],
        "command": found.command,
        "pictures": [
            {"name": one.name, "title": one.sheet.title, "caption": list(one.sheet.caption)}
            for one in found.pictures
        ],
    }


def _table(table: Table) -> dict[str, Any]:
    """Head and rows, without empty columns."""
    head, rows = table
    kept = [n for n, _ in enumerate(head) if any(row[n] not in ("", "n/a") for row in rows)]
    return {"head": [head[n] for n in kept], "rows": [[row[n] for n in kept] for row in rows]}
