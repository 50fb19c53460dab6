"""The application: which address gives what. ``/openapi.json`` describes every question and answer.

::

    GET /                   the page
    GET /api/...            numbers, words and pictures (``create``)
    GET /openapi.json       all of these with their parameters, units and JSON

A mistake of ours is a 500 without its traceback; every other error is of ``errors``.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from iosonde import __version__
from iosonde.jobs.load.from_store import load_of_store
from iosonde.jobs.load.history import LoadHistory
from iosonde.jobs.table.source import LISTED, from_store
from iosonde.model.jobs import JobTable
from iosonde.serve import wire
from iosonde.serve.about.answer import AboutRoutes
from iosonde.serve.access.token import TokenGuard
from iosonde.serve.answers import json_answer, json_body
from iosonde.serve.arrivals import Arrivals
from iosonde.serve.climate import ClimateRoute
from iosonde.serve.drawn.panel import PanelRoute
from iosonde.serve.errors import add_error_handlers
from iosonde.serve.figures import Figures
from iosonde.serve.history import History
from iosonde.serve.job.answer import JobRoute
from iosonde.serve.job_table import JobTables
from iosonde.serve.jobs import JobsQuery, jobs_listed
from iosonde.serve.live import Live
from iosonde.serve.load.answer import LoadRoutes
from iosonde.serve.load.histories import Histories
from iosonde.serve.page import STATIC, Page
from iosonde.serve.params import (
    FeedQuery,
    Instant,
    Parameters,
    SeriesQuery,
    TargetsQuery,
    feed_start,
    series_request,
)
from iosonde.serve.privacy.policy import pseudonyms
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.serve.runs.answer import RunRoutes
from iosonde.serve.security import LOOPBACK_NAMES, Guard, mistaken
from iosonde.serve.series import SeriesSource, Stretches, series_json
from iosonde.serve.shapes import about as about_json
from iosonde.serve.shapes import fleet as fleet_json
from iosonde.serve.shapes import jobs as job_json
from iosonde.serve.shapes import load as load_json
from iosonde.serve.shapes import runs as run_json
from iosonde.serve.shapes import simulate as simulate_json
from iosonde.serve.shapes import status as status_json
from iosonde.serve.shapes import weather as weather_json
from iosonde.serve.shapes import why as why_json
from iosonde.serve.shared import Shared
from iosonde.serve.simulate.answer import SimulateRoute
from iosonde.serve.status.answer import StatusRoutes
from iosonde.serve.targets import Targets, in_brief
from iosonde.serve.umami import Diagrams
from iosonde.serve.why.answer import WhyRoute
from iosonde.weather.store import Store

EVENTS_KEPT_S = 15.0
"""An event begins or ends with a window of a minute."""


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


def create(
    store_root: Path,
    *,
    hosts: frozenset[str] | None = LOOPBACK_NAMES,
    clock: Callable[[], int] = time.time_ns,
    static: Path = STATIC,
    jobs: Callable[[], JobTable] | None = None,
    loads: Callable[[], LoadHistory] | None = None,
    names: Pseudonyms | None = None,
    token: str | None = None,
) -> FastAPI:
    """The application over one store folder, which need not exist yet.

    ``hosts``: names that the server answers to (None: any); see ``security``. ``clock``: ns since
    the epoch. ``jobs``, ``loads``: the table of jobs, the load of nodes (None: the store's). ``names``: of users,
    accounts and jobs, as they leave (None: hashed). ``token``: what requests
    must carry (None: nothing). ``app.state.live.stop()`` ends the streams.
    """
    store = Store(Path(store_root))
    # The weather shares its threads with nobody: tables of jobs, pictures and climates take longer.
    shared, of_jobs = Shared(time.monotonic), Shared(time.monotonic)
    drawings, slow, of_load, simulating = (Shared(time.monotonic, threads=1) for _ in range(4))
    # Every page asks for events once a minute: equal questions of that minute are answered once.
    of_events = Shared(time.monotonic, keep_s=EVENTS_KEPT_S, most=64, threads=1)
    arrivals = Arrivals(store.root, clock)
    targets = Targets(store.root)
    live = Live(targets, arrivals, clock)
    names = names or pseudonyms(store.root, "hashed", loopback=False, randomness=os.urandom)
    tables = JobTables(jobs or (lambda: from_store(store.root)), time.monotonic, names)
    listed = JobTables(
        jobs or (lambda: from_store(store.root, metrics=LISTED, scheduled=True)),
        time.monotonic,
        names,
    )
    read_load = loads or (lambda: load_of_store(store.root, clock()))
    histories = Histories(read_load, names, time.monotonic)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        live.stop()
        for threads in (shared, of_jobs, drawings, slow, of_load, simulating, of_events):
            threads.close()

    # The page allows no other host to send scripts, and FastAPI's page of the description needs one: none here.
    app = FastAPI(
        title="iosonde",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=weather_json.ERRORS,
    )
    app.state.live = live
    _add_targets(app, targets, shared, clock)
    history = History(store, arrivals)
    source = SeriesSource(store, history, Stretches(store, history.known))
    _add_series(app, source, shared, clock)
    _add_figures(app, Figures(store, drawings, clock), PanelRoute(store, drawings, clock))
    _add_jobs(app, listed, of_jobs)
    app.get(
        "/api/umami", response_model=job_json.UmamiJson, responses=weather_json.pictures("csv")
    )(Diagrams(tables, of_jobs, drawings).answer)
    job = JobRoute(store.root, tables, histories, names, shared=slow, clock=clock)
    app.get("/api/job", response_model=job_json.JobBesideJson | job_json.UnknownJobJson)(job.answer)
    app.get(
        "/api/climate",
        response_model=job_json.ClimateJson | job_json.NoJobs,
        responses=weather_json.pictures("csv"),
    )(ClimateRoute(tables, slow, drawings).answer)
    _add_runs(app, RunRoutes(store.root, of_jobs, drawings, clock))
    app.get("/api/why", response_model=why_json.WhyJson)(
        WhyRoute(store.root, names, slow, clock).answer
    )
    app.get(
        "/api/simulate",
        response_model=simulate_json.SimulatedJson,
        responses=weather_json.pictures("csv"),
    )(SimulateRoute(simulating, drawings).answer)
    _add_load(app, LoadRoutes(histories, of_load, drawings, hashed=names.hashed))
    _add_status(app, StatusRoutes(targets, shared, of_events, clock, names=names))
    _add_feed(app, live)
    _add_about(app, AboutRoutes(store.root, names, shared, static))
    app.mount("/", Page(static))
    add_error_handlers(app, store.root)
    app.add_exception_handler(Exception, mistaken)
    if token is not None:
        app.add_middleware(TokenGuard, token=token)
    app.add_middleware(Guard, hosts=hosts)
    return app


def _add_targets(app: FastAPI, targets: Targets, shared: Shared, clock: Callable[[], int]) -> None:
    @app.get("/api/targets", response_model=list[weather_json.TargetJson])
    async def get_targets(request: Request, query: Annotated[TargetsQuery, Query()]) -> Response:
        """Every target, its sentence and its live state."""
        answer = await shared.answer(
            query, lambda: json_body(wire.dumps(_described(targets, query, clock())))
        )
        return json_answer(request, answer)

    @app.get("/api/now", response_model=fleet_json.NowJson)
    async def get_now(request: Request, query: Annotated[TargetsQuery, Query()]) -> Response:
        """What runs now in sentences, and this node or the storage: hosts beside each other."""
        answer = await shared.answer(
            ("now", query.zone), lambda: json_body(wire.dumps(targets.now(query.zone, clock())))
        )
        return json_answer(request, answer)


def _described(targets: Targets, query: TargetsQuery, now_ns: int) -> list[dict[str, Any]]:
    every = targets.described(query.zone, now_ns)
    return in_brief(every) if query.brief else every


def _add_series(
    app: FastAPI, source: SeriesSource, shared: Shared, clock: Callable[[], int]
) -> None:
    @app.get(
        "/api/series", response_model=weather_json.SeriesJson, openapi_extra=SeriesQuery.openapi()
    )
    async def get_series(request: Request) -> Response:
        """Operations, windows, baseline and slowdown of one target."""
        asked = series_request(SeriesQuery.read(request), clock())
        answer = await shared.answer(asked, lambda: json_body(series_json(source, asked, clock)))
        return json_answer(request, answer)


def _add_figures(app: FastAPI, figures: Figures, panels: PanelRoute) -> None:
    forms = weather_json.pictures("csv")
    app.get("/api/figure", response_model=weather_json.Figure, responses=forms)(figures.answer)
    app.get("/api/panel", response_model=weather_json.Figure, responses=forms)(panels.answer)


def _add_jobs(app: FastAPI, tables: JobTables, shared: Shared) -> None:
    @app.get("/api/jobs", response_model=job_json.JobsJson)
    async def get_jobs(request: Request, query: Annotated[JobsQuery, Query()]) -> Response:
        """Jobs, newest first, as they were searched for."""
        answer = await shared.answer(
            query, lambda: json_body(wire.dumps(jobs_listed(tables, query)))
        )
        return json_answer(request, answer)


def _add_runs(app: FastAPI, routes: RunRoutes) -> None:
    app.get("/api/runs", response_model=run_json.RunsJson)(routes.listed)
    app.get(
        "/api/runs/run", response_model=run_json.RunJson, responses=weather_json.pictures("csv")
    )(routes.one)
    app.get("/api/runs/compare", response_model=run_json.ComparedRunsJson)(routes.compare)


def _add_load(app: FastAPI, routes: LoadRoutes) -> None:
    app.get(
        "/api/load",
        response_model=load_json.LoadJson | load_json.NoLoad,
        responses=weather_json.pictures("csv"),
    )(routes.table)
    app.get("/api/load/cells", response_class=Response, responses=weather_json.files("bin"))(
        routes.cells
    )
    app.get("/api/load/jobs", response_model=load_json.LoadJobsJson)(routes.jobs)


def _add_status(app: FastAPI, routes: StatusRoutes) -> None:
    app.get("/api/status", response_model=status_json.StatusJson)(routes.status)
    app.get("/api/badge", response_model=status_json.ShieldJson)(routes.shield)
    app.get("/badge.svg", response_class=Response, responses=weather_json.files("svg"))(
        routes.badge
    )
    app.get("/api/annotations", response_model=status_json.AnnotationsJson)(routes.annotations)


def _add_feed(app: FastAPI, live: Live) -> None:
    @app.get(
        "/api/feed",
        response_class=EventStream,
        responses=weather_json.FEED,
        openapi_extra=FeedQuery.openapi(),
    )
    async def get_feed(
        request: Request,
        last_event_id: Annotated[
            Instant | None, Header(description="of a browser that comes back; wins over after_ns")
        ] = None,
    ) -> Response:
        """The same live, as server-sent events."""
        start = feed_start(FeedQuery.read(request), last_event_id)
        live.check_room()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if request.scope.get("iosonde.head"):
            return Response(media_type=EventStream.media_type, headers=headers)
        return EventStream(live.events(start), headers=headers)


def _add_about(app: FastAPI, routes: AboutRoutes) -> None:
    @app.get("/api/openapi.json", include_in_schema=False)
    async def get_description(request: Request, _: Annotated[Parameters, Query()]) -> Response:
        """The description of all routes, below the address of the API."""
        return json_answer(request, json_body(wire.dumps(app.openapi())))

    app.get("/api/about", response_model=weather_json.AboutJson)(routes.about)
    app.get("/api/about/cost", response_model=about_json.CostJson)(routes.cost)
    app.get("/api/about/glossary", response_model=about_json.GlossaryJson)(routes.glossary)
