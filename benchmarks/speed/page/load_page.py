"""The page Load over a year in Chromium: first paint, answers, frames a second.

    python -m benchmarks load_page [--days 365] [--jobs 200000] [--seconds 5]

Printed: seconds until the history is made, milliseconds of an answer to a pan at each zoom, bytes over the wire, first
paint, frames a second of a pan. Chromium draws in software. Generating the load is not timed.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Page

from benchmarks.truth.load.week import BEGIN_NS, Cluster, S, generate
from iosonde.jobs.attribution.join import join
from iosonde.jobs.load.history import LoadHistory, gathered
from tests.kit.page.browser import browser
from tests.kit.samples import stores

DAY_NS = 86_400 * S
FRAMES = """async ([seconds, pixels]) => {
    const plot = document.querySelector(".load-touch");
    const box = plot.getBoundingClientRect();
    const times = [];
    const begin = performance.now();
    let last = begin, way = -1;
    for (;;) {
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
        if (now - begin > 1000 * seconds) return times.slice(2);
        if (times.length % 120 === 0) way = -way;
        plot.dispatchEvent(new WheelEvent("wheel", {
            deltaY: way * pixels, clientX: box.left + 300, clientY: box.top + 200, bubbles: true, cancelable: true,
        }));
    }
}"""
SPANS = (("a year", 365.0), ("a month", 30.0), ("a week", 7.0), ("a day", 1.0), ("an hour", 1 / 24))


def main(days: float = 365.0, jobs: int = 200_000, seconds: float = 5.0) -> None:
    """Print the tables."""
    made = generate(Cluster(exclusive=144, shared=56, jobs=jobs, days=days), 1)
    print(f"200 nodes, {days:g} days, {made.recorded.ops.size / 1e6:.0f} M cells, {jobs} jobs")
    joined = join(made.recorded, made.allocations)
    begin = time.perf_counter()
    history = gathered([joined])
    print(f"history made of the joined records in {time.perf_counter() - begin:.1f} s")
    del joined, made
    with tempfile.TemporaryDirectory() as folder:
        _measure(Path(folder), history, days, seconds)


def _measure(root: Path, history: LoadHistory, days: float, seconds: float) -> None:
    end_ns = history.grid.end_ns
    stores.simulate(root, 3600 * S, stores.target("/work"), end_ns=end_ns)
    with (
        stores.running(root, loads=lambda: history, clock=lambda: end_ns) as (address, _),
        browser() as chromium,
    ):
        _answers(address, days)
        page = chromium.new_page(viewport={"width": 1440, "height": 900}, timezone_id="UTC")
        requests: list[Any] = []

        def keep(request: Any) -> None:
            requests.append(request)

        page.on("requestfinished", keep)
        begin = time.perf_counter()
        page.goto(f"{address}/#page=load")
        page.wait_for_selector(".load-body[data-loaded]")
        shown_s = time.perf_counter() - begin
        paint = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
        )
        print("\n| page | |\n|---|---|")
        print(f"| first paint | {paint:.0f} ms |\n| columns shown | {1e3 * shown_s:.0f} ms |")
        for name, size in _sizes(list(requests)).items():
            print(f"| {name} | {size / 1e3:.0f} kB |")
        print("\n| pan of | frames/s, median | slowest tenth |\n|---|---|---|")
        for words, length in SPANS:
            if length <= days:
                _pan(page, address, words, (end_ns, length, days), seconds)


def _answers(address: str, days: float) -> None:
    """Milliseconds of both answers to a pan, at nine places; the first makes the levels and is left out."""
    print("\n| an answer of | median | slowest | cells of |\n|---|---|---|---|")
    with httpx2.Client(base_url=address, timeout=120) as client:
        for words, length in SPANS:
            if length > days:
                continue
            taken, step = [], 0
            for place in range(10):
                since = BEGIN_NS + int((days - length) * DAY_NS * place / 10)
                asked: dict[str, Any] = {"by": "user", "cells": 1500, "margin": 1, "top": 37}
                asked |= {"since_ns": since, "until_ns": since + int(length * DAY_NS) + place}
                begin = time.perf_counter()
                load = client.get("/api/load", params=asked).json()
                client.get("/api/load/cells", params=asked)
                taken.append(1e3 * (time.perf_counter() - begin))
                step = load["step_ns"] // S
            rest = taken[1:]
            print(f"| {words} | {statistics.median(rest):.0f} ms | {max(rest):.0f} ms | {step} s |")


def _sizes(requests: Sequence[Any]) -> dict[str, int]:
    """Bytes of bodies as they were sent, by what was asked for."""
    sizes: dict[str, int] = {}
    for request in requests:
        path = request.url.split("/", 3)[3].split("?", maxsplit=1)[0].split("#", maxsplit=1)[0]
        kind = path.rsplit(".", maxsplit=1)[-1] if path.startswith("assets/") else path
        sizes[kind or "the page"] = sizes.get(kind, 0) + request.sizes()["responseBodySize"]
    return sizes


def _pan(
    page: Page, address: str, words: str, where: tuple[int, float, float], seconds: float
) -> None:
    end_ns, length, days = where
    middle = end_ns / 1e6 - days * DAY_NS / 2e6
    half = min(length, 0.98 * days) * DAY_NS / 2e6
    span = [
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((middle + by) / 1e3))
        for by in (-half, half)
    ]
    page.goto(f"{address}/#page=load&from={span[0]}&to={span[1]}")
    page.wait_for_timeout(1500)
    times = sorted(page.evaluate(FRAMES, [seconds, 6]))
    slow = times[int(0.9 * len(times))]
    print(f"| {words} | {1e3 / statistics.median(times):.0f} | {1e3 / slow:.0f} |", flush=True)
