"""One server of a kind for the whole session; a test that stops one starts its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from tests.kit.servers.loopback import Ferretdb, Postgresql, Server, Versitygw

S = TypeVar("S", bound=Server)


@contextmanager
def running(server: S) -> Iterator[S]:
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session")
def s3():
    with running(Versitygw()) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql():
    with running(Postgresql()) as server:
        yield server


@pytest.fixture(scope="session")
def mongodb():
    with running(Ferretdb()) as server:
        yield server
