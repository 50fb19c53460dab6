"""Pages that lead from a slow target to its reason: the event, the job, hosts and targets, this server."""

import json
import shutil
from pathlib import Path

import httpx2
import pytest

from benchmarks.truth.why.incidents import incident
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.why.links import Kind
from tests.e2e.conftest import visiting
from tests.kit.page.browser import AT_WORK, WORK, Visit, wait_until
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, NOW, SECOND

pytestmark = pytest.mark.service
SIZES = pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
EVIDENCE = ".evidence dd"
CHART = ".event-chart[data-loaded]"
HOSTS = 12
AT = "2026-09-05T00:30:00Z"
"""Within the incident."""
SICK, DRY = "n05", "/scratch"


@pytest.fixture(scope="module")
def hog(tmp_path_factory: pytest.TempPathFactory):
    """A server over an incident: one job's load made /work slow for a while."""
    made = incident(Kind.ONE_JOB, 11, tmp_path_factory.mktemp("hog"))
    options = {"clock": lambda: made.now_ns, "names": Pseudonyms(None)}
    with stores.running(made.root, **options) as (address, _):
        yield address, made


@pytest.fixture
def visit_hog(chromium, hog):
    yield from visiting(chromium, hog[0])


@pytest.fixture(scope="module")
def of_fleet(tmp_path_factory: pytest.TempPathFactory):
    """Twelve hosts watch three targets: one host is slow on all of them, one target for all hosts."""
    root = tmp_path_factory.mktemp("fleet")
    slow = [{"op": "data_read", "after": "15m", "multiply": 4.0}]
    targets = (stores.target(DRY, slow), stores.target("/home"), stores.target("/work"))
    stores.simulate(root, 25 * MINUTE, *targets)
    stores.say_it_runs(root, NOW - 2 * SECOND)
    first = root / "state" / stores.HOST
    for number in range(1, HOSTS):
        folder = root / "state" / f"n{number:02}"
        shutil.copytree(first, folder)
        for path in folder.glob("*.json"):
            state = json.loads(path.read_text()) | {"host": folder.name}
            if folder.name == SICK:
                state["state"] = "slow"
                for op in state["ops"]:
                    worse = {"slowdown": 6.0, "slowdown_lower": 5.0, "slowdown_upper": 7.0}
                    op.update(worse, state="slow", since_ns=NOW - 9 * MINUTE)
            path.write_text(json.dumps(state))
    with stores.running(root, clock=lambda: NOW) as (address, _):
        yield address


@pytest.fixture
def visit_fleet(chromium, of_fleet: str):
    yield from visiting(chromium, of_fleet)


@SIZES
def test_an_event_says_why_and_leads_on(
    visit_hog, hog, shots: Path, scheme: str, width: int
) -> None:
    address, made = hog
    at: Visit = visit_hog(
        f"#page=event&target=/work/OST0002&at={AT}",
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
    )
    page = at.page
    page.wait_for_selector(CHART)
    asked = {"target": "/work/OST0002", "zone": "UTC"}
    answer = httpx2.get(f"{address}/api/why", params=asked, timeout=60).json()
    assert page.locator("#event-title").text_content() == answer["sentence"]
    assert page.title() == f"{answer['sentence']} - iosonde"
    assert made.jobs[0] in answer["sentence"]
    shown = page.eval_on_selector_all(
        EVIDENCE, "all => all.map(d => [d.dataset.link, d.dataset.standing])"
    )
    assert shown == [[one["link"], one["standing"]] for one in answer["lines"]]
    assert page.locator("dt[data-standing='ruled out']").first.inner_text().endswith("ruled out")
    assert page.locator(".span-mark").count() == 1
    fact = answer["links"]["slowness"]["fact"]
    share = page.eval_on_selector(
        ".span-mark",
        "mark => { const [a, b] = [mark, mark.parentElement].map(e => e.getBoundingClientRect());"
        "return [(a.left - b.left) / b.width, a.width / b.width]; }",
    )
    length = fact["end_ns"] - fact["begin_ns"]
    assert share == pytest.approx([0.25, 0.5], abs=0.02), (
        f"{length / 6e10} min and half of it around"
    )
    assert at.overflow() == 0
    at.shot(shots, f"event-{width}-{scheme}")


def test_links_of_an_event_hold_their_times(visit_hog, hog) -> None:
    address, made = hog
    page = visit_hog("#page=event&target=/work&at=2026-09-05T00:30").page
    page.wait_for_selector(CHART)
    here = page.locator("[data-place=self]").get_attribute("href")
    assert here.startswith("#page=event&event=login1:/work/")
    page.locator("[data-place=job]").click()
    page.wait_for_selector(f"[data-beside='{made.jobs[0]}']")
    page.go_back()
    page.wait_for_selector(CHART)
    page.locator("[data-place=target]").click()
    page.wait_for_selector(".panels[data-loaded=true]")
    assert "2026-09-05 01:15:35 UTC" in page.locator(".view").first.inner_text()
    why = page.locator("a.event-row")
    wait_until("the events of that range", lambda: why.count() == 1)
    sentence = why.locator("span").first.inner_text()
    assert "slower than usual" in sentence
    why.click()
    page.wait_for_selector(CHART)
    assert page.url.partition("#")[2].startswith("page=event&event=login1:/work/")
    load = page.locator("[data-place=load]").get_attribute("href")
    page.goto(f"{address}/{load}")
    page.wait_for_selector(".load-body[data-loaded]")


def test_an_event_that_nobody_knows_is_an_error(visit_hog) -> None:
    at: Visit = visit_hog("#page=event&event=login1:/work/OST0000:slow-1788000000000000000")
    at.page.wait_for_selector(".event-page .error:not([hidden])")
    assert "there is no event" in at.page.locator(".event-page .error").inner_text()
    at.complaints.clear()  # the browser notes the 404


@SIZES
def test_a_job_of_the_scheduler_alone_has_a_page(
    visit_hog, hog, shots: Path, scheme: str, width: int
) -> None:
    address, made = hog
    (job,) = made.jobs
    size = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    at: Visit = visit_hog(f"#page=jobs&job={job}", **size)
    page = at.page
    page.wait_for_selector(f"[data-beside='{job}']")
    answer = httpx2.get(f"{address}/api/job?job={job}&zone=UTC", timeout=60).json()
    assert answer["scheduled"] is True
    assert page.locator(".job-sentence").text_content() == answer["sentence"]
    strips = page.locator(".while li")
    assert strips.count() == len(answer["storage"]) == 7
    slow = [one["target"] for one in answer["storage"] if one["stretches"]]
    assert slow == [f"/work/OST000{n}" for n in range(4)]
    assert page.locator(".while-bar span").count() == 4
    assert page.locator(".job-load p").first.text_content() == answer["load"]["sentence"]
    assert answer["load"]["share"] > 0.9
    assert at.overflow() == 0
    at.shot(shots, f"job-scheduled-{width}-{scheme}")
    page.locator(".while a").first.click()
    page.wait_for_selector(".panels[data-loaded=true]")
    assert "2026-09-05 00:13" in page.locator(".view").first.inner_text()


@SIZES
def test_hosts_and_targets_stand_in_a_grid(
    visit_fleet, of_fleet: str, shots: Path, scheme: str, width: int
) -> None:
    at: Visit = visit_fleet("", viewport={"width": width, "height": 900}, color_scheme=scheme)
    at.drawn()
    page = at.page
    status = httpx2.get(f"{of_fleet}/api/status").json()
    line = page.locator(".targets-summary")
    wait_until("the summary", lambda: line.inner_text() == status["summary"])
    assert status["summary"] == "3 targets seen from 12 hosts: 14 slow, 22 as usual"
    assert page.locator(".targets-fleet").inner_text() == status["fleet"]["sentence"] != ""
    hosts = page.locator(".matrix tbody th").all_inner_texts()
    assert hosts[0] == SICK
    assert len(hosts) == HOSTS
    assert page.locator(".matrix thead th").nth(1).inner_text() == DRY
    row = page.locator(f".matrix tr[data-host={SICK}] button").all_inner_texts()
    assert row == ["6.0x"] * 3
    column = page.locator(f".matrix button[data-target='{DRY}']")
    assert column.count() == HOSTS
    assert all(float(text[:-1]) > 3 for text in column.all_inner_texts())
    well = page.locator(f".matrix tr[data-host=n01] button[data-target='{WORK}']")
    assert 0.7 < float(well.inner_text()[:-1]) < 2
    colours = [
        one.evaluate("e => getComputedStyle(e).backgroundColor") for one in (well, column.first)
    ]
    assert colours[0] != colours[1]
    assert "from n01" in well.get_attribute("aria-label")
    well.click()
    title = page.locator("#chosen")
    wait_until("the chosen cell", lambda: title.inner_text() == f"{WORK} seen from n01")
    assert well.get_attribute("aria-pressed") == "true"
    assert at.overflow() == 0
    at.shot(shots, f"fleet-{width}-{scheme}")


def test_a_slow_card_asks_why_and_a_healthy_one_does_not(visit) -> None:
    page = visit(AT_WORK).drawn().page
    why = page.locator(".card-why:visible")
    assert why.count() == 1
    why.click()
    page.wait_for_selector(CHART)
    assert page.locator("#event-title").text_content().startswith(f"reads on {WORK} have been 3.")
    assert page.locator(".span-mark[data-open]").count() == 1, "it goes on"


def test_one_field_finds_targets_and_jobs(visit_hog, hog) -> None:
    page = visit_hog("#page=about").page
    field = page.get_by_label("Find targets and jobs")
    field.fill(hog[1].jobs[0])
    hits = page.locator(".search-hits a")
    wait_until("the job", lambda: hits.count() == 1 and "job" in hits.first.inner_text())
    field.fill("ost0003")
    wait_until(
        "the target", lambda: hits.count() == 1 and "/work/OST0003" in hits.first.inner_text()
    )
    field.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_until("its page", lambda: "target=%2Fwork%2FOST0003" in page.url)
    page.get_by_label("Find targets and jobs").fill("nothing like it")
    note = page.locator(".search-note")
    wait_until("a word about nothing", lambda: note.inner_text() == "No target and no job matches.")
    page.keyboard.press("Escape")
    assert page.locator(".search-hits").is_hidden()


@SIZES
def test_the_server_says_what_it_costs_and_what_words_mean(
    visit, still: str, shots: Path, scheme: str, width: int
) -> None:
    at: Visit = visit("#page=about", viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = at.page
    page.wait_for_selector(".about-page[data-loaded]")
    cost = httpx2.get(f"{still}/api/about/cost").json()
    assert page.locator(".about-sum").inner_text() == cost["sentence"]
    assert "2 probed targets: 24 operations/s" in cost["sentence"], "six operations twice a second"
    page.get_by_label("Search the glossary").fill("breaker")
    assert "closed while operations end in time" in page.locator(".glossary").inner_text()
    assert at.overflow() == 0
    at.shot(shots, f"about-{width}-{scheme}")


@pytest.mark.parametrize("days", ["90d", "1y"])
def test_a_year_is_in_reach(visit, days: str) -> None:
    at = visit(f"{AT_WORK}&range={days}").drawn()
    assert at.page.locator(f"input[name=range][value='{days}']").is_checked()
    assert int(at.panel("data_read")["windows"]) + int(at.panel("data_read")["learning"]) >= 1
