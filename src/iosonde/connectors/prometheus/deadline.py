"""HTTP with a deadline for the whole answer: a timeout of a socket begins anew with every byte that drips."""

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
    """A server that answers too slowly for one question will not answer the next in time either."""


class Deadline:
    """The sockets of a request, and whether its time has passed."""

    def __init__(self) -> None:
        self.passed = False
        self._sockets: list[socket.socket] = []

    def holds(self, one: socket.socket) -> None:
        """A socket that is shut down when the time has passed."""
        self._sockets.append(one)

    def end(self) -> None:
        """The time has passed."""
        self.passed = True
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """A deadline that ends what it holds after ``seconds``, unless the context has ended before."""
    deadline = Deadline()
    timer = threading.Timer(seconds, deadline.end)
    timer.daemon = True
    timer.start()
    try:
        yield deadline
    finally:
        timer.cancel()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that leads elsewhere is an error: the token is for this server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def opener(deadline: Deadline) -> urllib.request.OpenerDirector:
    """Speaks http and https and nothing else, and follows no redirect."""

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
