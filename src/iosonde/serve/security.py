"""What may be asked, by whom, and what the browser may do with the answer.

The server is read-only, so a page elsewhere can harm nobody by sending requests; but it must not
read answers either. A foreign page cannot read across origins unless its name resolves to our
address (DNS rebinding), so a server on the loopback answers only to loopback names. Scripts,
styles and connections come from this server only.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from iosonde.serve.wire import dumps

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOG = logging.getLogger("iosonde.serve")
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
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


def error_body(what: str, expected: str = "", hint: str = "") -> bytes:
    """The one form of every error answer."""
    return dumps({"error": {"what": what, "expected": expected, "try": hint}})


class Guard:
    """ASGI middleware: methods, host names, headers; HEAD is answered as GET without the body.

    ``hosts`` None: any name (the server listens on an address that others can reach).
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, pass on, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"]
        if method not in METHODS:
            await _refuse(send, 405, error_body(f"{method} is not answered", "GET or HEAD"))
            return
        host = _host_name(scope)
        if self._hosts is not None and host not in self._hosts:
            names = ", ".join(sorted(self._hosts))
            await _refuse(
                send,
                421,
                error_body(
                    f"this server does not answer to the name {host!r}",
                    f"one of {names}",
                    "iosonde serve --listen with an address of this machine",
                ),
            )
            return
        if method == "HEAD":
            scope, send = {**scope, "method": "GET", "iosonde.head": True}, _headless(send)
        await self._guarded(scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer, or JSON that says nothing of what went wrong inside."""
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, _with_headers(noting))
        except Exception:
            if started:
                raise
            _LOG.exception("cannot answer %s", scope["path"])
            what = "iosonde made a mistake and could not answer"
            await _refuse(send, 500, error_body(what, hint="the server's log"))


def _host_name(scope: Scope) -> str:
    """The name in the Host header, without its port; ``[::1]:8765`` -> ``::1``."""
    values = [value for name, value in scope["headers"] if name == b"host"]
    text = values[0].decode("latin-1") if len(values) == 1 else ""
    if text.startswith("["):
        return text[1:].partition("]")[0].lower()
    return text.rpartition(":")[0].lower() if ":" in text else text.lower()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(header for header in HEADERS if header[0] not in own),
            ]
        await send(message)

    return sending


def _headless(send: Send) -> Send:
    """Headers of the answer, an empty body, and nothing after it."""
    ended = False

    async def sending(message: Message) -> None:
        nonlocal ended
        if message["type"] == "http.response.start":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sending


async def _refuse(send: Send, status: int, body: bytes) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *([(b"allow", b", ".join(m.encode() for m in METHODS))] if status == 405 else []),
    ]
    start: Message = {"type": "http.response.start", "status": status, "headers": headers}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
