"""Connections that may not be kept open for nothing: uvicorn waits for ever for the rest of a request.

::

    first byte of a request   ->  it is whole within REQUEST_S, or the connection ends
    a whole answer            ->  it is read on within READ_S, or the connection ends
    MOST_CONNECTIONS at once  ->  the next one ends at once, with 503

Lines about wrong requests are at most a few a minute: a log does not fill a disk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""A request is a line and some headers."""
READ_S = 60.0
"""A client that takes nothing for so long is gone, or does harm."""
MOST_CONNECTIONS = 512
"""Pages keep one or two each; a process may have 1024 files open."""
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n"
    b"retry-after: 10\r\n\r\ntoo many connections\n"
)
_LINES, _MINUTE_S = 5, 60.0


class BoundedConnection(H11Protocol):
    """uvicorn's protocol with deadlines."""

    request_s = REQUEST_S
    read_s = READ_S
    most = MOST_CONNECTIONS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._whole_by: asyncio.TimerHandle | None = None
        self._read_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_BUSY)
            transport.close()
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._answering():
            self._cancel("_whole_by")
        else:
            self._wait_for_request()

    def on_response_complete(self) -> None:
        """An answer is written; the keep-alive limit holds until the next request begins."""
        super().on_response_complete()
        if not self._answering() and self.conn.trailing_data[0]:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._cancel("_whole_by")
        self._cancel("_read_by")
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
