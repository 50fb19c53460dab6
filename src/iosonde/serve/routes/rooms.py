"""Routes of jobs, runs, load, and the server itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from iosonde.jobs.load.answers import JobLoads
from iosonde.jobs.table.answers import JobList
from iosonde.model.json_types import as_json
from iosonde.serve import wire
from iosonde.serve.about.answer import AboutRoutes
from iosonde.serve.answers import json_answer, json_body
from iosonde.serve.job_table import JobTables
from iosonde.serve.jobs import JobsQuery, jobs_listed
from iosonde.serve.load.answer import LoadRoutes
from iosonde.serve.params import Parameters
from iosonde.serve.runs.answer import RunRoutes
from iosonde.serve.shapes import about as about_json
from iosonde.serve.shapes import load as load_json
from iosonde.serve.shapes import runs as run_json
from iosonde.serve.shapes import weather as weather_json
from iosonde.serve.shared import Shared
from iosonde.weather.cost.answers import Costs


def add_jobs(app: FastAPI, tables: JobTables, shared: Shared) -> None:
    """Add the list of jobs."""

    @app.get("/api/jobs", response_model=JobList)
    async def get_jobs(request: Request, query: Annotated[JobsQuery, Query()]) -> Response:
        """Matching jobs, newest first."""
        answer = await shared.answer(
            query, lambda: json_body(wire.dumps(as_json(jobs_listed(tables, query))))
        )
        return json_answer(request, answer)


def add_runs(app: FastAPI, routes: RunRoutes) -> None:
    """Add benchmark runs."""
    app.get("/api/runs", response_model=run_json.RunsJson)(routes.listed)
    app.get(
        "/api/runs/run", response_model=run_json.RunJson, responses=weather_json.pictures("csv")
    )(routes.one)
    app.get("/api/runs/compare", response_model=run_json.ComparedRunsJson)(routes.compare)


def add_load(app: FastAPI, routes: LoadRoutes) -> None:
    """Add the load of jobs and users."""
    app.get(
        "/api/load",
        response_model=load_json.LoadJson | load_json.NoLoad,
        responses=weather_json.pictures("csv"),
    )(routes.table)
    app.get("/api/load/cells", response_class=Response, responses=weather_json.files("bin"))(
        routes.cells
    )
    app.get("/api/load/jobs", response_model=JobLoads)(routes.jobs)


def add_about(app: FastAPI, routes: AboutRoutes) -> None:
    """Add the server itself."""

    @app.get("/api/openapi.json", include_in_schema=False)
    async def get_description(request: Request, _: Annotated[Parameters, Query()]) -> Response:
        """OpenAPI description of all routes."""
        return json_answer(request, json_body(wire.dumps(app.openapi())))

    app.get("/api/about", response_model=weather_json.AboutJson)(routes.about)
    app.get("/api/about/cost", response_model=Costs)(routes.cost)
    app.get("/api/about/glossary", response_model=about_json.GlossaryJson)(routes.glossary)
