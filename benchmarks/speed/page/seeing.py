"""The page of a target of 10,000 to 10 million samples in Chromium.

    python -m benchmarks seeing [--stores FOLDER] [SAMPLES ...]

A probe's samples on simulated clocks, six operations a second, all of them in view. Chromium draws in software,
1440 x 900. Printed for each number of samples: first paint; windows drawn, by a server that has just started and by one
that was asked before; operations drawn; from a click to the next frame, and to the answer; frames a second while the
cursor moves over the panels; bytes over the wire. ``--stores`` keeps the stores for the next time.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from iosonde.weather.seal import seal
from tests.kit.page.browser import browser
from tests.kit.samples import stores

SAMPLES = (10_000, 100_000, 1_000_000, 10_000_000)
OPS = 6
STEPS = 6
TO_FRAME = """async selector => {
    const frame = () => new Promise(requestAnimationFrame);
    const text = () => document.querySelector(".view").textContent;
    await frame();
    const begin = performance.now(), before = text();
    document.querySelector(selector).click();
    while (text() === before) await frame();
    await frame();
    return performance.now() - begin;
}"""
"""From a click until the frame after the one in which the span changed is over."""
FRAMES = """async seconds => {
    const plot = document.querySelector(".u-over"), box = plot.getBoundingClientRect();
    const times = [], begin = performance.now();
    let last = begin;
    for (let i = 0; ; i += 1) {
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
        if (now - begin > 1000 * seconds) return times.slice(2);
        const at = { clientX: box.left + (7 * i) % box.width, clientY: box.top + 60, bubbles: true };
        plot.dispatchEvent(new MouseEvent("mousemove", at));
    }
}"""
EARLIER, LATER = "button[aria-label=earlier]", "button[aria-label=later]"
DRAWN = ".panels[data-loaded=true]"
WHOLE = """() => [...document.querySelectorAll(".panel")].every(
    one => Number(one.dataset.points) + Number(one.dataset.density) > 0)"""
HEAD = (
    *("samples", "in view", "first paint", "windows, cold", "windows, warm", "operations, warm"),
    *("to a frame", "to the answer", "frames/s", "slowest tenth", "page", "series"),
)


def main(*samples: int, stores: Path | None = None) -> None:
    """Print the table."""
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for n in samples or SAMPLES:
            root = (stores or Path(folder)) / f"seeing-{n}"
            if not root.exists():
                _make(root, n)
            print(f"| {' | '.join(_seen(chromium, root, n))} |", flush=True)


def _make(root: Path, samples: int) -> None:
    duration_ns = samples // OPS * stores.SECOND
    slow = {"op": "data_read", "after": f"{duration_ns * 9 // 10 // 10**9}s", "multiply": 3.2}
    stores.simulate(root, duration_ns, stores.target("/work", [slow]))
    seal(root)


def _seen(chromium: Browser, root: Path, samples: int) -> list[str]:
    length_ms = samples // OPS * 1000
    end_ms = stores.NOW // 10**6
    with stores.running(root, clock=lambda: stores.NOW) as (address, _):
        span = "&".join(
            f"{name}={_instant(at)}" for name, at in (("from", end_ms - length_ms), ("to", end_ms))
        )
        where = f"{address}/#host={stores.HOST}&target=/work&{span}"
        cold, page, requests = _opened(chromium, where)
        page.wait_for_function(WHOLE)
        page.close()
        begin = time.perf_counter()
        warm, page, requests = _opened(chromium, where)
        page.wait_for_function(WHOLE)
        whole = 1e3 * (time.perf_counter() - begin)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        sizes = _sizes(requests)
        page.locator("input[name=range]").first.click()
        page.goto(where)
        page.wait_for_timeout(2000)
        to_frame, to_answer = [], []
        for step in range(STEPS):
            before = len(requests)
            begin = time.perf_counter()
            to_frame.append(page.evaluate(TO_FRAME, EARLIER if step < STEPS // 2 else LATER))
            while not any("api/series" in one.url for one in requests[before:]):
                page.wait_for_timeout(2)
            to_answer.append(1e3 * (time.perf_counter() - begin))
            page.wait_for_timeout(300)
        frames = sorted(page.evaluate(FRAMES, 3.0))
        page.close()
    return [
        *(f"{samples:,}", _span(length_ms), f"{paint:.0f} ms"),
        *(f"{cold:,.0f} ms", f"{warm:,.0f} ms", f"{whole:,.0f} ms"),
        *(f"{statistics.median(each):,.0f} ms" for each in (to_frame, to_answer)),
        f"{1e3 / statistics.median(frames):.0f}",
        f"{1e3 / frames[int(0.9 * len(frames))]:.0f}",
        *(f"{sizes[name] / 1e3:.0f} kB" for name in ("page", "series")),
    ]


def _opened(chromium: Browser, where: str) -> tuple[float, Page, list[Any]]:
    """Milliseconds until the panels show windows, the page, and the requests that ended, as they end."""
    page = chromium.new_page(viewport={"width": 1440, "height": 900}, timezone_id="UTC")
    page.set_default_timeout(300_000)
    requests: list[Any] = []

    def keep(request: Any) -> None:
        requests.append(request)

    page.on("requestfinished", keep)
    begin = time.perf_counter()
    page.goto(where)
    page.wait_for_selector(DRAWN)
    page.evaluate("new Promise(requestAnimationFrame)")
    return 1e3 * (time.perf_counter() - begin), page, requests


def _sizes(requests: list[Any]) -> dict[str, int]:
    """Bytes of bodies as they were sent."""
    sizes = {"page": 0, "series": 0}
    for request in list(requests):
        kind = "series" if "api/series" in request.url else "page"
        if "api/feed" not in request.url:
            sizes[kind] += request.sizes()["responseBodySize"]
    return sizes


def _instant(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1000))


def _span(length_ms: int) -> str:
    hours = length_ms / 3.6e6
    return f"{hours / 24:.1f} d" if hours >= 48 else f"{hours:.1f} h"
