"""HTTP with a deadline for the whole answer: a socket timeout restarts with every byte."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from iosonde.model.errors import InputFileError


class SlowServerError(InputFileError):
    """Server too slow for one query, and so for the next."""


class Deadline:
    """Sockets of a request, and the state of its deadline."""

    def __init__(self) -> None:
        self.passed = False
        self._sockets: list[socket.socket] = []

    def holds(self, one: socket.socket) -> None:
        """Register a socket to be shut down at the deadline."""
        self._sockets.append(one)

    def end(self) -> None:
        """Shut all sockets down."""
        self.passed = True
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """A deadline after ``seconds``, cancelled at the end of the context."""
    deadline = Deadline()
    timer = threading.Timer(seconds, deadline.end)
    timer.daemon = True
    timer.start()
    try:
        yield deadline
    finally:
        timer.cancel()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Treats redirects as errors: the token is for this server only."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def opener(deadline: Deadline) -> urllib.request.OpenerDirector:
    """An opener for http and https only, without redirects."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            deadline.holds(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            deadline.holds(self.sock)

    class OnHttp(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, request)

    class OnHttps(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, request)

    found = urllib.request.OpenerDirector()
    for handler in (
        OnHttp(),
        OnHttps(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        _NoRedirect(),
    ):
        found.add_handler(handler)
    return found
