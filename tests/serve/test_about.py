"""What the server says of itself: what probes cost, the glossary."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from iosonde.serve.about.glossary import read_glossary
from iosonde.serve.app import create
from iosonde.weather.cost.answers import probe_cost, say_cost, say_costs
from tests.kit.samples import makers, stores

DOCS = Path(__file__).parents[2] / "docs"
FILES = {"pool": 100, "object_bytes": 1000, "block_bytes": 1_000_000, "file_bytes": 50_000_000}


def test_the_cost_is_what_the_settings_ask_for() -> None:
    cost = probe_cost(makers.state(**FILES, period_ns=2 * 10**9, budget={"ops_per_s": 9.0}))
    assert cost.ops_per_s == pytest.approx(3.0)
    assert cost.bytes_per_s == pytest.approx((2 * 1_000_000 + 2 * 1000) / 2)
    assert cost.stored_bytes == 50_000_000 + 100 * 1000
    assert say_cost(cost).endswith("each operation every 2s; at most 9 operations/s")
    assert say_costs([cost, cost]).startswith("2 probed targets: 6 operations/s")


def test_what_a_state_does_not_say_is_not_zero() -> None:
    cost = probe_cost(makers.state(ops=[], period_ns=None))
    assert (cost.ops_per_s, cost.bytes_per_s, cost.stored_bytes) == (None, None, None)
    assert say_cost(cost) == "its state does not say what it costs"
    assert say_costs([cost]) == ""


def test_only_probes_that_run_cost_something(tmp_path: Path) -> None:
    stores.simulate(tmp_path, 2 * stores.MINUTE, stores.target("/work"), stores.target("/home"))
    client = TestClient(create(tmp_path, clock=lambda: stores.NOW), base_url="http://127.0.0.1")
    assert client.get("/api/about/cost").json() == {
        "sentence": "",
        "total": 0,
        "probes": [],
    }
    stores.say_it_runs(tmp_path, stores.NOW)
    answer = TestClient(create(tmp_path), base_url="http://127.0.0.1").get("/api/about/cost").json()
    assert [one["target"] for one in answer["probes"]] == ["/home", "/work"]
    assert [one["ops_per_s"] for one in answer["probes"]] == [6.0, 6.0]
    page = TestClient(create(tmp_path), base_url="http://127.0.0.1").get(
        "/api/about/cost?limit=1&offset=1"
    )
    assert (page.json()["total"], page.json()["probes"]) == (2, answer["probes"][1:])
    assert answer["sentence"].startswith("2 probed targets: 12 operations/s")


def test_the_glossary_of_the_documentation_is_read_whole() -> None:
    sections = read_glossary(DOCS)["sections"]
    text = (DOCS / "glossary.md").read_text()
    assert [one["title"] for one in sections] == [
        line[3:] for line in text.splitlines() if line.startswith("## ")
    ]
    words = {one["word"]: one["meaning"] for section in sections for one in section["words"]}
    assert len(words) == sum(line.startswith("| **") for line in text.splitlines())
    assert words["baseline"].startswith("the expected latency")
    assert not any("**" in text or "](" in text for pair in words.items() for text in pair)


def test_no_glossary_where_the_page_was_not_built(tmp_path: Path) -> None:
    assert read_glossary(tmp_path) == {"sections": []}
