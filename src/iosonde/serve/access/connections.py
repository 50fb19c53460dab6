"""Limits on connections: uvicorn waits forever for the rest of a request.

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
"""Deadline of the TLS handshake: two round trips and a signature."""
REQUEST_S = 10.0
"""Deadline of a request: a line and some headers."""
READ_S = 60.0
"""Longest time without reading by a client; then it is gone, or does harm."""
MOST_CONNECTIONS = 512
"""Most connections: pages keep one or two each; a process may have 1024 files open."""
ACCEPTED_AT_ONCE = 32
"""Most sockets opened before any of them is counted."""
QUEUED = 1024
"""Length of the kernel's queue of clients before acceptance."""
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n"
    b"retry-after: 10\r\n\r\ntoo many connections\n"
)
_LINES, _MINUTE_S = 5, 60.0


class BoundedConnection(H11Protocol):
    """uvicorn's protocol with deadlines. ``tls``: handshake first, None: no TLS."""

    tls: ssl.SSLContext | None = None
    idle: ClassVar[dict[BoundedConnection, None]]
    """Idle connections of this server, the longest first."""
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
        """Accept a client, closing an idle connection if there is no room."""
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
        """Handle a part of a request, or several requests."""
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
        """Handle a written answer; the keep-alive limit holds until the next request."""
        super().on_response_complete()
        if self._answering() or self.transport.is_closing():
            return
        self.idle[self] = None
        if self.conn.trailing_data[0]:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the connection."""
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
        """Handle a client that does not read."""
        super().pause_writing()
        self._cancel("_read_by")
        self._read_by = self.loop.call_later(self.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Handle a client that reads again."""
        self._cancel("_read_by")
        super().resume_writing()

    def shutdown(self) -> None:
        """Shut down with the server."""
        if self.transport is None:
            self._end()
        else:
            super().shutdown()

    async def _agree(self, transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        """Run the TLS handshake. A client that fails it is dropped silently."""
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
        """Close the connection that has been idle longest; False: all are busy."""
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
    """Protocol for one server: with TLS or without, and connections up to half the open-file limit."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)

    class Connection(BoundedConnection):
        tls = context
        idle: ClassVar[dict[BoundedConnection, None]] = {}
        most = min(BoundedConnection.most, max(8, files // 2))

    return Connection


class FewLines(logging.Filter):
    """Passes a few log lines of each text per minute, and then one that counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if a line is to be written."""
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
