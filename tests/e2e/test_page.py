"""The page as a reader meets it: sentence, panels, themes, sizes, keyboard.

The server's clock stands still, so what is shown is known exactly. Screenshots are written to
``$IOSONDE_SCREENSHOTS`` (default: pytest's temporary folder).
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.kit.page.browser import AT_WORK, WORK, sentence, wait_until
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, NOW

pytestmark = pytest.mark.service

OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
SLOW = re.compile(r"^reads on /work are (\d\.\d)x slower than usual \((\d\.\d)-(\d\.\d)\)")


def test_the_page_says_the_sentence_that_the_api_says(visit, still: str) -> None:
    page = visit(AT_WORK).drawn().page
    card = page.locator(f'.card[data-target="{WORK}"]')
    shown = card.locator(".card-sentence").inner_text()
    assert shown == sentence(still, WORK)
    found = SLOW.match(shown)
    assert found, shown
    assert float(found[2]) <= 3.2 <= float(found[3])
    assert card.get_attribute("data-severity") == "slow"
    assert card.locator(".card-word").inner_text() == "slow"
    assert card.locator("svg[data-icon=slow]").count() == 1
    age = card.locator(".card-age").inner_text()
    assert re.fullmatch(r"measured [234] s ago from login2", age)
    assert page.locator("#spoken-sentence[aria-live=polite]").inner_text() == shown
    assert page.title() == f"{shown} - iosonde"


def test_six_panels_with_points_windows_and_strips(visit) -> None:
    at = visit(AT_WORK).drawn()
    for op in OPS:
        panel = at.panel(op)
        assert int(panel["points"]) >= 1000, "ten minutes, twice a second"
        assert int(panel["windows"]) >= 19, "windows of 30 s with a slowdown"
        assert at.colours(op) > 30, "the canvas is not blank"
        assert int(panel["slow"]) == (16 if op == "data_read" else 0), "8 minutes of 30 s"
    title = at.page.locator(".panel[data-op=md_read] h3").inner_text()
    assert title == "small reads", "the word of the sentences"
    chip = at.page.locator(".panel[data-op=data_read] .panel-factor").inner_text()
    assert re.fullmatch(r"slow \d\.\dx \(\d\.\d-\d\.\d\)", chip)


def test_no_number_looks_like_none(visit) -> None:
    at = visit(AT_WORK + "&range=1h").drawn()
    panel = at.panel("md_stat")
    assert int(panel["missing"]) >= 30, "nobody watched before the first probe"
    assert int(panel["learning"]) == 5
    deletes = at.panel("md_delete")
    assert int(deletes["windows"]) >= 15
    at.page.locator(".numbers summary").click()
    rows = at.page.locator(".numbers tbody tr")
    wait_until("the table", lambda: rows.count() >= 55)
    assert "not measured" in rows.last.inner_text()


def test_dragging_zooms_and_a_double_click_goes_back(visit) -> None:
    at = visit(AT_WORK).drawn()
    plot = at.page.locator(".panel[data-op=data_read] .u-over")
    box = plot.bounding_box()
    y = box["y"] + 50
    at.page.mouse.move(box["x"] + box["width"] * 0.3, y)
    at.page.mouse.down()
    at.page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=4)
    at.page.mouse.up()
    wait_until("the zoom", lambda: " to " in at.page.locator(".view").inner_text())
    assert at.page.locator(".live-word").inner_text() == "paused"
    wait_until("its points", lambda: 100 < int(at.panel("data_read")["points"]) < 600)
    plot.dblclick()
    wait_until("the way back", lambda: "the last 10 min" in at.page.locator(".view").inner_text())


def test_one_cursor_for_all_panels_and_a_tooltip_with_the_numbers(visit) -> None:
    at = visit(AT_WORK).drawn()
    box = at.page.locator(".panel[data-op=data_read] .u-over").bounding_box()
    at.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    at.page.wait_for_timeout(200)
    places = [int(at.panel(op)["cursor"]) for op in OPS]
    assert max(places) - min(places) < 2000, "ms"
    tip = at.page.locator(".panel[data-op=data_read] .tip")
    assert re.search(r"slow \d\.\dx \(\d\.\d-\d\.\d\)", tip.inner_text())
    assert re.search(r"n \d+ of \d+ due", tip.inner_text())
    at.page.wait_for_timeout(1500)
    assert tip.is_visible(), "it stays while the page goes on"
    assert at.page.locator(".tip:visible").count() == 1
    at.page.mouse.move(5, 5)
    at.page.wait_for_timeout(200)
    assert at.page.locator(".tip:visible").count() == 0


def test_the_keyboard_is_enough(visit) -> None:
    at = visit().drawn()
    card = at.page.locator(f'.card[data-target="{WORK}"]')
    card.focus()
    at.page.keyboard.press("Enter")
    wait_until("the choice", lambda: card.get_attribute("aria-pressed") == "true")
    at.page.locator("input[name=range][value='10m']").focus()
    at.page.keyboard.press("ArrowRight")
    view = at.page.locator(".view")
    wait_until("1 h", lambda: "the last 1 h in windows of 1 min" in view.inner_text())
    chart = at.page.locator(".panel[data-op=data_read] .panel-chart")
    chart.focus()
    at.page.keyboard.press("ArrowLeft")
    first = int(at.panel("data_read")["cursor"])
    at.page.keyboard.press("ArrowLeft")
    assert 55_000 < first - int(at.panel("data_read")["cursor"]) < 65_000, "one window of 1 min"
    spoken = at.page.locator("p[aria-live]").last.inner_text()
    assert re.match(r"reads, \d\d:\d\d.\d\d:\d\d UTC[^:]*: ", spoken)
    assert at.page.locator(".panel[data-op=data_read] .tip").is_visible()
    at.page.keyboard.press("Escape")
    assert at.panel("data_read")["cursor"] == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("size", "width"), [("narrow", 380), ("wide", 1600)])
def test_light_and_dark_narrow_and_wide(
    visit, shots: Path, scheme: str, size: str, width: int
) -> None:
    at = visit(AT_WORK, viewport={"width": width, "height": 900}, color_scheme=scheme).drawn()
    background = at.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
    assert brightness < 60 if scheme == "dark" else brightness > 200
    assert at.overflow() == 0
    columns = at.page.evaluate(
        "getComputedStyle(document.querySelector('.panels')).gridTemplateColumns.split(' ').length"
    )
    assert columns == (1 if size == "narrow" else 3)
    at.shot(shots, f"{size}-{scheme}")


def test_the_theme_button_beats_the_system(visit) -> None:
    at = visit(AT_WORK, color_scheme="light").drawn()
    button = at.page.get_by_role("button", name="Theme")
    light = at.page.evaluate("getComputedStyle(document.body).backgroundColor")
    button.click()
    assert button.inner_text() == "Theme: light"
    button.click()
    assert button.inner_text() == "Theme: dark"
    assert at.page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    at.page.reload()
    at.page.wait_for_selector(".card")
    assert at.page.locator("html").get_attribute("data-theme") == "dark"


def test_headings_and_names(visit) -> None:
    page = visit(AT_WORK).drawn().page
    assert page.locator("h1").all_inner_texts() == ["iosonde"]
    assert page.locator("h2").all_inner_texts() == [f"{WORK} seen from {stores.HOST}"]
    assert page.locator("h3").count() == 7, "six panels and the events"
    for button in page.get_by_role("button").all():
        assert button.inner_text().strip()
    page.locator(".legend summary").click()
    explained = page.locator(".legend dl").inner_text()
    for word in ("response time", "usual", "slowdown"):
        assert word in explained
    assert "7 d before" in explained
    assert "2x" in explained


def test_events_are_bracketed_where_they_were_and_lead_to_their_reason(visit, still: str) -> None:
    page = visit(f"{AT_WORK}&range=1h").drawn().page
    page.wait_for_selector(".event-label")
    span = {"from": (NOW - HOUR) // 10**6, "to": NOW // 10**6}
    asked = {**span, "host": stores.HOST, "target": WORK, "zone": "UTC"}
    events = httpx2.get(f"{still}/api/annotations", params=asked).json()["annotations"]
    assert {one["kind"] for one in events} == {"slow", "hang"}
    for op in OPS:
        of_op = [one for one in events if one["op"] == op]
        marks = page.locator(f".panel[data-op={op}] .span-mark:visible")
        assert marks.count() == len(of_op), op
        for mark, event in zip(marks.all(), of_op, strict=True):
            place = mark.evaluate(
                "mark => { const [a, b] = [mark, mark.closest('.u-over')].map(e => e.getBoundingClientRect());"
                "return [(a.left - b.left) / b.width, (a.right - b.left) / b.width]; }"
            )
            ends = [event["time"], event["timeEnd"] or span["to"]]
            wanted = [(one - span["from"]) / (span["to"] - span["from"]) for one in ends]
            assert place == pytest.approx(wanted, abs=0.012), event["text"]
            assert (mark.get_attribute("data-open") is not None) == (event["timeEnd"] is None)
            link = mark.get_by_role("link")
            assert link.text_content() == f"{event['kind']}: {event['text']}"
    page.locator(".panel[data-op=data_read] .event-label").click()
    page.wait_for_selector("#event-title")
    slow = next(one["id"] for one in events if one["op"] == "data_read")
    assert parse_qs(urlsplit(page.url).fragment)["event"] == [slow]


def test_an_event_longer_than_the_span_has_no_edges_and_others_no_mark(visit) -> None:
    page = visit(f"{AT_WORK}&from=2026-11-18T11:43:00Z&to=2026-11-18T11:45:00Z").drawn().page
    page.wait_for_selector(".event-label")
    assert page.locator(".span-mark:visible").count() == 1, "the hang came later"
    assert page.locator(".panel[data-op=data_read] .span-mark[data-cut][data-open]").count() == 1
