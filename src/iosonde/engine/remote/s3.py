"""Client of an S3 bucket: list, get, put, each request with limits on bytes and seconds.

Address, region and keys come from the environment that other tools use: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``,
``AWS_REGION``, ``AWS_DEFAULT_REGION``, ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``. An
object appears whole or not at all: that is what S3 promises of a put. No redirect is followed (``rust/bucket``): keys
and tokens reach the server that was named and no other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from iosonde import _core
from iosonde.engine.layout.root import SCHEME, is_bucket
from iosonde.engine.opener import MIB
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.text import clean_text

T = TypeVar("T")

PATIENCE_S = 30
"""Seconds for a page of a listing, or for an object in addition to those for its size."""
SLOWEST_BYTES_PER_S = MIB
"""Least transfer rate: a second more for each MiB."""
LISTING_S = 300
"""Seconds for all pages of a listing."""
MOST_OBJECTS = 1_000_000
"""Most objects of a listing."""
_PAUSES_S = (0.1, 0.4)
"""Pauses between retries of a request if the server fails."""


class S3Object(NamedTuple):
    """An object; ``key`` without the bucket's prefix."""

    key: str
    size_bytes: int
    modified_ns: int | None
    """By the server's clock, possibly in whole seconds; None if not given."""


class ObjectError(Exception):
    """An object that cannot be fetched; the text is the server's reason. ``gone``: the key does not exist."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(clean_text(reason))
        self.gone = status == 404
        self.forbidden = status == 403


@dataclass(frozen=True)
class Bucket:
    """A prefix of a bucket."""

    endpoint: str
    region: str
    bucket: str
    prefix: str
    key_id: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """URL as a user writes it."""
        return f"{SCHEME}{self.bucket}/{self.prefix}"

    def objects(self, below: str = "") -> Iterator[S3Object]:
        """Every object below the prefix, whatever its key. Raises StoreError, UsageError."""
        prefix, token, count = self.prefix + below, None, 0
        seen: set[str] = set()
        end = time.monotonic() + LISTING_S
        while True:
            seconds = min(PATIENCE_S, max(1, int(end - time.monotonic())))
            some, following = self._page(prefix, token, seconds, below)
            for key, size, modified in some:
                if key.startswith(prefix):
                    count += 1
                    yield S3Object(key[len(self.prefix) :], size, _instant(modified))
            if following is None:
                return
            late = time.monotonic() >= end
            if late or following in seen or count >= MOST_OBJECTS:
                limit = f"{LISTING_S} s" if late else f"{MOST_OBJECTS:,} objects"
                raise self._failed("list", below, f"the listing does not end within {limit}")
            seen.add(following)
            token = following

    def _page(
        self, prefix: str, token: str | None, seconds: int, below: str
    ) -> tuple[list[tuple[str, int, str]], str | None]:
        try:
            return self._tried(lambda: self._server.page(prefix, token, seconds))
        except ObjectError as error:
            raise self._failed("list", below, str(error)) from error

    def get(self, key: str, most: int) -> bytes:
        """Bytes of an object, at most ``most``. Raises ObjectError, UsageError."""
        return self._tried(lambda: self._server.get(self.prefix + key, most, seconds_for(most)))

    def fetch(self, one: S3Object, draft: Path) -> None:
        """Fetch an object into an existing file. Raises ObjectError: also another size; OSError: the file."""
        key, seconds = self.prefix + one.key, seconds_for(one.size_bytes)
        self._tried(lambda: self._server.fetch(key, str(draft), one.size_bytes, seconds))

    def get_if_there(self, key: str, most: int) -> bytes | None:
        """``get``, or None for a missing object. Raises StoreError, UsageError."""
        try:
            return self.get(key, most)
        except ObjectError as error:
            if error.gone:
                return None
            raise self._failed("read", key, str(error)) from error

    def replace(self, key: str, content: bytes) -> None:
        """Store bytes as an object, replacing an existing one. Raises StoreError, UsageError."""
        seconds = seconds_for(len(content))
        try:
            self._tried(lambda: self._server.put(self.prefix + key, content, seconds))
        except ObjectError as error:
            raise self._failed("write", key, str(error)) from error

    def put(self, key: str, path: Path) -> None:
        """Store a file as an object. Raises StoreError, OSError."""
        seconds = seconds_for(path.stat().st_size)
        try:
            self._tried(lambda: self._server.send(self.prefix + key, str(path), seconds))
        except ObjectError as error:
            raise self._failed("write", key, str(error)) from error

    @cached_property
    def _server(self) -> _core.Bucket:
        try:
            return _core.Bucket(
                self.endpoint, self.region, self.bucket, self.key_id, self.secret, self.token
            )
        except ValueError as error:
            raise UsageError(str(error), expected="http://HOST:PORT or https://HOST") from error

    def _tried(self, request: Callable[[], T]) -> T:
        """Result of a request, with retries if the server fails. Raises ObjectError."""
        for pause_s in (*_PAUSES_S, None):
            try:
                return request()
            except _core.BucketError as error:
                reason, status, again = error.args
                if pause_s is None or not again:
                    raise ObjectError(str(reason), int(status)) from error
                time.sleep(pause_s)
        raise AssertionError("unreachable")

    def _failed(self, what: str, key: str, reason: str) -> StoreError:
        return StoreError(
            f"cannot {what} {self.url}{clean_text(key)} at {self.endpoint}: {reason}",
            expected="an S3 server and keys that may do that",
            hint="AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
        )


def seconds_for(size_bytes: int) -> int:
    """Time limit of a request for so many bytes."""
    return PATIENCE_S + size_bytes // SLOWEST_BYTES_PER_S


def _instant(text: str) -> int | None:
    """An instant in ns, UTC, between 1970 and 2100; None for anything else."""
    try:
        when = datetime.fromisoformat(text)
        seconds = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None
    return seconds * 1_000_000_000 if 0 <= seconds < 2**32 else None


def bucket_of(url: str, environ: Mapping[str, str], endpoint: str | None = None) -> Bucket:
    """Bucket named by ``s3://bucket/prefix``. Raises UsageError: no bucket, no keys."""
    name, _, prefix = url.removeprefix(SCHEME).partition("/")
    if not is_bucket(url) or not name:
        raise UsageError(f"{url!r} names no bucket", expected="s3://bucket/prefix")
    missing = [
        key for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if not environ.get(key)
    ]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(
            f"{' and '.join(missing)} {verb} not set", expected="keys of the S3 server"
        )
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    address = (
        endpoint
        or environ.get("AWS_ENDPOINT_URL_S3")
        or environ.get("AWS_ENDPOINT_URL")
        or f"https://s3.{region}.amazonaws.com"
    ).rstrip("/")
    if urlsplit(address).scheme not in ("http", "https"):
        raise UsageError(f"{address!r} is no address", expected="http://HOST:PORT or https://HOST")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return Bucket(
        address,
        region,
        name,
        prefix,
        environ["AWS_ACCESS_KEY_ID"],
        environ["AWS_SECRET_ACCESS_KEY"],
        environ.get("AWS_SESSION_TOKEN") or None,
    )
