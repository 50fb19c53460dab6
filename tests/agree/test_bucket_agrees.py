"""A store in a bucket: every door says of it what it says of the folder that was shipped."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from iosonde.cli.shared.stores import readable
from iosonde.weather.seal import seal
from iosonde.weather.upkeep.ship import ship
from tests.agree.compared import agree
from tests.agree.doors import doors_of
from tests.agree.kinds import KINDS, NOW
from tests.kit.samples.makers import SECOND
from tests.kit.servers.loopback import Versitygw

pytestmark = pytest.mark.service

SHIPPED = (
    "three minutes",
    "first hour slow, goes on",
    "slow for 25 min, goes on",
    "two hosts, one slow",
    "stopped while slow",
    "a gap",
)


@pytest.fixture(scope="module")
def server():
    one = Versitygw()
    try:
        one.start()
        yield one
    finally:
        one.close()


@pytest.fixture
def environ(server, monkeypatch, tmp_path):
    """What a user has set."""
    every = server.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in every.items():
        monkeypatch.setenv(name, value)
    return every


@pytest.mark.parametrize("name", SHIPPED)
def test_every_door_says_the_same_of_a_bucket(
    name, server, environ, store_of, tmp_path, monkeypatch, capsys
):
    kind = KINDS[name]
    own = tmp_path / "own"
    shutil.copytree(store_of(name), own)
    seal(own)
    url = f"s3://{server.bucket}/{name.replace(' ', '-').replace(',', '')}"
    ship(own, url, environ, clock=lambda: NOW)
    root = readable(url, os.environ)
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    length_ns = kind.length_s * SECOND
    with doors_of(root, NOW, length_ns, capsys, url) as doors:
        agree(kind, doors)
        with doors_of(own, NOW, length_ns, capsys) as beside:
            assert doors.events() == beside.events()
            assert doors.not_judged() == beside.not_judged()
            assert doors.live() == beside.live()
