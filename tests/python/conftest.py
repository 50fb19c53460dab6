from __future__ import annotations

import time

import pytest

from iosonde.cli import options
from iosonde.store import layout
from tests.python.makers import START, simulated


@pytest.fixture
def utc(monkeypatch):
    """Local time is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def now(monkeypatch):
    """The wall clock of commands stands at START."""
    monkeypatch.setattr(options, "now_ns", lambda: START)


@pytest.fixture
def live(tmp_path):
    """A store of 5000 s by six ops, all of it still in two spool segments."""
    simulated(tmp_path, 5000, {"op": "md_create", "after": "100s", "for": "20s", "hang": True})
    assert len(layout.spool_segments(tmp_path)) == 2
    return tmp_path
