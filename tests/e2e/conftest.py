"""Fixtures of the page's tests: a browser, a server that stands still, one that goes on."""

import os
from pathlib import Path

import pytest

from tests.kit.page.browser import SCRATCH, Visit, browser, frozen, probed, sentence, wait_until
from tests.kit.samples import stores


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory):
    """The address of a server whose clock stands still: what it shows is known exactly."""
    with frozen(tmp_path_factory.mktemp("still")) as address:
        yield address


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory):
    """The address of a server over a store that a probe goes on to write."""
    root = tmp_path_factory.mktemp("moving")
    with probed(root), stores.running(root) as (address, _):
        wait_until("hanging creates", lambda: "hanging" in sentence(address, SCRATCH))
        yield address


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = os.environ.get("IOSONDE_SCREENSHOTS")
    return Path(folder) if folder else tmp_path_factory.mktemp("screenshots")


def visiting(chromium, address: str):
    """Opens pages, and holds each to asking nobody else and complaining of nothing."""
    opened: list[Visit] = []

    def opening(path: str = "", **context: object) -> Visit:
        context = {"timezone_id": "UTC", "viewport": {"width": 1280, "height": 900}, **context}
        opened.append(Visit(chromium, address, path, **context))
        return opened[-1]

    yield opening
    for page in opened:
        assert page.complaints == []
        assert all(url.startswith(f"{address}/") for url in page.requested)
        page.close()


@pytest.fixture
def visit(chromium, still: str):
    yield from visiting(chromium, still)


@pytest.fixture
def visit_live(chromium, moving: str):
    yield from visiting(chromium, moving)
