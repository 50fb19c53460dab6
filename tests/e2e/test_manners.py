"""Manners of every page: axe's rules, the keyboard alone, a sentence for every picture, files to keep.

One browser and one server over a store with something for every page.
"""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.e2e.conftest import visiting
from tests.kit.page.axe import grave
from tests.kit.page.browser import Visit
from tests.kit.page.whole_page import PAGES, furnish, serving_all

pytestmark = pytest.mark.service
CHARTS = "main [aria-roledescription=chart]"
SENTENCES = {
    "weather": ".card[data-target='/work'] .card-sentence",
    "job": ".umami-verdict p",
    "climate": ".climate-page .view",
    "load": ".load-page .view",
    "simulate": ".simulate-page .view",
}
"""Pages with charts of their own: where the sentence of the API stands."""
TABLES = {
    "weather": "pane,column,mark,name,begin,end,across,across_unit,value,lower,upper,unit,n",
    "job": "metric,label,unit,",
    "load": "begin,end,begin_ns,end_ns,name,mean_per_s,most_per_s",
    "run": "pane,column,mark,name,begin,end,",
    "climate": "file_system,motif,at,earliest,latest,at_ns,",
    "simulate": "client,first_tick,reads,",
}
"""Pages with charts to save: how their tables begin."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("everything")
    furnish(root, tmp_path_factory.mktemp("place"))
    with serving_all(root) as address:
        yield address


@pytest.fixture
def visit_all(chromium, everything: str):
    yield from visiting(chromium, everything)


def opened(visit_all, name: str, **context: object) -> Visit:
    path, ready = PAGES[name]
    at: Visit = visit_all(path, **context)
    at.page.wait_for_selector(ready)
    at.page.wait_for_timeout(200)
    return at


@pytest.mark.parametrize("name", list(PAGES))
def test_the_manners_of_a_page(visit_all, shots: Path, name: str) -> None:
    at = opened(visit_all, name)
    the_tab_key_reaches_everything(at)
    if name in SENTENCES:
        charts_are_read_with_the_sentence(at, name)
        arrow_keys_go_over_points(at)
    if name in TABLES:
        a_chart_is_saved(at, name)
    at.page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    for width in (1440, 390):
        at.page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            at.page.emulate_media(color_scheme=scheme)
            at.page.wait_for_timeout(150)
            assert grave(at.page) == [], f"{name} at {width} px, {scheme}"
            assert at.overflow() == 0, f"{name} at {width} px"
        at.shot(shots, f"manners-{name.replace(' ', '-')}-{width}-dark")


WALK = """() => {
    const seen = element => {
        const shown = element.type === "radio" ? element.nextElementSibling : element;
        const { outlineStyle, outlineWidth } = getComputedStyle(shown);
        return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    };
    const at = document.activeElement;
    if (at === null || at === document.body) return null;
    at.dataset.walked = "true";
    return { what: at.outerHTML.slice(0, 120), focus: seen(at) };
}"""
MISSED = """() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter(one => one.checkVisibility() && !one.disabled && one.dataset.walked !== "true")
    .filter(one => one.type !== "radio" || one.checked)
    .map(one => one.outerHTML.slice(0, 120))"""


def the_tab_key_reaches_everything(at: Visit) -> None:
    """And shows where it is."""
    for _ in range(200):
        at.page.keyboard.press("Tab")
        here = at.page.evaluate(WALK)
        if here is None:
            break
        assert here["focus"], f"no visible focus on {here['what']}"
    assert at.page.evaluate(MISSED) == []


SPOKEN = """() => [...document.querySelectorAll("main [aria-roledescription=chart]")].map(one => ({
    label: one.getAttribute("aria-label") ?? "",
    described: (one.getAttribute("aria-describedby") ?? "").split(" ")
        .map(id => document.getElementById(id)?.textContent ?? "").join(" "),
}))"""


def charts_are_read_with_the_sentence(at: Visit, name: str) -> None:
    sentence = at.page.locator(SENTENCES[name]).first.inner_text()
    assert len(sentence) > 15
    charts = at.page.evaluate(SPOKEN)
    assert charts
    for chart in charts:
        assert chart["label"]
        assert sentence in chart["label"] + chart["described"]


def arrow_keys_go_over_points(at: Visit) -> None:
    """And say what they stand on."""
    spoken = at.page.locator("main [role=status], main [aria-live=polite]")
    before = spoken.all_inner_texts()
    at.page.locator(CHARTS).last.focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowLeft"):
        at.page.keyboard.press(key)
    assert spoken.all_inner_texts() != before


def a_chart_is_saved(at: Visit, name: str) -> None:
    """As vectors, as pixels and as numbers."""
    menu = at.page.locator("details.save").first
    menu.locator("summary").focus()
    at.page.keyboard.press("Enter")

    def saved(form: str) -> bytes:
        with at.page.expect_download() as download:
            menu.get_by_text(form, exact=True).click()
        assert re.fullmatch(rf"iosonde-[\w.-]+\.{form.lower()}", download.value.suggested_filename)
        return download.value.path().read_bytes()

    picture = ElementTree.fromstring(saved("SVG"))
    tags = [element.tag.partition("}")[2] for element in picture.iter()]
    assert tags.count("path") > 20, "lines and text are vectors; many points may be pixels"
    pixels = saved("PNG")
    assert pixels.startswith(b"\x89PNG")
    assert int.from_bytes(pixels[16:20], "big") > 1000, "wide enough to print"
    table = saved("CSV").decode()
    assert table.startswith(TABLES[name])
    rows = list(csv.DictReader(io.StringIO(table)))
    assert rows
    if name == "weather":
        the_table_of_slow_reads(rows)
    at.page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert at.page.evaluate("document.activeElement.matches('.save summary')")


def the_table_of_slow_reads(rows: list[dict[str, str]]) -> None:
    """3 ms, then 3.2 times that; units, and instants with their offset."""
    assert {row["unit"] for row in rows} == {"s", "x", ""}
    assert {row["begin"][-6:] for row in rows} == {"+00:00"}
    medians = [float(row["value"]) for row in rows if row["name"] == "median" and row["value"]]
    assert 0.002 < min(medians) < 0.004
    assert 0.008 < max(medians) < 0.012


def test_the_headline_of_a_run_is_read_with_its_pictures(visit_all) -> None:
    at = opened(visit_all, "run")
    headline = at.page.locator(".run-headline").inner_text()
    for picture in at.page.locator(".run-picture img").all():
        assert picture.get_attribute("alt").lower().startswith(headline.lower())


def test_axe_sees_a_known_fault(visit_all) -> None:
    at = opened(visit_all, "runs")
    at.page.evaluate(
        """() => {
            const faint = document.createElement("p");
            faint.textContent = "faint";
            faint.style.cssText = "color: #eee; background: #fff";
            document.getElementById("main").append(document.createElement("button"), faint);
        }"""
    )
    rules = {line.partition(" ")[0] for line in grave(at.page)}
    assert {"button-name", "color-contrast"} <= rules


def test_the_picture_of_a_queue_follows_its_sliders(visit_all) -> None:
    at = opened(visit_all, "simulate")
    page = at.page
    words = page.locator(".simulate-page .view")
    assert "2,008 ticks at most" in words.inner_text(), (
        "500 operations of 4 ticks wait before a read"
    )
    slider = page.get_by_label("M: room in the queue")
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_function(
        "() => document.querySelector('.simulate-page .view').innerText.includes('8 ticks at most')"
    )
    page.wait_for_function("() => location.hash.includes('queue=1&')")
    assert slider.get_attribute("aria-valuetext") == "1 operations"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('queue=2&')")
    page.reload()
    page.wait_for_selector("[data-loaded] .trace h3")
    assert (
        page.get_by_label("M: room in the queue").get_attribute("aria-valuetext") == "2 operations"
    )
    for name in ("Processes that read and write", "Writers without end"):
        page.get_by_label(name).focus()
        page.keyboard.press("Home")
    page.wait_for_selector(".simulate-page .error:not([hidden])")
    assert "nobody uses the storage" in page.locator(".simulate-page .error").inner_text()
    at.complaints.clear()  # the browser notes the 400
