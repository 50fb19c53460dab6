"""Which target is seen first, which span, and in whose time: order, summary, search, links, ranges, UTC."""

import re
from pathlib import Path

import pytest

from tests.e2e.conftest import visiting
from tests.kit.page.browser import AT_WORK, SCRATCH, WORK, wait_until
from tests.kit.samples import stores

pytestmark = pytest.mark.service
SLOW_HOMES = 3
BERLIN = {"timezone_id": "Europe/Berlin"}


@pytest.fixture(scope="module")
def of_many(tmp_path_factory: pytest.TempPathFactory):
    """A server over nine targets, the fourth of which is slow."""
    root = tmp_path_factory.mktemp("many")
    slow = [{"op": "data_read", "after": "9m", "multiply": 4.0}]
    homes = (stores.target(f"/home{i}", slow if i == SLOW_HOMES else []) for i in range(9))
    stores.simulate(root, 12 * stores.MINUTE, *homes)
    stores.say_it_runs(root, stores.NOW - 2 * stores.SECOND)
    with stores.running(root, clock=lambda: stores.NOW) as (address, _):
        yield address


@pytest.fixture
def visit_many(chromium, of_many: str):
    yield from visiting(chromium, of_many)


def test_the_worst_target_comes_first_and_a_line_says_how_many(visit) -> None:
    page = visit().drawn().page
    cards = page.locator(".card")
    assert cards.evaluate_all("cards => cards.map(c => c.dataset.target)") == [WORK, SCRATCH]
    assert page.locator(".targets-summary").inner_text() == "2 targets: 1 slow, 1 as usual"
    assert page.get_by_label("Search targets").is_hidden(), "two need no search"


def test_targets_are_searched(visit_many) -> None:
    page = visit_many().drawn().page
    first = page.locator(".card").first
    assert first.get_attribute("data-target") == f"/home{SLOW_HOMES}"
    line = page.locator(".targets-summary")
    assert line.inner_text() == "9 targets: 1 slow, 8 as usual"
    page.get_by_label("Search targets").fill("login2 home7")
    wait_until("one card", lambda: page.locator(".card:visible").count() == 1)
    assert line.inner_text() == "9 targets: 1 slow, 8 as usual; 1 shown"
    page.get_by_label("Search targets").fill("")
    wait_until("all cards", lambda: page.locator(".card:visible").count() == 9)


def test_a_link_to_a_span_says_when_and_shows_the_same(visit) -> None:
    at = visit(AT_WORK).drawn()
    link = at.page.locator(".view-link").get_attribute("href")
    found = re.search(
        r"from=(2026-11-18T\d\d:\d\d:\d\d)\.\d+Z&to=(2026-11-18T\d\d:\d\d:\d\d)", link
    )
    assert found, link
    at.page.locator(".view-link").click()
    view = at.page.locator(".view")
    wait_until("the span", lambda: " to " in view.inner_text())
    shown = view.inner_text()
    assert found[1].replace("T", " ") in shown
    assert at.page.locator(".live-word").inner_text() == "paused"
    other = visit(link).drawn()
    assert other.page.locator(".view").inner_text() == shown
    assert other.panel("data_read")["slow"] == at.panel("data_read")["slow"]


@pytest.mark.parametrize(("days", "window"), [("7d", "1 h"), ("30d", "4 h")])
def test_weeks_are_in_reach(visit, days: str, window: str) -> None:
    at = visit(AT_WORK + f"&range={days}").drawn()
    assert f"in windows of {window}" in at.page.locator(".view").inner_text()
    labels = at.page.locator(f"input[name=range][value='{days}']")
    assert labels.is_checked()
    assert at.colours("data_read") > 5


def test_times_are_local_or_utc_and_say_which(visit) -> None:
    at = visit(AT_WORK, **BERLIN).drawn()
    view, button = at.page.locator(".view"), at.page.get_by_role("button", name="Times")
    assert view.inner_text().endswith("times are UTC+1")
    assert button.inner_text().startswith("Times: local (UTC+")
    local = at.page.locator(".card-sentence").first.inner_text()
    button.click()
    wait_until("UTC", lambda: view.inner_text().endswith("times are UTC"))
    assert at.page.get_by_role("button", name="Times").inner_text() == "Times: UTC"
    hour = int(re.search(r"since (\d\d):", at.page.locator(".card-sentence").first.inner_text())[1])
    assert int(re.search(r"since (\d\d):", local)[1]) == hour + 1, "the server's words follow"
    at.page.get_by_role("button", name="Times").click()
    wait_until("local", lambda: view.inner_text().endswith("times are UTC+1"))


@pytest.mark.parametrize("width", [390, 1440])
def test_many_targets_fit(visit_many, shots: Path, width: int) -> None:
    at = visit_many(viewport={"width": width, "height": 900}).drawn()
    assert at.overflow() == 0
    at.shot(shots, f"many-{width}")
