"""Storage location of a benchmark, as a user writes it.

======================================  =====================================================================
``DIR``                                 a directory of a mounted file system
``s3://BUCKET[/PREFIX]``                AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
``postgresql://USER@HOST:PORT/DB``      PGPASSWORD; ``?schema=NAME`` for another than iosonde_bench
``mongodb://HOST:PORT/DB``              pymongo's form, options too
``nfs://HOST[:PORT]/EXPORT``            an NFSv3 export, without the kernel's client
``mpiio:DIR``                           the same directory through MPI-IO
``null:``                               nowhere: prices the harness
``null:2ms:0.5``                        nowhere: answers after 2 ms (median), with this spread of the logarithm
``python-null:``                        nowhere, by way of Python: prices the bridge of mongodb and mpiio
======================================  =====================================================================
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.bench.backends.mongodb import MongoStore
from iosonde.bench.backends.mpiio import MpiioStore
from iosonde.bench.backends.nfs_place import parse_nfs
from iosonde.bench.backends.null import NothingStore
from iosonde.bench.backends.protocol import StoreFactory
from iosonde.model.errors import UnitError, UsageError
from iosonde.model.units import parse_duration

KINDS = ("posix", "s3", "postgresql", "mongodb", "nfs", "mpiio", "null", "python-null")
FORMS = (
    "a directory, s3://BUCKET/PREFIX, postgresql://USER@HOST:PORT/DB, mongodb://HOST:PORT/DB, "
    "nfs://HOST/EXPORT, mpiio:DIR, null: or python-null:"
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+-]*):")
_SPELLINGS = {"postgres": "postgresql", "mongodb+srv": "mongodb"}
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_DATABASE = "iosonde_bench"


@dataclass(frozen=True, slots=True)
class StorageLocation:
    """Storage location of a benchmark; neither its name nor its representation holds credentials.

    ``core`` is what ``_core`` takes: a location in JSON, or (mongodb, mpiio, python-null) what makes a
    Python store.
    """

    kind: str
    name: str
    core: str | StoreFactory = field(repr=False)

    @property
    def foreign(self) -> bool:
        """True if its operations go through Python."""
        return not isinstance(self.core, str)


def parse_place(
    text: str, environ: Mapping[str, str], endpoint: str | None = None
) -> StorageLocation:
    """Parse a location; ``endpoint`` overrides AWS_ENDPOINT_URL.

    Raises UsageError, which says what was wrong and never repeats a password.
    """
    if not text.strip():
        raise UsageError("the place is empty", expected=FORMS)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _posix(text)
    word = scheme[1].lower()
    kind = _SPELLINGS.get(word, word)
    rest = text[scheme.end() :]
    readers: dict[str, Callable[[], StorageLocation]] = {
        "s3": lambda: _s3(rest, environ, endpoint),
        "postgresql": lambda: _postgresql(rest, environ),
        "mongodb": lambda: _mongodb(f"{word}:{rest}"),
        "nfs": lambda: _nfs(text),
        "mpiio": lambda: _mpiio(rest),
        "null": lambda: _nowhere(kind, rest),
        "python-null": lambda: _nowhere(kind, rest),
    }
    if kind in readers:
        return readers[kind]()
    close = difflib.get_close_matches(kind, (*KINDS, *_SPELLINGS), 1)
    raise UsageError(
        f"`{word}:` is no kind of place",
        expected=FORMS,
        hint=f"`{close[0]}`" if close else f"`./{word}:...` for a directory of that name",
    )


def _posix(text: str) -> StorageLocation:
    path = str(Path(text).absolute())
    return StorageLocation("posix", path, json.dumps({"kind": "posix", "path": path}))


def _nowhere(kind: str, rest: str) -> StorageLocation:
    if kind == "python-null":
        if rest:
            raise UsageError(f"{kind}: takes nothing behind the colon, got `{rest}`")
        return StorageLocation(kind, kind, NothingStore)
    if not rest:
        return StorageLocation(kind, kind, json.dumps({"kind": kind}))
    length, _, spread = rest.partition(":")
    try:
        median_ns, sigma = parse_duration(length), float(spread or 0)
    except (UnitError, ValueError):
        median_ns, sigma = 0, -1.0
    if not 0 <= sigma <= 3:
        raise UsageError(
            f"null: takes a latency and the spread of its logarithm, got `{rest}`",
            expected="null:2ms or null:2ms:0.5",
        )
    latency = {"median_ns": [0, 0, *[median_ns] * 4], "sigma": sigma}
    return StorageLocation(kind, f"null:{rest}", json.dumps({"kind": kind, "latency": latency}))


def _mpiio(rest: str) -> StorageLocation:
    if not rest:
        raise UsageError("mpiio: names no directory", expected="mpiio:DIR")
    path = Path(rest).absolute()
    return StorageLocation("mpiio", f"mpiio:{path}", functools.partial(MpiioStore, path))


def _nfs(text: str) -> StorageLocation:
    place = parse_nfs(text)
    location = {
        "kind": "nfs",
        "host": place.host,
        "path": place.path,
        "nfs_port": place.nfs_port,
        "mount_port": place.mount_port,
        "portmap_port": place.portmap_port,
        "uid": os.getuid() if place.uid is None else place.uid,
        "gid": os.getgid() if place.gid is None else place.gid,
        "reserved": place.reserved,
    }
    return StorageLocation("nfs", place.name, json.dumps(location))


def _s3(rest: str, environ: Mapping[str, str], endpoint: str | None) -> StorageLocation:
    bucket, _, prefix = rest.removeprefix("//").partition("/")
    if not rest.startswith("//") or not _BUCKET.fullmatch(bucket):
        # What stands before an @ may be a key: it is not repeated.
        raise UsageError(
            "s3: names no bucket",
            expected="s3://BUCKET/PREFIX with 3 to 63 of a-z, 0-9, `.`, `-` and `_` in BUCKET",
            hint="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for keys" if "@" in bucket else "",
        )
    keys = {
        "access_key": environ.get("AWS_ACCESS_KEY_ID", ""),
        "secret_key": environ.get("AWS_SECRET_ACCESS_KEY", ""),
        "session_token": environ.get("AWS_SESSION_TOKEN") or None,
    }
    if not keys["access_key"] or not keys["secret_key"]:
        raise UsageError(
            f"s3://{bucket}: no keys to sign requests with",
            expected="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        )
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    given = endpoint or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    address = given or f"https://s3.{region}.amazonaws.com"
    shown = _endpoint_name(address)
    prefix = prefix.strip("/")
    location = {
        "kind": "s3",
        "endpoint": address,
        "region": region,
        "bucket": bucket,
        "prefix": prefix,
        "keys": keys,
        # A bucket with dots has no certificate of its own.
        "virtual_host": not given and "." not in bucket,
    }
    name = f"s3://{bucket}/{prefix}".rstrip("/")
    return StorageLocation("s3", f"{name} at {shown}" if given else name, json.dumps(location))


def _endpoint_name(address: str) -> str:
    """``host:port``; raises UsageError if it is no address or holds credentials."""
    parts = _split(address, "the endpoint")
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise UsageError(
            "the endpoint is no address of an S3 server",
            expected="http://HOST:PORT or https://HOST, without credentials",
        )
    return parts.netloc


def _split(text: str, what: str) -> urllib.parse.SplitResult:
    try:
        return urllib.parse.urlsplit(text)
    except ValueError:
        raise UsageError(f"{what} is no address", expected="SCHEME://HOST:PORT/...") from None


def _postgresql(rest: str, environ: Mapping[str, str]) -> StorageLocation:
    form = "postgresql://USER@HOST:PORT/DB"
    parts = _split(f"postgresql:{rest}", "postgresql:")
    try:
        port = parts.port or int(environ.get("PGPORT", "5432"))
    except ValueError:
        raise UsageError("postgresql: the port is no number", expected=form) from None
    if not rest.startswith("//"):
        raise UsageError("postgresql: names no server", expected=form)
    options = _options(parts.query, {"host", "schema", "sslmode"}, "postgresql")
    if options.get("sslmode", "prefer") not in {"disable", "allow", "prefer"}:
        raise UsageError("postgresql: this backend does not speak TLS", expected="sslmode=disable")
    user = urllib.parse.unquote(parts.username or "") or environ.get("PGUSER", "")
    user = user or environ.get("USER", "")
    if not user:
        raise UsageError("postgresql: names no user", expected=form, hint="PGUSER")
    host = options.get("host") or parts.hostname or environ.get("PGHOST") or "localhost"
    database = urllib.parse.unquote(parts.path.strip("/")) or environ.get("PGDATABASE") or user
    location: dict[str, Any] = {
        "kind": "postgresql",
        "host": host,
        "port": port,
        "user": user,
        "database": database,
        "schema": options.get("schema", _DATABASE),
    }
    password = urllib.parse.unquote(parts.password or "") or environ.get("PGPASSWORD")
    if password:
        location["password"] = password
    name = f"postgresql://{user}@{host}:{port}/{database}"
    if "schema" in options:
        name += f"?schema={options['schema']}"
    return StorageLocation("postgresql", name, json.dumps(location))


def _options(query: str, allowed: set[str], kind: str) -> dict[str, str]:
    options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in allowed:
            raise UsageError(
                f"{kind}: no option `{name}`", expected=f"one of {', '.join(sorted(allowed))}"
            )
    return options


def _mongodb(uri: str) -> StorageLocation:
    parts = _split(uri, "mongodb:")
    user, _, hosts = parts.netloc.rpartition("@")
    if not hosts:
        raise UsageError("mongodb: names no server", expected="mongodb://HOST:PORT/DB")
    database = urllib.parse.unquote(parts.path.strip("/")) or _DATABASE
    if re.search(r'[/\\. "$*<>:|?]', database):
        raise UsageError(f"mongodb: `{database}` cannot be a database", expected="a plain name")
    login = f"{user.partition(':')[0]}@" if user else ""
    name = f"{parts.scheme}://{login}{hosts}/{database}"
    return StorageLocation("mongodb", name, functools.partial(MongoStore, uri, database, name))
