"""A bucket of an S3 server: list, get, put. Signed as AWS Signature Version 4 says, over the standard library.

Address, region and keys come from the environment that other tools use: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``,
``AWS_REGION``, ``AWS_DEFAULT_REGION``, ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``. An
object appears whole or not at all: that is what S3 promises of a put.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from iosonde.model.errors import StoreError, UsageError

SCHEME = "s3://"
_PATIENCE_S = 30.0
_TRIES = 4
_AGAIN = (429, 500, 502, 503, 504)
_MOST_BYTES = 5 << 30
"""What one put may hold."""


class S3Object(NamedTuple):
    """One object; ``key`` without the bucket's prefix."""

    key: str
    size_bytes: int
    etag: str


@dataclass(frozen=True)
class Bucket:
    """A prefix of a bucket. ``secret`` is never printed."""

    endpoint: str
    region: str
    bucket: str
    prefix: str
    key_id: str
    secret: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Bucket({self.url})"

    @property
    def url(self) -> str:
        """As a user writes it."""
        return f"{SCHEME}{self.bucket}/{self.prefix}"

    def objects(self, below: str = "") -> Iterator[S3Object]:
        """Every object below the prefix, by key. Raises StoreError."""
        after: str | None = None
        while True:
            query = {"list-type": "2", "prefix": self.prefix + below}
            if after:
                query["continuation-token"] = after
            page = _parsed(self._asked("GET", "", query=query))
            for one in page.iterfind("Contents"):
                key = one.findtext("Key", "")
                if key.startswith(self.prefix):
                    size, etag = int(one.findtext("Size", "0")), one.findtext("ETag", "")
                    yield S3Object(key[len(self.prefix) :], size, etag.strip('"'))
            after = page.findtext("NextContinuationToken")
            if page.findtext("IsTruncated") != "true" or not after:
                return

    def get(self, key: str) -> bytes:
        """The bytes of an object. Raises StoreError."""
        return self._asked("GET", self.prefix + key)

    def put(self, key: str, path: Path) -> None:
        """A file as an object; the server checks its MD5. Raises StoreError, OSError."""
        content = path.read_bytes()
        if len(content) > _MOST_BYTES:
            raise StoreError(f"{path} is too large for one object", expected="at most 5 GiB")
        digest = base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
        self._asked("PUT", self.prefix + key, content, {"content-md5": digest})

    def _asked(
        self,
        method: str,
        key: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> bytes:
        """The answer to a request, asked again while the server is busy. Raises StoreError."""
        path = quote(f"/{self.bucket}/{key}" if key else f"/{self.bucket}")
        words = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='')}"
            for name, value in sorted((query or {}).items())
        )
        reason = ""
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(0.2 * 2**attempt)
            signed = self._signed(method, path, words, body, headers or {})
            url = f"{self.endpoint}{path}" + (f"?{words}" if words else "")
            request = urllib.request.Request(url, body or None, signed, method=method)
            try:
                with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                said = error.read(4096)
                reason = f"{error.code} {_said(said) or error.reason}"
                if error.code not in _AGAIN:
                    break
            except (OSError, http.client.HTTPException) as error:
                reason = str(getattr(error, "reason", "") or error or type(error).__name__)
        raise StoreError(
            f"{method} {SCHEME}{self.bucket}/{key} at {self.endpoint}: {reason}",
            expected="an S3 server and keys that may do that",
            hint="AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
        )

    def _signed(
        self, method: str, path: str, query: str, body: bytes, headers: Mapping[str, str]
    ) -> dict[str, str]:
        """The headers of a request, with the signature that AWS Signature Version 4 prescribes."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        every = {"host": urlsplit(self.endpoint).netloc, "x-amz-date": now, **headers}
        every["x-amz-content-sha256"] = digest
        if self.token:
            every["x-amz-security-token"] = self.token
        names = ";".join(sorted(every))
        lines = "".join(f"{name}:{every[name].strip()}\n" for name in sorted(every))
        canonical = "\n".join((method, path, query, lines, names, digest))
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashed}"
        key = f"AWS4{self.secret}".encode()
        for part in (now[:8], self.region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        every["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        del every["host"]  # the client sets it
        return every


def bucket_of(url: str, environ: Mapping[str, str], endpoint: str | None = None) -> Bucket:
    """The bucket that ``s3://bucket/prefix`` names. Raises UsageError: no bucket, no keys."""
    name, _, prefix = url.removeprefix(SCHEME).partition("/")
    if not url.startswith(SCHEME) or not name:
        raise UsageError(f"{url!r} names no bucket", expected="s3://bucket/prefix")
    missing = [
        key for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if not environ.get(key)
    ]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        told = f"{' and '.join(missing)} {verb} not set"
        raise UsageError(told, expected="keys of the S3 server")
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


def _parsed(text: bytes) -> ElementTree.Element:
    """An answer without the namespace of its names. Raises StoreError."""
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise StoreError("the S3 server's answer is no list of objects")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise StoreError(f"the S3 server's answer is no list of objects: {error}") from error
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    return root


def _said(answer: bytes) -> str:
    """What an S3 server says of an error."""
    try:
        root = _parsed(answer)
    except StoreError:
        return ""
    return " ".join(filter(None, (root.findtext("Code"), root.findtext("Message"))))
