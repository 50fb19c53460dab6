"""The load in a real browser: columns of users over time, beside the slowdown of a target."""

import re
from pathlib import Path

import pytest

from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.e2e.conftest import visiting
from tests.kit.jobs import load_made
from tests.kit.page.browser import Visit
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, NOW

pytestmark = pytest.mark.service
LOAD = "#page=load"
BAND = f"{LOAD}&low=20000&high=100000"
READY = ".load-body[data-loaded]"
FAULTS = [
    {"op": "md_create", "after": "3h", "for": "1h", "multiply": 9.0},
]


@pytest.fixture(scope="module")
def of_load(tmp_path_factory: pytest.TempPathFactory):
    """A server over six hours of a probe and two days of load; user u59's job 777 did most in the slow hour."""
    root = tmp_path_factory.mktemp("load")
    stores.simulate(root, 6 * HOUR, stores.target("/work", FAULTS))
    made = load_made.history()
    options = {"loads": lambda: made, "clock": lambda: NOW, "names": Pseudonyms(None)}
    with stores.running(root, **options) as (address, _):
        yield address


@pytest.fixture
def visit_load(chromium, of_load: str):
    yield from visiting(chromium, of_load)


def at_hog(at: Visit) -> tuple[float, float]:
    """A place on the picture in the hour and column of the hog."""
    box = at.page.locator(".load-touch").bounding_box()
    span = [
        float(at.page.locator(".load-plot").get_attribute(f"data-{end}")) for end in ("from", "to")
    ]
    middle = sum(load_made.HOG_NS) / 2e6
    share = (span[1] - middle) / (span[1] - span[0])
    return box["x"] + 0.4 * box["width"], box["y"] + share * box["height"]


def colour(at: Visit, x: float, y: float) -> tuple[int, ...]:
    """The colour of the columns at a place of the window."""
    return tuple(
        at.page.eval_on_selector(
            ".load-canvas",
            """(canvas, [x, y]) => {
                const box = canvas.getBoundingClientRect();
                const copy = document.createElement("canvas");
                [copy.width, copy.height] = [canvas.width, canvas.height];
                const ctx = copy.getContext("2d");
                ctx.drawImage(canvas, 0, 0);
                const place = [(x - box.left) * canvas.width / box.width, (y - box.top) * canvas.height / box.height];
                return [...ctx.getImageData(Math.round(place[0]), Math.round(place[1]), 1, 1).data].slice(0, 3);
            }""",
            [x, y],
        )
    )


def ready(at: Visit) -> Visit:
    at.page.wait_for_selector(f"{READY}[data-slowdown]")
    at.page.wait_for_timeout(250)
    return at


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)]
)
def test_the_hog_stands_out_beside_the_slow_hour(
    visit_load, shots: Path, scheme: str, width: int
) -> None:
    looks = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    at = ready(visit_load(BAND, **looks))
    page = at.page
    assert page.locator(".load-page .view").inner_text() == (
        "The total was within 20,000 to 100,000 operations/s in 2.1% of the time; "
        "user u59 made more than 99% of the operations then."
    )
    x, y = at_hog(at)
    orange = {"light": (196, 85, 0), "dark": (255, 157, 69)}[scheme]
    if width == 1440:
        assert colour(at, x, y) == orange
    page.mouse.move(x, y)
    page.wait_for_function(
        "() => document.querySelector('.load-reading').innerText.includes('777')"
    )
    reading = page.locator(".load-reading").inner_text()
    if width == 1440:
        assert re.search(r"user u59: 40 k/s.*; slow on /work: creates [89]", reading), reading
        assert "job 777 (hog, 2 nodes, 40 k/s)" in reading
    assert at.overflow() == 0
    at.shot(shots, f"load-{width}-{scheme}")


def test_a_range_of_totals_is_marked_by_dragging_and_by_keys(visit_load) -> None:
    at = ready(visit_load(LOAD))
    page = at.page
    assert "made" in page.locator(".load-page .view").inner_text()
    box = page.locator(".load-totals-draw").bounding_box()
    middle = box["y"] + 25
    page.mouse.move(box["x"] + 0.9 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.95 * box["width"], middle, steps=4)
    page.mouse.move(box["x"] + 0.998 * box["width"], middle, steps=4)
    page.mouse.up()
    page.wait_for_function("() => location.hash.includes('high=')")
    page.wait_for_function(
        "() => document.querySelector('.load-page .view').innerText.includes('user u59 made')"
    )
    low = float(re.search(r"low=([\d.]+)", page.url)[1])
    page.get_by_label("Lowest total of the range").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => Number(/low=([\\d.]+)/.exec(location.hash)[1]) < {low}")
    page.get_by_role("button", name="No range").click()
    page.wait_for_function("() => !location.hash.includes('low=')")
    page.go_back()
    page.wait_for_function("() => location.hash.includes('low=')")


def test_zoom_and_pan_are_in_the_address_and_back_undoes_them(visit_load) -> None:
    at = ready(visit_load(LOAD))
    page = at.page
    page.locator(".load-touch").focus()
    for _ in range(3):
        before = page.url
        page.keyboard.press("+")
        page.wait_for_function(f"() => location.href !== {before!r}")
    assert "from=2026-11-1" in page.url, "instants are absolute"
    first = page.url
    x = at_hog(at)[0]
    page.mouse.move(x, 400)
    page.mouse.down()
    page.mouse.move(x, 300, steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => location.href !== {first!r}")
    length = (
        "() => { const p = document.querySelector('.load-plot').dataset; return p.to - p.from; }"
    )
    shorter = page.evaluate(length)
    assert shorter < 2 * 86_400_000 * 0.25
    panned = page.url
    page.keyboard.press("Home")
    page.wait_for_function(f"() => ({length})() > 1e8 && location.href !== {panned!r}")
    page.go_back()
    page.wait_for_function(f"() => Math.abs(({length})() - {shorter}) < 2")
    for _ in range(40):
        page.keyboard.press("+")
    page.wait_for_function(f"() => ({length})() <= 1000.5")
    ready(at)
    assert page.locator(".load-page .error").is_hidden()
    seconds = page.locator(".load-when").inner_text()
    assert re.search(r"\d\d:\d\d:\d\d .*to .* \d\d:\d\d:\d\d", seconds), seconds


def test_keys_go_over_columns_and_lead_to_the_job(visit_load) -> None:
    at = ready(visit_load(f"{BAND}&by=job"))
    page = at.page
    page.mouse.move(*at_hog(at))
    page.locator(".load-touch").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    reading = page.locator(".load-reading")
    assert "job 777: 40 k/s" in reading.inner_text()
    page.keyboard.press("ArrowRight")
    assert "job 777" not in reading.inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "() => document.querySelector('.load-reading').innerText.includes('u59')"
    )
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => location.hash.includes('page=jobs') && location.hash.includes('777')"
    )
    at.complaints.clear()  # the store has no such job: the browser notes the 404
    label = "() => document.querySelector('.load-touch')?.getAttribute('aria-label') ?? ''"
    page.go_back()
    page.wait_for_function(f"() => ({label})().includes('job 777 made')", timeout=5000)


def test_the_same_as_table_and_cells(visit_load) -> None:
    at = ready(visit_load(BAND))
    page = at.page
    page.get_by_text("The columns as a table").click()
    first = page.locator(".load-page tbody tr").first
    assert first.locator("th").inner_text() == "u59"
    assert "\u25b2" in first.inner_text()
    page.locator(".save summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="its cells as CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "begin,end,begin_ns,end_ns,name,mean_per_s,most_per_s"
    assert any(",u59,40000," in line for line in lines)


def test_without_webgl_the_sentence_and_the_table_stay(visit_load) -> None:
    at = visit_load("")
    at.page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) "
        "{ return kind === 'webgl2' ? null : get.call(this, kind, ...more); };"
    )
    at.page.goto(f"{at.address}/{LOAD}")
    at.page.reload()
    ready(at)
    assert "no WebGL 2" in at.page.locator(".load-fallback").inner_text()
    assert at.page.locator(".load-page tbody tr").count() > 5


def test_a_store_without_loads_says_what_to_import(
    chromium, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with stores.running(tmp_path_factory.mktemp("empty")) as (address, _):
        for opening in visiting(chromium, address):
            page = opening(LOAD).page
            page.wait_for_selector("text=Import what nodes and your scheduler recorded")
            assert page.locator(".load-body").is_hidden()
