"""An S3 server over a folder that misbehaves for chosen keys, as lifecycle rules and strangers make one do."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET, PREFIX = "bench", "centre/"
PAGE = 7
"""Keys of a page of a listing: every store has several pages."""
PIECE = bytes(1 << 20)

Fault = Callable[["Request", bytes], None]
"""What becomes of a GET of an object whose bytes are these."""


class Listed(NamedTuple):
    """An entry of a listing."""

    key: str
    size: object
    modified: str


class Request(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: HostileS3

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        key = unquote(at.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        self.server.asked.append((key, dict(self.headers), at.query))
        if not key:
            self.server.listing(self, {k: v[0] for k, v in parse_qs(at.query).items()})
            return
        name = key.removeprefix(PREFIX)
        path = self.server.root / name
        content = path.read_bytes() if path.is_file() else b"x" * 100
        self.server.faults.get(name, good)(self, content)

    def send(self, status: int, content: bytes, size: int | None = None, **headers: str) -> None:
        """An answer, which may lie about its size."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) if size is None else size))
        self.end_headers()
        self.wfile.write(content)


class HostileS3(ThreadingHTTPServer):
    """``faults``: by key; ``more``: entries of the listing that are in no folder; ``page``: changes a page's XML."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.root = root
        self.closed = threading.Event()
        self.clear()

    def clear(self) -> None:
        """Behave again."""
        self.faults: dict[str, Fault] = {}
        self.more: list[Listed] = []
        self.page: Callable[[str, str, int], str | None] = lambda text, _below, _number: text
        self.encoded = True
        self.asked: list[tuple[str, dict[str, str], str]] = []

    def handle_error(self, *_: object) -> None:
        """A client that had enough."""

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def entries(self) -> list[Listed]:
        """All that is listed, in the order of keys."""
        found = [
            Listed(
                path.relative_to(self.root).as_posix(),
                path.stat().st_size,
                datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat(),
            )
            for path in self.root.rglob("*")
            if path.is_file()
        ]
        changed = {one.key for one in self.more}
        return sorted(one for one in found if one.key not in changed) + self.more

    def listing(self, request: Request, asked: dict[str, str]) -> None:
        """One page of ListObjectsV2."""
        below = asked.get("prefix", "").removeprefix(PREFIX)
        every = [one for one in self.entries() if one.key.startswith(below)]
        begin = int(asked.get("continuation-token", "0"))
        some = every[begin : begin + PAGE]
        written = (lambda key: quote(key, safe="/")) if self.encoded else escape
        inside = "".join(
            f"<Contents><Key>{written(PREFIX + one.key)}</Key><LastModified>{one.modified}"
            f"</LastModified><Size>{one.size}</Size></Contents>"
            for one in some
        )
        more = begin + PAGE < len(every)
        token = f"<NextContinuationToken>{begin + PAGE}</NextContinuationToken>" if more else ""
        kind = "<EncodingType>url</EncodingType>" if self.encoded else ""
        text = self.page(
            '<?xml version="1.0" encoding="UTF-8"?>'
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"{kind}<IsTruncated>{str(more).lower()}</IsTruncated>{token}{inside}</ListBucketResult>",
            below,
            begin // PAGE,
        )
        if text is None:
            refused(500, "InternalError")(request, b"")
        else:
            request.send(200, text.encode())


@contextmanager
def serving(root: Path) -> Iterator[HostileS3]:
    """The server, until the end of the block."""
    server = HostileS3(root)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closed.set()
        server.shutdown()
        server.server_close()


def good(request: Request, content: bytes) -> None:
    """The object."""
    request.send(200, content)


def refused(status: int, code: str) -> Fault:
    """A server that says no."""
    text = f"<Error><Code>{code}</Code><Message>no\x1b[31m &amp; no</Message></Error>".encode()
    return lambda request, _: request.send(status, text)


def silent(request: Request, _: bytes) -> None:
    """No answer."""
    request.server.closed.wait(60)
    request.close_connection = True


def dripping(request: Request, content: bytes) -> None:
    """A byte now and then."""
    request.send(200, b"", len(content))
    for at in range(len(content)):
        if request.server.closed.wait(0.2):
            break
        request.wfile.write(content[at : at + 1])
        request.wfile.flush()
    request.close_connection = True


def cut(request: Request, content: bytes) -> None:
    """Half of it, and no more."""
    request.send(200, content[: len(content) // 2], len(content))
    request.close_connection = True


def shorter(request: Request, content: bytes) -> None:
    """Whole, of another size than listed."""
    request.send(200, content[:-10])


def endless(request: Request, _: bytes) -> None:
    """3 GB of zeros."""
    request.send(200, b"", 3 << 30)
    for _ in range(3 << 10):
        request.wfile.write(PIECE)


def endless_chunks(request: Request, _: bytes) -> None:
    """The same without a size."""
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for _ in range(3 << 10):
        request.wfile.write(b"100000\r\n" + PIECE + b"\r\n")


def elsewhere(to: str) -> Fault:
    """A redirect to another host, with the path that was asked for."""
    return lambda request, _: request.send(
        307, b"", Location=to + re.sub(r"\?.*", "", request.path)
    )
