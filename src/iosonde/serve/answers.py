"""HTTP responses: JSON, compressed if accepted, and files for download.

Not by GZipMiddleware: it leaves pictures and the feed alone, but compresses an answer anew for each client, 2 to
6 ms for a series, where a client that shares an answer (``shared``) costs half a millisecond; and it would do so
on the event loop up to 128 KiB. Here an answer is compressed once, on the thread that made it.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from iosonde import __version__

if TYPE_CHECKING:
    from starlette.requests import Request

MEDIA_TYPES = {
    "json": "application/json",
    "bin": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}
_COMPRESS_FROM = 32_768
"""Least size of a compressed answer."""
_LONGEST_NAME = 100


class JsonBody(NamedTuple):
    """A JSON answer, plain and compressed (None: too small)."""

    plain: bytes
    compressed: bytes | None


def json_body(body: bytes) -> JsonBody:
    """JSON answer, compressed if large."""
    return JsonBody(body, gzip.compress(body, 1) if len(body) >= _COMPRESS_FROM else None)


def json_answer(request: Request, answer: JsonBody) -> Response:
    """Response in a form that the client accepts, not cacheable."""
    return compressed_answer(request, answer, "json")


def compressed_answer(request: Request, answer: JsonBody, form: str) -> Response:
    """The same of any form of MEDIA_TYPES."""
    headers = {
        "cache-control": "no-store",
        "vary": "accept-encoding",
        # A page of another version tells its reader to load it anew.
        "x-iosonde-version": __version__,
    }
    body = answer.plain
    if answer.compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["content-encoding"] = answer.compressed, "gzip"
    return Response(body, media_type=MEDIA_TYPES[form], headers=headers)


def attachment(body: bytes, form: str, words: Sequence[str]) -> Response:
    """File for download, named ``iosonde-<words>.<form>``."""
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{file_name(words, form)}"',
    }
    return Response(body, media_type=MEDIA_TYPES[form], headers=headers)


def file_name(words: Iterable[str], form: str) -> str:
    """A name valid in every file system and header: other characters become ``-``."""
    plain = (re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-.") for word in ("iosonde", *words))
    return f"{'-'.join(word for word in plain if word)[:_LONGEST_NAME]}.{form}"
