"""/openapi.json describes every route, and real answers are as it says."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastapi.testclient import TestClient

from iosonde.model.jobs import JobTable
from iosonde.serve.app import create
from iosonde.weather.figures.request import KINDS
from tests.kit.jobs.climates_made import together
from tests.kit.jobs.jobs_made import simulated
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, MINUTE, NOW

SERIES = f"/api/series?host={stores.HOST}&target=/work"
ANSWERS = [
    "/api/targets",
    SERIES,
    f"{SERIES}&since_ns={NOW - 40 * MINUTE}&points=false",
    "/api/series?host=nobody&target=none",
    *(f"/api/figure?kind={kind}" for kind in KINDS),
    "/api/jobs?limit=7&offset=3",
    "/api/umami?job=12",
    "/api/umami?job=1",
    "/api/why",
    f"/api/why?target=/work&at_ns={NOW - 10 * MINUTE}",
    "/api/about",
    "/api/about/cost",
    "/api/about/glossary",
    "/api/job?job=12",
    "/api/targets?brief=true",
    "/api/simulate",
    f"/api/panel?host={stores.HOST}&target=/work&op=md_create",
    "/api/simulate?processes=0&writers=2&ticks=1000",
    "/api/status",
    "/api/status?limit=1&offset=1",
    "/api/badge?target=/work",
    f"/api/annotations?from={(NOW - HOUR) // 10**6}&to={NOW // 10**6}",
    f"/api/annotations?from={(NOW - HOUR) // 10**6}&to={NOW // 10**6}&why=1",
]
LISTS = (
    *("/api/status", "/api/annotations", "/api/jobs", "/api/runs", "/api/load/jobs"),
    "/api/about/cost",
)
WRONG = [
    "/api/simulate?ticks=200001",
    "/api/simulate?processes=0&writers=0",
    "/api/series",
    "/api/nothing",
    "/api/umami?job=x",
    "/api/jobs?limit=0",
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    hang = [{"op": "md_create", "after": "35m", "for": "25s", "hang": True}]
    stores.simulate(folder, HOUR, stores.target("/work", hang))
    stores.say_it_runs(folder, NOW)
    stores.simulate(folder, HOUR, stores.target("/gone"))
    return folder


def asking(root: Path, jobs: JobTable | None = None) -> TestClient:
    made = None if jobs is None else lambda: jobs
    return TestClient(create(root, clock=lambda: NOW, jobs=made), base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def client(root: Path):
    with asking(root, simulated()) as client:
        yield client


@pytest.fixture(scope="module")
def described(client: TestClient) -> dict[str, Any]:
    return client.get("/openapi.json").json()


def fits(described: dict[str, Any], path: str, status: str, answer: object) -> None:
    """Raise ValidationError unless ``answer`` is as the description of the route says."""
    content = described["paths"][path]["get"]["responses"][status]["content"]
    if path == "/api/feed":
        found = content["text/event-stream"]["schema"]["contentSchema"]
    else:
        found = content["application/json"]["schema"]
    schema = {**found, "components": described["components"]}
    jsonschema.Draft202012Validator(schema).validate(answer)


def test_every_route_and_parameter_is_described(client: TestClient, described: dict) -> None:
    paths = {
        route.path for route in client.app.routes if getattr(route, "include_in_schema", False)
    }
    assert paths == described["paths"].keys()
    assert len(paths) == 25
    for path, methods in described["paths"].items():
        assert methods.keys() == {"get"}
        question = methods["get"]
        assert question["description"], path
        for parameter in question.get("parameters", ()):
            assert parameter["description"], (path, parameter["name"])
        content = question["responses"]["200"]["content"]
        assert all(form["schema"] for form in content.values()), path
        assert "422" not in question["responses"], "a wrong request is a 400"


def test_limits_reach_the_description(described: dict) -> None:
    parameters = {
        (path, one["name"]): one["schema"]
        for path, methods in described["paths"].items()
        for one in methods["get"].get("parameters", ())
    }
    assert parameters["/api/series", "window_ns"]["minimum"] == 1_000_000
    assert parameters["/api/series", "since_ns"]["anyOf"][0]["format"] == "nanoseconds"
    for path in LISTS:
        assert parameters[path, "limit"]["maximum"] == 1000
        assert parameters[path, "offset"]["minimum"] == 0
    assert parameters["/api/figure", "kind"]["enum"] == list(KINDS)


@pytest.mark.parametrize("address", ANSWERS)
def test_real_answers_are_as_described(client: TestClient, described: dict, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    fits(described, address.partition("?")[0], "200", answer.json())


def test_many_operations_are_as_described(tmp_path: Path, described: dict) -> None:
    stores.simulate(tmp_path, 6 * HOUR, stores.target("/work"))
    with asking(tmp_path) as client:
        answer = client.get(f"{SERIES}&since_ns={NOW - 6 * HOUR}").json()
    assert answer["ops"]["data_read"]["cells"] is not None
    fits(described, "/api/series", "200", answer)


def test_climates_are_as_described(tmp_path: Path, described: dict) -> None:
    with asking(tmp_path, together(days=200)) as client:
        answer = client.get("/api/climate").json()
    assert answer["changes"]
    assert answer["events"]
    fits(described, "/api/climate", "200", answer)
    with asking(tmp_path) as client:
        fits(described, "/api/climate", "200", client.get("/api/climate").json())


@pytest.mark.parametrize("address", WRONG)
def test_errors_are_as_described(client: TestClient, described: dict, address: str) -> None:
    fits(described, "/api/series", "4XX", client.get(address).json())


def test_events_of_the_feed_are_as_described(root: Path, described: dict, tmp_path: Path) -> None:
    import httpx2

    stores.copy_prefix(root, tmp_path, 0.5)
    feed = f"/api/feed?host={stores.HOST}&target=/gone"
    with (
        stores.running(tmp_path) as (address, _),
        httpx2.stream("GET", address + feed, timeout=10) as response,
    ):
        form = response.headers["content-type"].partition(";")[0]
        assert form in described["paths"]["/api/feed"]["get"]["responses"]["200"]["content"]
        seen = {}
        for name, data, _ in stores.events(response):
            if name in ("targets", "points"):
                seen[name] = data
            stores.copy_prefix(root, tmp_path, 1.0)
            if "points" in seen:
                break
    assert seen.keys() == {"targets", "points"}
    for data in seen.values():
        fits(described, "/api/feed", "200", data)


def test_the_description_needs_no_other_host(client: TestClient) -> None:
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert "https://" not in client.get("/openapi.json").text
