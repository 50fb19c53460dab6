"""Grafana dashboards: generated, as the published schema says, and every query answered by a real Prometheus."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.truth.locate.simulate import healthy
from benchmarks.truth.locate.systems import system
from iosonde.serve.app import create
from scripts.grafana.__main__ import FOLDER, texts
from tests.kit import harness
from tests.kit.page.grafana_schema import misfits
from tests.kit.runs.stored_run import put_run
from tests.kit.servers.scraping import Scraper, scraping
from tests.monitoring.test_rules import assert_in_schema

FILES = sorted(FOLDER.glob("*.json"))
EMPTY = {
    "Alerts",  # none fires
    "Slow",
    "Hung",
    "Failing",
    "Lost operations",
    "Usual now against usual at first",  # only once the baseline is reliable
    "Slowest twentieth",  # only once an hour is known
}
"""Panels that may be empty while all is well and little is known."""


def panels(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text())["panels"]


def queries(file: Path) -> Iterator[tuple[str, str]]:
    """(title of the panel, expression) of a dashboard, that of its variables and annotations too."""
    for panel in panels(file):
        for target in panel.get("targets", ()):
            if "expr" in target:
                yield panel["title"], target["expr"]
    for one in json.loads(file.read_text())["annotations"].get("list", ()):
        yield one["name"], one["expr"]


def test_the_files_are_what_the_script_writes() -> None:
    written = texts()
    assert sorted(written) == FILES
    for file, text in written.items():
        assert file.read_text() == text, f"{file.name}: run python -m scripts.grafana"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_dashboard_is_as_the_published_schema_says(file: Path) -> None:
    assert misfits(file.read_text()) == []


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ('"graphMode": "none"', '"graphMode": "never"', "options.graph_mode"),
        ('"showLegend": true', '"showLegend": "yes"', "show_legend"),
        ('"h": 8', '"h": "8"', "grid_pos.h"),
        ('"title": "Slow"', '"titel": "Slow"', "titel"),
    ],
)
def test_a_wrong_dashboard_is_found(right: str, wrong: str, place: str) -> None:
    text = (FOLDER / "overview.json").read_text()
    assert right in text
    assert any(place in one for one in misfits(text.replace(right, wrong)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_have_ids_titles_words_and_room(file: Path) -> None:
    found = panels(file)
    assert [panel["id"] for panel in found] == list(range(1, len(found) + 1))
    taken = set()
    for panel in found:
        assert panel["title"]
        assert panel["type"] == "text" or panel["description"]
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, f"{panel['title']} covers another panel"
        taken |= cells


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_queries_ask_for_metrics_and_labels_of_the_schema(file: Path) -> None:
    for _, expr in queries(file):
        assert_in_schema(expr)


def filled_in(expr: str) -> str:
    """An expression as Grafana sends it."""
    every = expr.replace("$__rate_interval", "5s").replace("$__range", "1m")
    return re.sub(r"\$(instance|target|op|job)\b", ".*", every)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraper]:
    folder = tmp_path_factory.mktemp("scraped")
    (folder / "work").mkdir()
    config = 'window = "2s"\n' + harness.target(folder / "work")
    with (
        harness.running(folder, config) as agent,
        scraping(folder, agent.address or "") as scraper,
    ):
        learnt = "count(iosonde_slowdown_ratio) == 6 and count(rate(iosonde_ops_total[5s])) > 6"
        harness.wait_for("slowdowns of all operations", lambda: scraper.query(learnt), 60)
        yield scraper


@pytest.mark.service
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_query_is_answered(prometheus: Scraper, file: Path) -> None:
    for title, expr in queries(file):
        found = prometheus.query(filled_in(expr))
        assert found or title in EMPTY, f"{title}: {expr} is empty"


@pytest.mark.service
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_variable_has_values(prometheus: Scraper, file: Path) -> None:
    for one in json.loads(file.read_text())["templating"]["list"]:
        if one["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", one["query"]).groups()
            assert prometheus.ask(f"label/{label}/values", **{"match[]": metric}), one["name"]


def test_columns_of_the_table_of_runs_are_in_the_api(tmp_path: Path) -> None:
    machine = system(18)
    put_run(tmp_path, machine, healthy(machine))
    (asked,) = panels(FOLDER / "benchmarks.json")[0]["targets"]
    address = asked["url"].replace("${__from}", "0").replace("${__to}", "4102444800000")
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        answer = client.get(address)
    rows = answer.json()[asked["root_selector"]]
    assert rows
    assert all(column["selector"] in rows[0] for column in asked["columns"])
