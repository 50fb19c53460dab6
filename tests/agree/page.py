"""What the page in a real browser says of each target of a store."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Browser

from iosonde.model.units import iso_time
from tests.kit.page.browser import Visit

_READ = """() => {
    const text = (place, of) => (place.querySelector(of)?.innerText ?? "").trim();
    const every = (of, read) => [...document.querySelectorAll(of)].map(read);
    return {
        cards: every(".card", (card) => ({
            ...card.dataset,
            word: text(card, ".card-word"),
            sentence: text(card, ".card-sentence"),
            why: card.parentElement.querySelector(".card-why")?.hidden === false,
            pressed: card.getAttribute("aria-pressed") === "true",
            chips: Object.fromEntries(
                [...card.querySelectorAll(".chip")].map((chip) => [chip.dataset.op, text(chip, "b")]),
            ),
        })),
        cells: every("td button[data-host]", (cell) => ({ ...cell.dataset, label: cell.ariaLabel })),
        panels: Object.fromEntries(every(".panel", (panel) => [panel.dataset.op, {
            chip: text(panel, ".panel-factor"),
            bad: panel.querySelector(".panel-factor").dataset.bad !== undefined,
            when: text(panel, ".panel-when"),
        }])),
        events: every(".event-items li", (item) => ({
            kind: item.dataset.kind,
            text: item.querySelector(".event-row").children[1].innerText,
            why: item.querySelector("a") !== null,
        })),
        status: text(document, ".event-status"),
        missing: every(".event-missing:not([hidden]) li", (line) => line.innerText),
    };
}"""


class Shown(NamedTuple):
    """What the page shows with one target chosen: cards or cells of all, its operations, its events."""

    cards: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    panels: dict[str, dict[str, Any]]
    events: list[dict[str, Any]]
    status: str
    missing: list[str]


def shown(
    chromium: Browser, address: str, place: tuple[str, str], span_ns: tuple[int, int]
) -> Shown:
    """The page with a target chosen, and a span of time in view."""
    begin, end = map(iso_time, span_ns)
    where = urlencode({"host": place[0], "target": place[1], "from": begin, "to": end})
    visit = Visit(chromium, address, f"#{where}", timezone_id="UTC")
    try:
        page = visit.page
        page.wait_for_selector(".panels[data-loaded=true]")
        page.wait_for_function(
            "() => !document.querySelector('.event-status').innerText.startsWith('Working')"
        )
        more = page.locator(".events > button.quiet")
        if more.is_visible():
            more.click()
        found = Shown(**page.evaluate(_READ))
        assert visit.complaints == []
        return found
    finally:
        visit.close()
