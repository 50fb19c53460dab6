"""Routes of targets: now, live, over time, for portals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from iosonde.serve import wire
from iosonde.serve.answers import json_answer, json_body
from iosonde.serve.drawn.panel import PanelRoute
from iosonde.serve.figures import Figures
from iosonde.serve.lanes import Lanes
from iosonde.serve.live import Live
from iosonde.serve.params import (
    FeedQuery,
    Instant,
    SeriesQuery,
    TargetsQuery,
    feed_start,
    series_request,
)
from iosonde.serve.series import SeriesSource, series_json
from iosonde.serve.shapes import fleet as fleet_json
from iosonde.serve.shapes import status as status_json
from iosonde.serve.shapes import weather as weather_json
from iosonde.serve.shared import Shared
from iosonde.serve.status.answer import StatusRoutes
from iosonde.serve.targets import Targets, in_brief


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


def add_targets(app: FastAPI, targets: Targets, shared: Shared, clock: Callable[[], int]) -> None:
    """Add all targets, and running probes."""

    @app.get("/api/targets", response_model=list[weather_json.TargetJson])
    async def get_targets(request: Request, query: Annotated[TargetsQuery, Query()]) -> Response:
        """Every target, its sentence and its live state."""
        answer = await shared.answer(
            query, lambda: json_body(wire.dumps(_described(targets, query, clock())))
        )
        return json_answer(request, answer)

    @app.get("/api/now", response_model=fleet_json.NowJson)
    async def get_now(request: Request, query: Annotated[TargetsQuery, Query()]) -> Response:
        """Sentences of running probes, and the verdict node or storage: hosts side by side."""
        answer = await shared.answer(
            ("now", query.zone), lambda: json_body(wire.dumps(targets.now(query.zone, clock())))
        )
        return json_answer(request, answer)


def _described(targets: Targets, query: TargetsQuery, now_ns: int) -> list[dict[str, Any]]:
    every = targets.described(query.zone, now_ns)
    return in_brief(every) if query.brief else every


def add_series(app: FastAPI, source: SeriesSource, lanes: Lanes, clock: Callable[[], int]) -> None:
    """Add one target over time."""

    @app.get(
        "/api/series", response_model=weather_json.SeriesJson, openapi_extra=SeriesQuery.openapi()
    )
    async def get_series(request: Request) -> Response:
        """Operations, windows, baseline and slowdown of one target."""
        asked = series_request(SeriesQuery.read(request), clock())
        lane = lanes.of_series(asked)
        answer = await lane.answer(asked, lambda: json_body(series_json(source, asked, clock)))
        return json_answer(request, answer)


def add_figures(app: FastAPI, figures: Figures, panels: PanelRoute) -> None:
    """Add pictures of a target, and of one operation."""
    forms = weather_json.pictures("csv")
    app.get("/api/figure", response_model=weather_json.Figure, responses=forms)(figures.answer)
    app.get("/api/panel", response_model=weather_json.Figure, responses=forms)(panels.answer)


def add_status(app: FastAPI, routes: StatusRoutes) -> None:
    """Add short answers for portals and dashboards."""
    app.get("/api/status", response_model=status_json.StatusJson)(routes.status)
    app.get("/api/badge", response_model=status_json.ShieldJson)(routes.shield)
    app.get("/badge.svg", response_class=Response, responses=weather_json.files("svg"))(
        routes.badge
    )
    app.get("/api/annotations", response_model=status_json.AnnotationsJson)(routes.annotations)


def add_feed(app: FastAPI, live: Live) -> None:
    """Add the live feed of targets."""

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
        """Targets and rows live, as server-sent events."""
        start = feed_start(FeedQuery.read(request), last_event_id)
        live.check_room()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if request.scope.get("iosonde.head"):
            return Response(media_type=EventStream.media_type, headers=headers)
        return EventStream(live.events(start), headers=headers)
