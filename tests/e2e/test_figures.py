"""Figures on the page, and a report opened from a file, in a real browser."""

import re
from pathlib import Path

import numpy as np
import pytest

from iosonde.cli.main import main
from tests.kit.page.browser import AT_WORK, wait_until
from tests.kit.samples.made import Trouble, made

pytestmark = pytest.mark.service

_DRAWN = """() => {
    const image = document.querySelector('.figure-image');
    return !image.hidden && image.complete && image.naturalWidth > 0;
}"""
_TONE = """() => {
    const image = document.querySelector('.figure-image'), canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0, 8, 8, 0, 0, 1, 1);
    return pen.getImageData(0, 0, 1, 1).data[0];
}"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_shows_every_figure_in_its_theme(
    visit, shots: Path, scheme: str, width: int
) -> None:
    at = visit(AT_WORK, viewport={"width": width, "height": 900}, color_scheme=scheme).drawn()
    assert not any("api/figure" in url for url in at.requested), "closed, it asks for nothing"
    at.page.locator(".figures summary").click()
    kinds = at.page.locator(".figures select").first
    values = kinds.locator("option").evaluate_all("options => options.map(option => option.value)")
    assert len(values) == 8
    for kind in (values[0], values[3], values[7]) if width > 1000 else values[:1]:
        kinds.select_option(kind)
        wait_until(kind, lambda kind=kind: f"kind={kind}" in at.requested[-1], 20)
        at.page.wait_for_function(_DRAWN, timeout=60_000)
    assert (at.page.evaluate(_TONE) < 60) == (scheme == "dark")
    assert at.overflow() == 0
    assert at.page.locator(".figure-links a").count() == 3
    if width > 1000:
        asked = len(at.requested)
        at.page.get_by_role("button", name="Theme").click()
        at.page.get_by_role("button", name="Theme").click()
        wait_until("dark", lambda: any("theme=dark" in url for url in at.requested[asked:]), 20)
        at.page.wait_for_function(_DRAWN, timeout=60_000)
    at.page.locator(".figures").screenshot(path=_at(shots, f"figures-{scheme}-{width}.png"))


def _at(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A week of /work, reads slow on Wednesday."""
    root = tmp_path_factory.mktemp("report")
    monday, hour = 1_791_763_200 * 10**9, 3600
    slow = [Trouble("data_read", 50 * hour, 53 * hour, 4.0)]
    rng = np.random.default_rng(3)
    made(root, rng, monday, 7 * 24 * hour, slow, period_s=60, silent=[(90 * hour, 100 * hour)])
    span = ["--since", f"@{monday // 10**9}", "--until", f"@{monday // 10**9 + 7 * 24 * hour}"]
    assert main(["report", "/work", *span, "--store", str(root), "-o", str(root / "r.html")]) == 0
    return root / "r.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_stands_alone(
    chromium, report: Path, shots: Path, scheme: str, width: int
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False
    )
    page = context.new_page()
    requested: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(report.as_uri())
    assert all(url.startswith(("data:", report.as_uri())) for url in requested)
    assert complaints == []
    body = page.locator("body")
    assert body.bounding_box()["width"] <= width
    colour = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    assert brightness < 60 if scheme == "dark" else brightness > 200
    assert page.locator("html").evaluate("e => e.scrollWidth - e.clientWidth") == 0
    assert re.match(
        r"(?i)reads on /work were [34]\.\dx slower", page.locator(".headline").inner_text()
    )
    assert page.locator("svg:visible").count() == 4
    assert page.locator(".heat").count() == 6
    page.screenshot(path=_at(shots, f"report-{width}-{scheme}.png"), full_page=True)
    context.close()
