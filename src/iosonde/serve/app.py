"""The application: which address gives what.

::

    GET /                   the page
    GET /api/targets        every target, its sentence and its live state
    GET /api/series         operations, windows, baseline and slowdown of one target
    GET /api/figure         one of the eight figures: its numbers, or its picture
    GET /api/feed           the same live, as server-sent events
    GET /api/jobs           jobs, newest first, as they were searched for
    GET /api/umami          the diagram of a job: what is drawn, in numbers and words; a picture; a table
    GET /api/climate        what changed for good over months of jobs, in the same forms
    GET /api/about          version, store, words and thresholds that the page explains

Every error is JSON: ``{"error": {"what": ..., "expected": ..., "try": ...}}``. A request that
cannot be answered as it is gets a 4xx, a store that cannot be read a 503, a mistake of ours a 500
without its traceback.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from iosonde import __version__
from iosonde.jobs.table.source import from_store
from iosonde.model.advice import spelled
from iosonde.model.errors import IosondeError
from iosonde.model.jobs import JobTable
from iosonde.model.ops import DEFAULT_TRAILING_NS, OP_WORDS, SLOW_AT, SLOW_LOWER_AT
from iosonde.serve import params, wire
from iosonde.serve.advice import page
from iosonde.serve.answers import Answer, json_answer, packed
from iosonde.serve.arrivals import Arrivals
from iosonde.serve.climate import Climates
from iosonde.serve.figures import Figures
from iosonde.serve.history import History
from iosonde.serve.job_table import JobTables
from iosonde.serve.jobs import jobs_listed, jobs_request
from iosonde.serve.live import Live
from iosonde.serve.page import STATIC, Page
from iosonde.serve.params import RefusalError
from iosonde.serve.security import LOOPBACK_NAMES, Guard, error_body
from iosonde.serve.series import series_json
from iosonde.serve.shared import Shared
from iosonde.serve.targets import Targets
from iosonde.serve.umami import Diagrams
from iosonde.weather.store import Store


def create(
    store_root: Path,
    *,
    hosts: frozenset[str] | None = LOOPBACK_NAMES,
    clock: Callable[[], int] = time.time_ns,
    static: Path = STATIC,
    jobs: Callable[[], JobTable] | None = None,
) -> FastAPI:
    """The application over one store folder, which need not exist yet.

    ``hosts``: names that the server answers to (None: any); see ``security``. ``clock``: ns since
    the epoch. ``jobs``: the table of jobs (None: the store's). ``app.state.live.stop()`` ends the streams.
    """
    store = Store(Path(store_root))
    # The weather shares its threads with nobody: tables of jobs, pictures and climates take longer.
    shared, of_jobs = Shared(time.monotonic), Shared(time.monotonic)
    drawings, slow = (Shared(time.monotonic, threads=1) for _ in range(2))
    arrivals = Arrivals(store.root, clock)
    history = History(store, arrivals)
    targets = Targets(store.root)
    live = Live(targets, arrivals, clock)
    known_jobs = JobTables(jobs or (lambda: from_store(store.root)), time.monotonic)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        live.stop()
        for threads in (shared, of_jobs, drawings, slow):
            threads.close()

    app = FastAPI(
        title="iosonde", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.live = live

    @app.get("/api/targets")
    async def get_targets(request: Request) -> Response:
        zone = params.targets_request(request.query_params)
        answer = await shared.answer(
            ("targets", zone), lambda: packed(wire.dumps(targets.described(zone, clock())))
        )
        return json_answer(request, answer)

    @app.get("/api/series")
    async def get_series(request: Request) -> Response:
        asked = params.series_request(request.query_params, clock())
        answer = await shared.answer(
            asked, lambda: packed(series_json(store, history, asked, clock))
        )
        return json_answer(request, answer)

    app.get("/api/figure")(Figures(store, drawings, clock).answer)

    @app.get("/api/jobs")
    async def get_jobs(request: Request) -> Response:
        asked = jobs_request(request.query_params)
        answer = await of_jobs.answer(
            asked, lambda: packed(wire.dumps(jobs_listed(known_jobs, asked)))
        )
        return json_answer(request, answer)

    app.get("/api/umami")(Diagrams(known_jobs, of_jobs, drawings).answer)
    app.get("/api/climate")(Climates(known_jobs, slow, drawings).answer)

    @app.get("/api/feed")
    async def get_feed(request: Request) -> Response:
        asked = params.feed_request(request.query_params, request.headers.get("last-event-id"))
        live.check_room()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if request.scope.get("iosonde.head"):
            return Response(media_type="text/event-stream", headers=headers)
        return StreamingResponse(
            live.events(asked), media_type="text/event-stream", headers=headers
        )

    @app.get("/api/about")
    async def get_about(request: Request) -> Response:
        params.nothing_asked(request.query_params)
        return json_answer(request, Answer(wire.dumps(_about(store.root)), None))

    app.mount("/", Page(static))
    _handle_errors(app)
    app.add_middleware(Guard, hosts=hosts)
    return app


def _about(root: Path) -> dict[str, Any]:
    return {
        "version": __version__,
        "store": str(root.absolute()),
        "op_words": OP_WORDS,
        "slow_at": SLOW_AT,
        "slow_lower_at": SLOW_LOWER_AT,
        "baseline_trailing_ns": DEFAULT_TRAILING_NS,
    }


def _handle_errors(app: FastAPI) -> None:
    def answer(status: int, what: str, expected: str = "", hint: str = "") -> Response:
        headers = {"cache-control": "no-store"}
        body = error_body(what, expected, hint)
        return Response(body, status, media_type="application/json", headers=headers)

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, IosondeError)
        status = error.status if isinstance(error, RefusalError) else 503
        return answer(status, error.what, spelled(error.expected, page), spelled(error.hint, page))

    async def framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        what = f"there is nothing at {request.url.path[:200]}"
        if error.status_code != 404:
            return answer(error.status_code, str(error.detail))
        return answer(
            404,
            what,
            "/, /api/targets, /api/series, /api/figure, /api/jobs, /api/umami, /api/climate, /api/feed or /api/about",
        )

    app.add_exception_handler(IosondeError, ours)
    app.add_exception_handler(HTTPException, framework)
