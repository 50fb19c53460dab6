"""Connections that may not be kept open for nothing: uvicorn waits for ever for the rest of a request.

::

    accepted                  ->  TLS is agreed on within HANDSHAKE_S, or the connection ends
    first byte of a request   ->  it is whole within REQUEST_S, or the connection ends
    a whole answer            ->  it is read on within READ_S, or the connection ends
    MOST_CONNECTIONS at once  ->  the one that has asked for nothing the longest ends; if all are being answered,
                                  the next one, with 503

A connection counts from the moment it is accepted. Lines about wrong requests are at most a few a minute: a log does
not fill a disk.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from typing import TYPE_CHECKING, Any, ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from iosonde.serve.access.ended import client_gone

if TYPE_CHECKING:
    import ssl

HANDSHAKE_S = 10.0
"""Two round trips and a signature."""
REQUEST_S = 10.0
"""A request is a line and some headers."""
READ_S = 60.0
"""A client that takes nothing for so long is gone, or does harm."""
MOST_CONNECTIONS = 512
"""Pages keep one or two each; a process may have 1024 files open."""
ACCEPTED_AT_ONCE = 32
"""Sockets that are open before any of them is counted."""
QUEUED = 1024
"""Clients whose connection the kernel keeps until it is accepted."""
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n"
    b"retry-after: 10\r\n\r\ntoo many connections\n"
)
_LINES, _MINUTE_S = 5, 60.0


class BoundedConnection(H11Protocol):
    """uvicorn's protocol with deadlines. ``tls``: agreed on first, None: none."""

    tls: ssl.SSLContext | None = None
    idle: ClassVar[dict[BoundedConnection, None]]
    """Those of this server that are not being answered, the longest first."""
    handshake_s = HANDSHAKE_S
    request_s = REQUEST_S
    read_s = READ_S
    most = MOST_CONNECTIONS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._accepted: asyncio.Transport | None = None
        self._handshake: asyncio.Task[None] | None = None
        self._early = b""
        self._whole_by: asyncio.TimerHandle | None = None
        self._read_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come: there is room, or room is made."""
        self._accepted = transport
        full = len(self.connections) >= self.most
        if full and not self._make_room():
            if self.tls is None:
                transport.write(_BUSY)
            transport.close()
            return
        self.connections.add(self)
        self.idle[self] = None
        if self.tls is None:
            self._open(transport)
        else:
            self._handshake = self.loop.create_task(self._agree(transport, self.tls))

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self.transport is None:  # it came with the end of the handshake
            self._early += data
            return
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._answering():
            self.idle.pop(self, None)
            self._cancel("_whole_by")
        else:
            self._wait_for_request()

    def on_response_complete(self) -> None:
        """An answer is written; the keep-alive limit holds until the next request begins."""
        super().on_response_complete()
        if self._answering() or self.transport.is_closing():
            return
        self.idle[self] = None
        if self.conn.trailing_data[0]:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._cancel("_whole_by")
        self._cancel("_read_by")
        self.idle.pop(self, None)
        if self._answering():
            client_gone(cast("dict[str, Any]", self.scope))
        if self.transport is None:
            self.connections.discard(self)
        else:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take what was written."""
        super().pause_writing()
        self._cancel("_read_by")
        self._read_by = self.loop.call_later(self.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """It has taken most of it."""
        self._cancel("_read_by")
        super().resume_writing()

    def shutdown(self) -> None:
        """The server ends."""
        if self.transport is None:
            self._end()
        else:
            super().shutdown()

    async def _agree(self, transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        """The handshake. A client that does not manage it is nobody's trouble."""
        try:
            secured = await self.loop.start_tls(
                transport, self, tls, server_side=True, ssl_handshake_timeout=self.handshake_s
            )
        except (OSError, asyncio.CancelledError):
            secured = None
        if secured is None:
            self._end()
            return
        self._open(secured)
        early, self._early = self._early, b""
        if early:
            self.data_received(early)

    def _open(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait_for_request()

    def _make_room(self) -> bool:
        """End the connection that has asked for nothing the longest; False: all are being answered."""
        longest = next(iter(self.idle), None)
        if longest is None:
            return False
        longest._end()
        return True

    def _end(self) -> None:
        self.connections.discard(self)
        self.idle.pop(self, None)
        if self._accepted is not None:
            self._accepted.abort()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_request(self) -> None:
        if self._whole_by is None:
            self._whole_by = self.loop.call_later(self.request_s, self._give_up)

    def _give_up(self) -> None:
        self._whole_by = None
        if not self._answering():
            self.transport.abort()

    def _cancel(self, name: str) -> None:
        timer = cast("asyncio.TimerHandle | None", getattr(self, name))
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)


def bounded_connections(context: ssl.SSLContext | None) -> type[BoundedConnection]:
    """The protocol for one server: with TLS or without, and no more connections than half the files it may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)

    class Connection(BoundedConnection):
        tls = context
        idle: ClassVar[dict[BoundedConnection, None]] = {}
        most = min(BoundedConnection.most, max(8, files // 2))

    return Connection


class FewLines(logging.Filter):
    """Passes a few lines of each text a minute, and then one that counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        now, text = time.monotonic(), str(record.msg)[:200]
        since, n = self._seen.get(text, (now, 0))
        if now - since >= _MINUTE_S:
            left_out = n - _LINES
            since, n = now, 0
            if left_out > 0:
                record.msg = f"{record.msg} ({left_out} more such lines in the last minute)"
        if len(self._seen) > 100:
            self._seen.clear()
        self._seen[text] = (since, n + 1)
        return n < _LINES
