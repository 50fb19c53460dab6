from __future__ import annotations

import time

import pytest
from hypothesis import settings

from iosonde.cli.shared import options
from iosonde.engine.layout.segments import spool_segments
from iosonde.weather import seal
from tests.kit.again import FailuresLog
from tests.kit.parsing import WholeParses
from tests.kit.programs import ListedPrograms
from tests.kit.reaper import reaper
from tests.kit.samples.makers import START, simulated

settings.register_profile(
    "untimed", deadline=None
)  # how long an example takes says nothing of its result
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ListedPrograms())
    config.pluginmanager.register(WholeParses())
    config.pluginmanager.register(FailuresLog())


@pytest.fixture(autouse=True, scope="session")
def nothing_outlives_the_tests():
    """What tests start ends with them, even if they are killed."""
    with reaper():
        yield


@pytest.fixture(autouse=True, scope="session")
def this_is_login2():
    """Stores that tests make up are of a host called login2: let it be this one.

    Commands run as processes of their own keep the real name; so do the stores of the agent's tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seal, "this_host", lambda: "login2")
        yield


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
    assert len(spool_segments(tmp_path)) == 2
    return tmp_path
