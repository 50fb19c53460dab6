"""A run reports a failed browser test as a failure and goes on, whatever the browser left behind."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit import parsing
from tests.kit.harness import ROOT

LARGE = "\n".join(
    f"def helper_{n}(a, b):\n    return [a + b * {n}, (a, b), {{a: b}}]\n" for n in range(300)
)
"""Enough source that the garbage collector runs while pytest parses it."""
BROWSER = '''
import gc
import pytest
from tests.kit.page.browser import browser

@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started

def call_late(page):
    """Leave a call that failed and that nobody awaits, as a page does that closes on a busy machine."""
    call = page._loop.create_future()
    def refused(kept=call):
        raise RuntimeError(f"closed {1 + len('x')}")
    try:
        refused()
    except RuntimeError as error:
        call.set_exception(error)

def test_that_fails(chromium):
    page = chromium.new_page()
    gc.collect()
    gc.disable()
    call_late(page)
    gc.set_threshold(gc.get_count()[0] + 3000)  # within the parse that follows
    gc.enable()
    assert page.title() == "late"

def test_that_fails_too(chromium):
    gc.set_threshold(700)
    page = chromium.new_page()
    page.set_default_timeout(100)
    page.wait_for_selector("#nowhere")

def test_that_passes(chromium):
    assert chromium.new_page().title() == ""
'''


def call_late() -> None:
    """Leave a call that failed and that nobody awaits, in a cycle, for the garbage collector."""
    loop = asyncio.new_event_loop()
    call = loop.create_future()
    loop.close()

    def refused(kept: object = call) -> None:
        raise RuntimeError(f"closed {1 + len('x')}")

    try:
        refused()
    except RuntimeError as error:
        call.set_exception(error)


@contextmanager
def late_calls() -> Iterator[None]:
    """Their end comes after 3000 more objects: within a parse."""
    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    call_late()
    gc.set_threshold(gc.get_count()[0] + 3000)
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@pytest.mark.service
def test_failures_of_a_browser_are_failures(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_configure\n")
    (tmp_path / "test_page.py").write_text(BROWSER + LARGE)
    words = ["-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, tmp_path]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 1
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "2 failed, 1 passed" in done.stdout
    assert 'assert page.title() == "late"' in done.stdout


def test_nothing_interrupts_a_parse(caplog: pytest.LogCaptureFixture) -> None:
    with late_calls():
        assert len(parsing.whole(LARGE).body) == 300
    gc.collect()
    assert "exception was never retrieved" in caplog.text


@pytest.mark.skipif(sys.version_info >= (3, 11, 9), reason="its parser can be interrupted")
def test_a_late_call_interrupts_the_parser_of_this_python() -> None:
    with late_calls(), pytest.raises(SystemError, match="recursion depth mismatch"):
        parsing.PARSE(LARGE)
