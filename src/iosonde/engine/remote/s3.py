"""A bucket of an S3 server: list, get, put.

Address, region and keys come from the environment that other tools use: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``,
``AWS_REGION``, ``AWS_DEFAULT_REGION``, ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``. An
object appears whole or not at all: that is what S3 promises of a put.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from iosonde.engine.layout.root import SCHEME, is_bucket
from iosonde.model.errors import StoreError, UsageError

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

_PATIENCE = timedelta(seconds=30)
_TRIES = 4


class S3Object(NamedTuple):
    """One object; ``key`` without the bucket's prefix."""

    key: str
    size_bytes: int
    modified_ns: int
    """By the server's clock, which may count whole seconds."""


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
        """As a user writes it."""
        return f"{SCHEME}{self.bucket}/{self.prefix}"

    def objects(self, below: str = "") -> Iterator[S3Object]:
        """Every object below the prefix. Raises StoreError, UsageError."""
        store = self._store
        import obstore

        try:
            for some in obstore.list(store, self.prefix + below, chunk_size=1000):
                for one in some:
                    modified_ns = int(one["last_modified"].timestamp()) * 1_000_000_000
                    yield S3Object(one["path"].removeprefix(self.prefix), one["size"], modified_ns)
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise self._failed("list", below, error) from error

    def get(self, key: str) -> bytes:
        """The bytes of an object. Raises StoreError, UsageError."""
        store = self._store
        import obstore

        try:
            return bytes(obstore.get(store, self.prefix + key).bytes())
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise self._failed("read", key, error) from error

    def get_if_there(self, key: str) -> bytes | None:
        """The same, None where there is none. Raises StoreError, UsageError."""
        store = self._store
        import obstore

        try:
            return bytes(obstore.get(store, self.prefix + key).bytes())
        except (obstore.exceptions.NotFoundError, FileNotFoundError):
            return None
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise self._failed("read", key, error) from error

    def replace(self, key: str, content: bytes) -> None:
        """Bytes as an object, whatever was there. Raises StoreError, UsageError."""
        store = self._store
        import obstore

        try:
            obstore.put(store, self.prefix + key, content)
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise self._failed("write", key, error) from error

    def put(self, key: str, path: Path) -> None:
        """A file as an object. Raises StoreError, OSError."""
        store = self._store
        import obstore

        with path.open("rb") as file:
            try:
                obstore.put(store, self.prefix + key, file)
            except (obstore.exceptions.BaseError, ValueError) as error:
                raise self._failed("write", key, error) from error

    @cached_property
    def _store(self) -> S3Store:
        try:
            from obstore.store import S3Store
        except ImportError as error:
            raise UsageError(
                "buckets need obstore, which is not installed", hint="pip install 'iosonde[s3]'"
            ) from error
        keys: S3Config = {
            "endpoint": self.endpoint,
            "region": self.region,
            "access_key_id": self.key_id,
            "secret_access_key": self.secret,
        }
        if self.token:
            keys["session_token"] = self.token
        return S3Store(
            self.bucket,
            config=keys,
            client_options={"allow_http": True, "timeout": _PATIENCE},
            retry_config={"max_retries": _TRIES - 1, "retry_timeout": _PATIENCE},
        )

    def _failed(self, what: str, key: str, error: Exception) -> StoreError:
        reason = " ".join(str(error).partition("\n\nDebug source")[0].split())
        return StoreError(
            f"cannot {what} {self.url}{key} at {self.endpoint}: {reason}",
            expected="an S3 server and keys that may do that",
            hint="AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
        )


def bucket_of(url: str, environ: Mapping[str, str], endpoint: str | None = None) -> Bucket:
    """The bucket that ``s3://bucket/prefix`` names. Raises UsageError: no bucket, no keys."""
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
