"""Benchmark runs in a real browser: the list, one run, two of them."""

from pathlib import Path

import pytest

from tests.e2e.conftest import visiting
from tests.kit.page.browser import Visit
from tests.kit.samples import stores
from tests.serve.test_runs import root

pytestmark = pytest.mark.service
RUNS = "#page=runs"
__all__ = ["root"]


@pytest.fixture(scope="module")
def of_runs(root: Path):
    """A server over two bandwidth runs and three metadata runs."""
    with stores.running(root) as (address, _):
        yield address


@pytest.fixture
def visit_runs(chromium, of_runs: str):
    yield from visiting(chromium, of_runs)


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)]
)
def test_a_run_is_found_and_shown(visit_runs, shots: Path, scheme: str, width: int) -> None:
    at: Visit = visit_runs(RUNS, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = at.page
    page.wait_for_selector(".runs-list a")
    assert page.locator(".runs-list .list-count").inner_text() == "5 runs"
    page.get_by_label("Benchmark", exact=True).select_option("bandwidth")
    page.wait_for_function("() => document.querySelectorAll('.runs-list a').length === 2")
    page.locator("[data-run=slow-ost]").first.click()
    page.wait_for_selector(".job [data-run=slow-ost] .run-headline[data-slow]")
    assert "OST0003 is slow" in page.locator(".run-view").inner_text()
    page.wait_for_function("() => document.querySelector('.run-picture img').naturalWidth > 100")
    assert at.overflow() == 0
    at.shot(shots, f"runs-bandwidth-{width}-{scheme}")
    page.get_by_label("Benchmark", exact=True).select_option("metadata")
    page.wait_for_function("() => document.querySelectorAll('.runs-list a').length === 3")
    page.locator(".runs-list a").nth(1).click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.run-picture img')].filter(one => one.naturalWidth > 100).length === 2"
    )
    alt = page.locator(".run-picture img").first.get_attribute("alt")
    assert len(alt) > 10, "a picture says what it shows"
    assert at.overflow() == 0
    at.shot(shots, f"runs-metadata-{width}-{scheme}")


def test_two_runs_stand_beside_their_verdict(visit_runs, shots: Path) -> None:
    at: Visit = visit_runs(f"{RUNS}&run=slow-ost")
    page = at.page
    page.get_by_label("Compare with").select_option("healthy")
    page.wait_for_selector(".run-verdict")
    assert "against=healthy" in page.url
    assert page.locator("#run-title").inner_text() == "B as seen from A"
    assert "would have been seen" in page.locator(".run-verdict").inner_text()
    assert page.locator(".run-sides > section").count() == 2
    at.shot(shots, "runs-compared")
    assert page.locator(".run-sides .run-picture").count() == 2
    page.go_back()
    page.wait_for_selector(".run-verdict", state="detached")
    assert page.locator(".run-picture").count() == 1


def test_a_run_that_is_not_there_is_told(visit_runs) -> None:
    at: Visit = visit_runs(f"{RUNS}&run=nobody")
    at.page.wait_for_selector(".runs-page .error:not([hidden])")
    assert "there is no run 'nobody'" in at.page.locator(".runs-page .error").inner_text()
    at.complaints.clear()  # the browser notes the 404
