"""Restrictions on requests, and on a browser's use of answers.

The server is read-only, so a page elsewhere can harm nobody by sending requests; but it must not
read answers either. A foreign page cannot read across origins unless its name resolves to our
address (DNS rebinding), so a server on the loopback answers only to loopback names. Scripts,
styles and connections come from this server only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.errors import IosondeError
from iosonde.serve.errors import error_answer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
METHODS = ("GET", "HEAD")
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Guard:
    """ASGI middleware: methods, host names, headers; HEAD is answered as GET, and uvicorn leaves the body out.

    ``hosts`` None: any name (the server listens on an address that others can reach). TrustedHostMiddleware
    would answer 400 with a plain text; 421 says that another server is meant, and our JSON says what to try.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, pass on, or refuse the request."""
        answer = self._app
        if scope["type"] == "http":
            send = _with_headers(send)
            answer = self._refused(scope) or self._app
            if scope["method"] == "HEAD":
                scope = {**scope, "method": "GET", "iosonde.head": True}
        await answer(scope, receive, send)

    def _refused(self, scope: Scope) -> Response | None:
        method, host = scope["method"], _host_name(scope)
        if method not in METHODS:
            error = IosondeError(f"{method} is not answered", expected="GET or HEAD")
            return error_answer(405, error, {"allow": ", ".join(METHODS)})
        if self._hosts is None or host in self._hosts:
            return None
        error = IosondeError(
            f"this server does not answer to the name {host!r}",
            expected=f"one of {', '.join(sorted(self._hosts))}",
            hint="iosonde serve --listen with an address of this machine",
        )
        return error_answer(421, error)


def _host_name(scope: Scope) -> str:
    """Name in the Host header, without its port; ``[::1]:8765`` -> ``::1``."""
    values = [value for name, value in scope["headers"] if name == b"host"]
    text = values[0].decode("latin-1") if len(values) == 1 else ""
    if text.startswith("["):
        return text[1:].partition("]")[0].lower()
    return text.rpartition(":")[0].lower() if ":" in text else text.lower()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [pair for pair in _RAW_HEADERS if pair[0] not in own]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sending


async def mistaken(_request: Request, _error: Exception) -> Response:
    """Answer to an internal error, without details; the server logs them."""
    error = IosondeError("iosonde made a mistake and could not answer", hint="the server's log")
    return error_answer(500, error, HEADERS)  # it is sent from outside of Guard
