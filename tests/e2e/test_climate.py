"""Climates in a real browser."""

import threading
from pathlib import Path

import pytest
from playwright.sync_api import Route

from iosonde.model.jobs import JobTable
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.e2e.conftest import visiting
from tests.kit.jobs.climates_made import together
from tests.kit.page.browser import Visit
from tests.kit.samples import stores

pytestmark = pytest.mark.service
CLIMATE = "#page=climate"
READY = "[data-loaded=true] .climate-dots"
MADE = together()
CHANGED = ("one", "two", "three")


@pytest.fixture(scope="module")
def of_climate(tmp_path_factory: pytest.TempPathFactory):
    """A server over a simulated year: shared reads lose a third on three file systems, writes go on as ever."""
    root = tmp_path_factory.mktemp("climate")
    stores.simulate(root, 5 * stores.MINUTE, stores.target("/work"))
    with stores.running(
        root, jobs=lambda: MADE, names=Pseudonyms(None), clock=lambda: stores.NOW
    ) as (address, _):
        yield address


@pytest.fixture
def visit_climate(chromium, of_climate: str):
    yield from visiting(chromium, of_climate)


def pane(place: str, motif: str = "ior shared read") -> str:
    return f"[data-file-system='{place}'] [data-motif='{motif}']"


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 400), ("light", 400), ("dark", 1720)]
)
def test_what_changed_is_drawn_and_said(
    visit_climate, shots: Path, scheme: str, width: int
) -> None:
    at: Visit = visit_climate(
        CLIMATE, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page = at.page
    page.wait_for_selector(READY)
    assert page.locator(".climate-page .view").inner_text() == "3 lasting changes in 5 series"
    for place in CHANGED:
        assert page.locator(f"{pane(place)} .climate-median").count() == 2
        assert page.locator(f"{pane(place)} .climate-arrow[data-change=fell]").count() == 1
    still = pane("one", "hacc fpp write")
    assert page.locator(f"{still} .climate-median").count() == 1
    assert page.locator(f"{still} .climate-span").count() == 0
    dots = page.locator(f"{pane('one')} .climate-dots").get_attribute("d")
    there = (MADE.file_system == "one") & (MADE.motif == "ior shared read")
    assert dots.count("M") == there.sum()
    event = page.locator(".climate-event")
    assert event.count() == 1
    assert "ior shared read fell to 0.6" in event.inner_text()
    event.click()
    page.wait_for_selector(f"{pane('two')}[data-event=changed]")
    assert page.locator(f"{still}[data-event=steady]").count() == 1
    assert "on=2027-03-1" in page.url
    assert page.locator(".climate-more li").count() >= 3
    assert at.overflow() == 0
    at.shot(shots, f"climate-{width}-{scheme}")


def test_a_run_leads_to_its_job_and_back(visit_climate) -> None:
    at: Visit = visit_climate(CLIMATE)
    page = at.page
    page.wait_for_selector(READY)
    page.locator(f"{pane('one')} .climate-draw").focus()
    reading, link = (
        page.locator(".climate-reading [role=status]"),
        page.locator(".climate-reading a"),
    )
    page.keyboard.press("ArrowRight")
    there = (MADE.file_system == "one") & (MADE.motif == "ior shared read")
    first, last = (MADE.job_id[there][i] for i in (0, -1))
    assert link.inner_text() == f"job {first}"
    assert reading.inner_text().startswith("ior shared read on one, 2026-10-1")
    assert "of its peak; from 2026-10-1" in reading.inner_text()
    page.keyboard.press("PageDown")
    assert ", 2027-03-1" in reading.inner_text()
    page.keyboard.press("End")
    assert link.inner_text() == f"job {last}"
    page.keyboard.press("Escape")
    assert link.is_hidden()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-job='{first}']")
    title = page.locator("#job-title").inner_text()
    assert title.startswith(f"Job {first}, 2026-10-1")
    assert title.endswith(": ior shared read on one")
    page.get_by_role("link", name="The climate of such jobs").click()
    page.wait_for_selector(READY)
    assert page.locator(".climate-pane").count() == 1
    assert page.get_by_label("File system").input_value() == "=one"
    assert page.get_by_label("Motif").input_value() == "=ior shared read"
    page.locator(".climate-draw").click(position={"x": 300, "y": 40})
    page.wait_for_selector("[data-job]")


def test_pickers_are_in_the_address(visit_climate) -> None:
    at: Visit = visit_climate("#/climate?file_system=one")
    page = at.page
    page.wait_for_selector(READY)
    assert page.locator(".climate-place").count() == 1
    page.get_by_label("Motif").select_option("hacc fpp write")
    page.wait_for_function("() => document.querySelectorAll('.climate-pane').length === 1")
    assert "No lasting change was found" in page.locator(".climate-events").inner_text()
    page.get_by_label("Before this day (UTC)").fill("2027-02-01")
    page.wait_for_function("() => location.hash.includes('until=2027-02-01')")
    page.get_by_role("link", name="All jobs").click()
    page.wait_for_function("() => document.querySelectorAll('.climate-pane').length === 5")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.climate-pane').length === 1")
    assert page.get_by_label("Before this day (UTC)").input_value() == "2027-02-01"
    page.get_by_role("link", name="Now", exact=True).click()
    at.drawn()
    assert page.locator(".climate-page").count() == 0


def test_two_events_of_one_day_are_two(visit_climate) -> None:
    """Rare: changes of one series whose intervals overlap. The server's answer is given its event twice."""
    at: Visit = visit_climate()
    page = at.page

    def twice(route: Route) -> None:
        answer = route.fetch()
        climate = answer.json()
        climate["events"] = climate["events"] * 2
        route.fulfill(response=answer, json=climate)

    page.route("**/api/climate*", twice)
    page.evaluate("() => { location.hash = '#page=climate'; }")
    page.wait_for_selector(READY)
    first, second = page.locator(".climate-event").all()
    second.click()
    page.wait_for_selector("li:nth-child(2) > [aria-expanded=true]")
    assert first.get_attribute("aria-expanded") == "false"
    assert page.url.endswith(".2")
    first.click()
    page.wait_for_selector("li:nth-child(1) > [aria-expanded=true]")
    first.click()
    page.wait_for_function("() => !document.querySelector('.climate-event[aria-expanded=true]')")
    assert "on=" not in page.url


def test_files_have_names(visit_climate) -> None:
    at: Visit = visit_climate(f"{CLIMATE}&file_system=one")
    page = at.page
    page.wait_for_selector(READY)
    page.locator(".save summary").click()
    for link, name in (
        ("the picture as SVG", "iosonde-climate-one.svg"),
        ("the picture as PNG", "iosonde-climate-one.png"),
        ("its changes as CSV", "iosonde-climate-one.csv"),
    ):
        with page.expect_download() as download:
            page.get_by_role("link", name=link).click()
        assert download.value.suggested_filename == name
        assert download.value.path().stat().st_size > 100
    page.goto(f"{at.address}/#page=jobs&job=12")
    page.wait_for_selector("[data-job='12']")
    page.locator(".save summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="its records as CSV").click()
    assert download.value.suggested_filename == "iosonde-umami-12.csv"
    assert download.value.path().read_text().startswith("metric,label,unit,")


def test_the_same_as_a_table_and_in_words(visit_climate) -> None:
    at: Visit = visit_climate(CLIMATE)
    page = at.page
    page.wait_for_selector(READY)
    page.get_by_text("The changes as a table").click()
    rows = page.locator(".numbers tbody tr")
    assert rows.count() == 3
    cells = rows.first.locator("th, td").all_inner_texts()
    assert cells[0].startswith("2027-03-1")
    assert cells[3] == "ior shared read"
    assert cells[6].startswith("0.6")
    page.get_by_text("The climates in words").click()
    assert "one: " in page.locator(".climate-words").inner_text()


def test_what_nobody_ran_is_told(visit_climate) -> None:
    at: Visit = visit_climate(f"{CLIMATE}&motif=chess")
    page = at.page
    page.wait_for_selector(".climate-page .error:not([hidden])")
    assert "no job has the motif 'chess'" in page.locator(".climate-page .error").inner_text()
    assert page.get_by_label("Motif").input_value() == "=chess"
    at.complaints.clear()  # the browser notes the 404
    page.get_by_role("link", name="All jobs").click()
    page.wait_for_selector(READY)
    assert page.locator(".climate-page .error").is_hidden()


def test_it_says_that_it_works_and_that_there_are_no_jobs(
    chromium, tmp_path_factory: pytest.TempPathFactory
) -> None:
    go_on = threading.Event()

    def slow() -> JobTable:
        assert go_on.wait(30)
        return MADE

    with stores.running(tmp_path_factory.mktemp("slow"), jobs=slow, names=Pseudonyms(None)) as (
        address,
        _,
    ):
        for opening in visiting(chromium, address):
            page = opening(CLIMATE).page
            page.wait_for_selector(".climate-status:has-text('Working')")
            assert page.locator("[aria-busy=true]").count() == 1
            go_on.set()
            page.wait_for_selector(READY)
            assert page.locator(".climate-status").inner_text() == ""
    with stores.running(tmp_path_factory.mktemp("empty")) as (address, _):
        for opening in visiting(chromium, address):
            page = opening(CLIMATE).page
            page.wait_for_selector("text=There are no jobs yet")
            assert page.get_by_label("Motif").is_hidden()
