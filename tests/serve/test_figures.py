"""``/api/figure`` over a real store: numbers, pictures, refusals."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.serve.app import create
from iosonde.weather.figures.request import KINDS
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, NOW


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    root: Path = tmp_path_factory.mktemp("figures")
    stores.simulate(root, 20 * MINUTE, stores.target("/work"))
    with TestClient(create(root, clock=lambda: NOW), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_as_numbers(client, kind: str) -> None:
    answer = client.get("/api/figure", params={"kind": kind, "target": "/work"})
    assert answer.status_code == 200
    sheet = answer.json()
    assert sheet["kind"] == kind
    if kind == "points":
        assert [pane["n"] for pane in sheet["panes"]] == [600] * 6, "the last ten minutes"
    if kind == "phases":
        assert sheet["until_s"] - sheet["since_s"] == 3600


def test_pictures(client) -> None:
    params = {"kind": "points", "width": "4", "zone": "Europe/Berlin"}
    light, dark = (
        client.get("/api/figure", params={**params, "format": "png", "theme": theme})
        for theme in ("light", "dark")
    )
    assert light.headers["content-type"] == "image/png"
    assert light.content.startswith(b"\x89PNG")
    assert light.content != dark.content
    svg = client.get("/api/figure", params={**params, "format": "svg"})
    assert svg.headers["content-disposition"] == 'attachment; filename="iosonde-points.svg"'
    assert b"<svg" in svg.content


def test_phases_by_address(client) -> None:
    phase = f"IOR, easy,{NOW - 5 * MINUTE},{NOW - 3 * MINUTE}"
    answer = client.get(
        "/api/figure", params={"kind": "phases", "phase": phase, "expected": "median"}
    )
    shade = answer.json()["panes"][0]["marks"][0]
    assert (shade["mark"], shade["name"]) == ("shade", "IOR, easy")


@pytest.mark.parametrize(
    ("params", "status", "what"),
    [
        ({}, 400, "kind is missing"),
        ({"kind": "pie"}, 400, "kind is 'pie'"),
        ({"kind": "points", "kidn": "x"}, 400, "there is no parameter 'kidn'"),
        ({"kind": "points", "width": "nan"}, 400, "width is 'nan'"),
        ({"kind": "points", "width": "99"}, 400, "width is '99'"),
        ({"kind": "points", "scale": "x"}, 400, "scale is 'x'"),
        ({"kind": "points", "theme": "pink"}, 400, "theme is 'pink'"),
        ({"kind": "points", "format": "exe"}, 400, "format is 'exe'"),
        ({"kind": "points", "op": "read"}, 400, "op is 'read'"),
        ({"kind": "points", "zone": "Moon"}, 400, "there is no time zone 'Moon'"),
        ({"kind": "points", "since_ns": str(NOW + 1)}, 400, "is not before until_ns"),
        ({"kind": "phases", "window_ns": "1000000000", "since_ns": "0"}, 400, "are too many"),
        ({"kind": "phases", "phase": "a,1"}, 400, "phase is 'a,1'"),
        ({"kind": "phases", "phase": "a,2,1"}, 400, "phase 'a' ends before it begins"),
        ({"kind": "points", "target": "/other"}, 404, "there are no samples for this figure"),
    ],
)
def test_refusals(client, params: dict[str, str], status: int, what: str) -> None:
    answer = client.get("/api/figure", params=params)
    assert answer.status_code == status
    assert what in answer.json()["error"]["what"]
