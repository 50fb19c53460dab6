"""Jobs and their diagrams in a real browser."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.e2e.conftest import visiting
from tests.kit.jobs.jobs_made import simulated
from tests.kit.page.browser import Visit
from tests.kit.samples import stores

pytestmark = pytest.mark.service
JOBS = "#page=jobs"
READY = "[data-job='{}'] .umami-star"


@pytest.fixture(scope="module")
def of_jobs(tmp_path_factory: pytest.TempPathFactory):
    """A server over thirty simulated jobs; the last knows no MDS CPU, the radius has gaps."""
    table = simulated()
    busy, radius = table.metrics["mds_cpu_mean_percent"], table.metrics["radius_max_hops"]
    busy[-1] = np.nan
    radius[3::4] = np.nan
    root = tmp_path_factory.mktemp("jobs")
    stores.simulate(root, 5 * stores.MINUTE, stores.target("/work"))
    with stores.running(
        root, jobs=lambda: table, names=Pseudonyms(None), clock=lambda: stores.NOW
    ) as (address, _):
        yield address


@pytest.fixture
def visit_jobs(chromium, of_jobs: str):
    yield from visiting(chromium, of_jobs)


def opened(at: Visit, job: str) -> Visit:
    at.page.locator(".list-items a", has=at.page.locator(f"b:text-is('{job}')")).click()
    at.page.wait_for_selector(READY.format(job))
    return at


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_job_is_found_and_its_diagram_drawn(
    visit_jobs, shots: Path, scheme: str, width: int
) -> None:
    at: Visit = visit_jobs(JOBS, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = at.page
    page.wait_for_selector(".list-items a")
    assert page.locator(".list-count").inner_text() == "30 jobs"
    page.get_by_label("Search jobs").fill("work 3")
    page.wait_for_function("() => document.querySelectorAll('.list-items a').length === 4")
    opened(at, "30")
    assert (
        page.locator("#job-title").inner_text()
        == "Job 30, 2026-11-09 00:00 UTC: ior shared write on work"
    )
    roles = page.eval_on_selector_all(
        ".umami-row[data-metric]",
        "rows => Object.fromEntries(rows.map(r => [r.dataset.metric, r.dataset.role]))",
    )
    assert roles["fraction_of_peak_ratio"] == roles["cf_bandwidth_ratio"] == "bad"
    assert roles["mds_cpu_mean_percent"] == "missing"
    assert roles["radius_max_hops"] == "good"
    assert page.locator(".umami-class").first.inner_text() == "-- bad", "never a colour alone"
    crosses = page.locator("[data-metric=radius_max_hops] .umami-cross").get_attribute("d")
    assert crosses.count("M") == 2 * 22, "29 runs, 7 of them without a value"
    fill = page.locator("[data-metric=cf_bandwidth_ratio] .umami-star").evaluate(
        "e => getComputedStyle(e).fill"
    )
    assert fill == {"light": "rgb(196, 22, 28)", "dark": "rgb(255, 98, 100)"}[scheme]
    assert at.overflow() == 0
    at.shot(shots, f"jobs-{width}-{scheme}")


def test_keys_go_from_run_to_run(visit_jobs) -> None:
    at: Visit = visit_jobs(JOBS)
    page = at.page
    page.wait_for_selector(".list-items a")
    page.locator(".list-items a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(READY.format("30"))
    page.locator("[data-metric=cf_bandwidth_ratio] .umami-draw").focus()
    reading = page.locator(".umami-reading")
    page.keyboard.press("ArrowRight")
    assert (
        reading.inner_text() == "coverage factor (bandwidth), 2026-11-09 00:00 UTC: 0.68 (the job)"
    )
    page.keyboard.press("ArrowLeft")
    assert "2026-11-08 00:00" in reading.inner_text()
    page.keyboard.press("Home")
    assert "2026-10-11 00:00" in reading.inner_text()
    page.keyboard.press("Escape")
    assert reading.inner_text().strip() == ""


def test_an_address_leads_back_and_forth(visit_jobs) -> None:
    at: Visit = visit_jobs(f"{JOBS}&job=12&history=all")
    page = at.page
    page.wait_for_selector(READY.format("12"))
    assert "within 29 other runs" in page.locator(".job .view").inner_text()
    page.get_by_role("link", name="earlier runs").click()
    page.wait_for_function(
        "() => document.querySelector('.job .view').innerText.includes('11 earlier')"
    )
    page.get_by_role("link", name="Now", exact=True).click()
    at.drawn()
    assert page.locator(".jobs-page").count() == 0
    page.go_back()
    page.wait_for_selector(READY.format("12"))
    assert page.locator(".panels").count() == 0


def test_a_job_that_is_not_there_is_told(visit_jobs) -> None:
    at: Visit = visit_jobs(f"{JOBS}&job=4711")
    at.page.wait_for_selector(".job .error:not([hidden])")
    assert "there is no job '4711'" in at.page.locator(".job .error").inner_text()
    at.complaints.clear()  # the browser notes the 404


@pytest.fixture
def visit_twice(chromium, tmp_path: Path):
    """A server over jobs of which 77 has two runs."""
    table = simulated()
    ids = table.job_id.copy()
    ids[[4, 29]] = "77"
    twice = replace(table, job_id=ids)
    with stores.running(
        tmp_path, jobs=lambda: twice, names=Pseudonyms(None), clock=lambda: stores.NOW
    ) as (address, _):
        yield from visiting(chromium, address)


def test_a_job_of_several_runs_offers_them(visit_twice) -> None:
    page = visit_twice("#page=jobs&job=77").page
    page.wait_for_selector(".run-choice a")
    assert page.locator("#job-title").inner_text() == "Job 77"
    assert "2 runs" in page.locator(".job .view").inner_text()
    assert page.locator(".job .error").is_hidden()
    links = page.locator(".run-choice a")
    assert links.count() == 2
    assert "2026-11-09 00:00 UTC" in links.first.inner_text(), "the newest first"
    links.first.click()
    page.wait_for_selector("[data-job='77'] .umami-star")
    assert page.locator("#job-title").inner_text().startswith("Job 77")
    assert "2026-11-09" in page.locator("#job-title").inner_text()


@pytest.fixture
def visit_strange(chromium, tmp_path: Path):
    """A server over jobs with two columns that nobody has described."""
    table = simulated()
    strange = {f"strange_{n}": np.arange(len(table.job_id), dtype=float) for n in (1, 2)}
    table = replace(table, metrics=table.metrics | strange)
    with stores.running(
        tmp_path, jobs=lambda: table, names=Pseudonyms(None), clock=lambda: stores.NOW
    ) as (address, _):
        yield from visiting(chromium, address)


def test_notes_on_the_data_are_folded_until_somebody_asks(visit_strange) -> None:
    at: Visit = visit_strange(f"{JOBS}&job=30")
    at.page.wait_for_selector(READY.format("30"))
    note = at.page.locator(".umami-verdict li", has_text="2 columns without a description")
    assert note.count() == 1
    assert not note.is_visible()
    at.page.locator(".umami-verdict summary").click()
    assert note.is_visible()
