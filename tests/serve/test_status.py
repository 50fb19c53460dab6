"""Status, badges and annotations: the words of the page, for other pages."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.serve.app import create
from iosonde.serve.status.badge import COLORS, badge
from iosonde.weather.slowdown.findings import SEVERITIES
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, MINUTE, NOW

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/work is ten times slower for creates since 20 minutes, /home is as usual, creates of /old hung for 25 s."""
    folder = tmp_path_factory.mktemp("store")
    slow = [{"op": "md_create", "after": "160m", "for": "20m", "multiply": 10}]
    hang = [{"op": "md_create", "after": "90m", "for": "25s", "hang": True}]
    stores.simulate(
        folder,
        3 * HOUR,
        stores.target("/work", slow),
        stores.target("/home"),
        stores.target("/old", hang),
    )
    stores.say_it_runs(folder, NOW)
    return folder


@pytest.fixture(scope="module")
def client(root: Path):
    with TestClient(create(root, clock=lambda: NOW), base_url="http://127.0.0.1") as client:
        yield client


def test_the_status_says_what_the_page_says_the_worst_first(client: TestClient) -> None:
    page = {one["target"]: one for one in client.get("/api/targets?zone=UTC").json()}
    status = client.get("/api/status?zone=UTC").json()
    first = status["targets"][0]
    assert (first["target"], first["severity"]) == ("/work", "slow")
    assert status["sentence"] == first["sentence"] == page["/work"]["sentence"]
    assert first["slowdown"] == pytest.approx(10, rel=0.3)
    assert first["brief"].endswith("x slower")
    assert (status["total"], sum(status["counts"].values())) == (3, 3)
    assert status["counts"]["slow"] == 1


def test_pages_of_the_status_hold_every_target_once(client: TestClient) -> None:
    pages = [client.get(f"/api/status?limit=1&offset={n}").json() for n in range(4)]
    assert sorted(one["target"] for page in pages for one in page["targets"]) == [
        *("/home", "/old", "/work")
    ]
    assert {page["total"] for page in pages} == {3}


def test_a_target_that_there_is_not_is_refused_with_those_that_there_are(
    client: TestClient,
) -> None:
    for path in ("/api/status", "/api/badge", "/badge.svg"):
        answer = client.get(f"{path}?target=/nowhere")
        assert answer.status_code == 404
        assert "/work" in answer.json()["error"]["expected"]


def test_nothing_watched_is_unknown_not_fine(tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get("/api/status").json()["severity"] == "unknown"
        assert client.get("/api/badge").json()["message"] == "no probe"
        assert COLORS["unknown"] in client.get("/badge.svg").text


@pytest.mark.parametrize(("target", "severity"), [("/work", "slow"), ("/home", "ok")])
def test_a_badge_is_a_picture_with_the_sentence_in_it(
    client: TestClient, target: str, severity: str
) -> None:
    answer = client.get("/badge.svg", params={"target": target})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert len(answer.headers.get_list("cross-origin-resource-policy")) == 1
    picture = ET.fromstring(answer.text)
    label, message = [one.text for one in picture.iter(f"{SVG}text")]
    shield = client.get("/api/badge", params={"target": target}).json()
    assert (label, message) == (shield["label"], shield["message"])
    assert label == target
    assert shield["color"] == COLORS[severity] == picture.find(f"{SVG}rect").get("fill")
    assert "as of" in picture.find(f"{SVG}title").text


def test_a_hostile_name_stays_text() -> None:
    text = badge('<script>"&', "x" * 500, "ok", "<b>'")
    picture = ET.fromstring(text)
    assert [one.tag for one in picture.iter()].count(f"{SVG}text") == 2
    assert int(picture.get("width")) < 1000


def test_every_severity_has_a_colour_that_white_text_stands_out_from() -> None:
    assert set(COLORS) == set(SEVERITIES)
    for color in COLORS.values():
        parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        assert 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5


def test_annotations_are_the_events_in_milliseconds(client: TestClient) -> None:
    asked = {"from": (NOW - 3 * HOUR) // 10**6, "to": NOW // 10**6}
    every = client.get("/api/annotations", params=asked).json()
    (hang,) = [one for one in every["annotations"] if one["kind"] == "hang"]
    began = (NOW - 3 * HOUR + 90 * MINUTE) / 1e6
    assert hang["time"] == pytest.approx(began, abs=3000)
    assert hang["timeEnd"] - hang["time"] == pytest.approx(25_000, abs=4000)
    assert hang["target"] == "/old"
    slow = [one for one in every["annotations"] if one["target"] == "/work"]
    assert slow[-1]["time"] == pytest.approx((NOW - 20 * MINUTE) / 1e6, abs=120_000)
    assert "creates on /work" in slow[-1]["text"]
    assert all("iosonde" in one["tags"] for one in every["annotations"])
    one = client.get("/api/annotations", params={**asked, "target": "/old", "limit": 1}).json()
    assert [found["target"] for found in one["annotations"]] == ["/old"]
    pages = [
        client.get("/api/annotations", params={**asked, "limit": 1, "offset": n}).json()
        for n in range(every["total"] + 1)
    ]
    assert [one for page in pages[::-1] for one in page["annotations"]] == every["annotations"]
    assert {page["total"] for page in pages} == {len(every["annotations"])}
    assert hang["op"] == "md_create"
    assert client.get("/api/annotations?from=5&to=4").status_code == 400
    assert client.get("/api/annotations?from=0").status_code == 400


def test_an_event_has_an_id_to_ask_why(client: TestClient) -> None:
    asked = {"from": (NOW - 3 * HOUR) // 10**6, "to": NOW // 10**6}
    every = client.get("/api/annotations", params=asked).json()["annotations"]
    (hang,) = [one for one in every if one["kind"] == "hang"]
    answer = client.get("/api/why", params={"event": hang["id"]}).json()
    assert answer["event"] == hang["id"]
    assert answer["links"]["slowness"]["fact"]["target"] == "/old"
    lines = [f"{one['link']}: {one['text']}" for one in answer["lines"]]
    assert lines == answer["evidence"]
    for one in answer["lines"]:
        if one["link"] in answer["links"]:
            assert one["standing"] == answer["links"][one["link"]]["standing"]


def test_only_so_many_of_the_newest_say_why(client: TestClient) -> None:
    asked = {"from": (NOW - 3 * HOUR) // 10**6, "to": NOW // 10**6, "why": 1}
    every = client.get("/api/annotations", params=asked).json()["annotations"]
    told = [one for one in every if one["id"] is not None]
    assert len(told) >= 2
    assert ["slowness: " in one["text"] for one in told] == [False] * (len(told) - 1) + [True]
    assert client.get("/api/annotations?why=6").status_code == 400


def test_the_summary_counts_what_it_lists(client: TestClient) -> None:
    answer = client.get("/api/status").json()
    assert answer["total"] == sum(answer["counts"].values()) > 1
    assert answer["summary"].startswith(f"{answer['total']} targets: ")
    told = [int(part.split()[0]) for part in answer["summary"].split(": ")[1].split(", ")]
    assert sorted(told) == sorted(n for n in answer["counts"].values() if n)
    assert client.get("/api/status?target=/work").json()["summary"] == ""
