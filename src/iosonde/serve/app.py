"""The application: routes to handlers. ``/openapi.json`` describes every question and answer.

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

from fastapi import FastAPI

from iosonde import __version__
from iosonde.jobs.load.answers import LoadHistory, load_of_store
from iosonde.jobs.scheduled.answers import JobBeside, UnknownJob
from iosonde.jobs.table.answers import listed_jobs, store_jobs
from iosonde.model.jobs import JobTable
from iosonde.serve.about.answer import AboutRoutes
from iosonde.serve.access.ended import EndedRequests
from iosonde.serve.access.token import TokenGuard
from iosonde.serve.arrivals import Arrivals
from iosonde.serve.climate import ClimateRoute
from iosonde.serve.drawn.panel import PanelRoute
from iosonde.serve.errors import add_error_handlers
from iosonde.serve.figures import Figures
from iosonde.serve.history import History
from iosonde.serve.job.answer import JobRoute
from iosonde.serve.job_table import JobTables
from iosonde.serve.lanes import lanes
from iosonde.serve.live import Live
from iosonde.serve.load.answer import LoadRoutes
from iosonde.serve.load.histories import Histories
from iosonde.serve.page import STATIC, Page
from iosonde.serve.privacy.jobs import aliased_table
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.serve.privacy.policy import pseudonyms
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.serve.routes import rooms, weather
from iosonde.serve.runs.answer import RunRoutes
from iosonde.serve.security import LOOPBACK_NAMES, Guard, mistaken
from iosonde.serve.series import SeriesSource, SpanCache
from iosonde.serve.shapes import jobs as job_json
from iosonde.serve.shapes import simulate as simulate_json
from iosonde.serve.shapes import weather as weather_json
from iosonde.serve.shapes import why as why_json
from iosonde.serve.simulate.answer import SimulateRoute
from iosonde.serve.status.answer import StatusRoutes
from iosonde.serve.targets import Targets
from iosonde.serve.umami import Diagrams
from iosonde.serve.why.answer import WhyRoute
from iosonde.weather.store import Store


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
    lane = lanes(time.monotonic)
    quick, drawings = lane.quick, lane.drawings
    arrivals = Arrivals(store.root, clock)
    targets = Targets(store.root)
    names = names or pseudonyms(store.root, "hashed", loopback=False, randomness=os.urandom)
    paths = ShownPaths(store.root, names)
    live = Live(targets, arrivals, paths, clock)
    tables, listed = _job_tables(store.root, jobs, names)
    read_load = loads or (lambda: load_of_store(store.root, clock()))
    histories = Histories(read_load, names, time.monotonic)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        live.stop()
        lane.close()

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
    weather.add_targets(app, targets, quick, clock)
    history = History(store, arrivals)
    source = SeriesSource(store, history, SpanCache(store, history.known), paths)
    weather.add_series(app, source, lane, clock)
    weather.add_figures(
        app, Figures(store.root, drawings, clock), PanelRoute(store, drawings, clock)
    )
    rooms.add_jobs(app, listed, lane.jobs)
    app.get(
        "/api/umami", response_model=job_json.UmamiJson, responses=weather_json.pictures("csv")
    )(Diagrams(tables, lane.jobs, drawings).answer)
    job = JobRoute(store.root, tables, histories, names, shared=lane.slow, clock=clock)
    app.get("/api/job", response_model=JobBeside | UnknownJob)(job.answer)
    app.get(
        "/api/climate",
        response_model=job_json.ClimateJson | job_json.NoJobs,
        responses=weather_json.pictures("csv"),
    )(ClimateRoute(tables, lane.slow, drawings).answer)
    rooms.add_runs(app, RunRoutes(store.root, lane.jobs, drawings, clock))
    app.get("/api/why", response_model=why_json.WhyJson)(
        WhyRoute(store.root, names, lane.slow, clock).answer
    )
    app.get(
        "/api/simulate",
        response_model=simulate_json.SimulatedJson,
        responses=weather_json.pictures("csv"),
    )(SimulateRoute(lane.simulating, drawings).answer)
    rooms.add_load(app, LoadRoutes(histories, lane.load, drawings, hashed=names.hashed))
    weather.add_status(app, StatusRoutes(targets, quick, lane.events, clock, names=names))
    weather.add_feed(app, live)
    rooms.add_about(app, AboutRoutes(store.root, names, quick, static))
    app.mount("/", Page(static))
    add_error_handlers(app, paths)
    app.add_exception_handler(Exception, mistaken)
    if token is not None:
        app.add_middleware(TokenGuard, token=token)
    app.add_middleware(Guard, hosts=hosts)
    app.add_middleware(EndedRequests)
    return app


def _job_tables(
    root: Path, jobs: Callable[[], JobTable] | None, names: Pseudonyms
) -> tuple[JobTables, JobTables]:
    """Job tables with all metrics, and for lists; ``jobs``: replaces the store's."""

    def aliased(table: JobTable) -> JobTable:
        return aliased_table(table, names)

    if jobs is not None:
        given = jobs
        return (
            JobTables(lambda: aliased(given()), time.monotonic),
            JobTables(lambda: aliased(given()), time.monotonic),
        )
    return (
        JobTables(lambda: store_jobs(root, shown=aliased).table, time.monotonic),
        JobTables(lambda: listed_jobs(root, aliased), time.monotonic),
    )
