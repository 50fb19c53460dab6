"""A real browser on a real server, over a store whose slowdown is known and still grows."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, Page, sync_playwright

from iosonde import _core
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, SECOND

CHROMIUM = os.environ.get("IOSONDE_CHROMIUM", "/usr/bin/chromium")
"""Without it these tests fail; they are not skipped."""
SLOWDOWN = 3.2
WORK, SCRATCH = "/work", "/scratch"
EARLIER = [
    {"op": "data_read", "after": "17m", "multiply": SLOWDOWN},
    {"op": "data_write", "after": "20m", "for": "6s", "error": "EIO"},
    {"op": "md_delete", "after": "21m", "for": "20s", "hang": True},
]
GOES_ON = [{"op": "data_read", "multiply": SLOWDOWN}]
HANG = [{"op": "md_create", "after": "3s", "hang": True}]
PERIOD = {"period": "500ms"}


def past() -> tuple[dict[str, Any], ...]:
    return stores.target(WORK, EARLIER, **PERIOD), stores.target(SCRATCH, **PERIOD)


@contextmanager
def frozen(root: Path) -> Iterator[str]:
    """A server whose clock stands still at the end of 25 minutes, slow reads in the last 8."""
    stores.simulate(root, 25 * MINUTE, *past())
    stores.say_it_runs(root, stores.NOW - 2 * SECOND)
    with stores.running(root, clock=lambda: stores.NOW) as (address, _):
        yield address


@contextmanager
def probed(root: Path) -> Iterator[None]:
    """The same up to now, and a probe that goes on just so; creates on /scratch begin to hang."""
    end_ns = time.time_ns() - SECOND
    stores.simulate(root, 25 * MINUTE, *past(), end_ns=end_ns, window="10s")
    live = (stores.target(WORK, GOES_ON, **PERIOD), stores.target(SCRATCH, HANG, **PERIOD))
    probe = _core.Probe(stores.config(root, *live, window="10s"))
    probe.prepare(lambda *_: True)
    probe.start()
    try:
        yield
    finally:
        probe.stop()


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


_DRIVER = "GL Driver Message (OpenGL, Performance"
"""Where WebGL is drawn in software, the compositor reads it back, and the browser notes that."""
AT_WORK = f"#host={stores.HOST}&target={WORK}"
AT_SCRATCH = f"#host={stores.HOST}&target={SCRATCH}"


class Visit:
    """One open page, and everything it asked for and complained about."""

    def __init__(self, chromium: Browser, address: str, path: str = "", **context: Any) -> None:
        self.address = address
        self.context = chromium.new_context(**context)
        self.page: Page = self.context.new_page()
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning")
                and _DRIVER not in message.text
                and self.complaints.append(message.text)
            ),
        )
        self.page.goto(f"{address}/{path}")

    def drawn(self) -> "Visit":
        """Wait until the chosen target's series is there."""
        self.page.wait_for_selector(".panels[data-loaded=true]")
        self.page.wait_for_timeout(300)
        return self

    def panel(self, op: str) -> dict[str, str]:
        """What a panel says it has drawn."""
        text = self.page.eval_on_selector(
            f".panel[data-op={op}]", "element => JSON.stringify({...element.dataset})"
        )
        return json.loads(text)

    def colours(self, op: str) -> int:
        """How many different colours a panel's canvas shows."""
        return self.page.eval_on_selector(
            f".panel[data-op={op}] canvas",
            """canvas => {
                const { width, height } = canvas;
                const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
                return new Set(new Uint32Array(pixels.buffer)).size;
            }""",
        )

    def overflow(self) -> int:
        """CSS pixels by which the page is wider than the window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def shot(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png", full_page=True)

    def close(self) -> None:
        self.context.close()


def sentence(address: str, target: str) -> str:
    """What the API says of a target; empty when it does not know it."""
    targets = httpx2.get(f"{address}/api/targets", params={"zone": "UTC"}).json()
    return next((t["sentence"] for t in targets if t["target"] == target), "")


def wait_until(what: str, condition: Any, timeout_s: float = 60.0) -> Any:
    """Poll until ``condition()`` is true; the test fails with ``what`` when it never is."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.2)
    raise AssertionError(f"waited {timeout_s} s in vain: {what}")
