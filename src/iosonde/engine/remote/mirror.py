"""A store in a bucket is read from a copy: a sealed file is fetched once, a state whenever it was replaced.

::

    ~/.cache/iosonde/s3/<digest of endpoint, bucket, prefix>/samples/date=.../host=.../<stem>.parquet ...
                                                             state/<host>/<target>.json

A state's file has the time of its object, so that ``heard_ns`` is the server's. What the bucket no longer has goes from
the copy, too. An object appears in the copy by rename; its size and its own checksum (``engine.checksum``) say whether
it is whole. A key that would lead out of the copy is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from iosonde.engine.atomic import draft_of
from iosonde.engine.remote.s3 import Bucket, S3Object
from iosonde.engine.states import MAX_BYTES
from iosonde.model.errors import StoreError

TABLES = ("samples", "rollups")
"""What is shipped, and mirrored: files that never change."""
STATES = ("state",)
"""Shipped, too, and replaced each time."""
EVERYTHING = (*TABLES, *STATES)
_FETCHERS = 8
"""States come together: each is small, and the way to a bucket is long."""
_KEY = re.compile(
    r"(?:samples|rollups)/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/host=[^/\0]+/[A-Za-z0-9][^/\0]*\.parquet"
)
_LIES = dict.fromkeys(TABLES, "date=*/host=*/*.parquet") | dict.fromkeys(STATES, "*/*.json")
_STATE_KEY = re.compile(r"state/[\w-][\w.-]*/[\w-][\w.-]*\.json", re.ASCII)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """``$XDG_CACHE_HOME/iosonde/s3``, else ``~/.cache/iosonde/s3``."""
    base = environ.get("XDG_CACHE_HOME")
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (Path(base) if base else home / ".cache") / "iosonde" / "s3"


def mirrored(
    bucket: Bucket,
    cache: Path,
    progress: Callable[[int, int], None] = lambda _, __: None,
    tables: tuple[str, ...] = EVERYTHING,
) -> Path:
    """The folder of the copy, made as the bucket's ``tables`` are now; ``progress``: bytes fetched and all.

    Raises StoreError.
    """
    named = "\n".join((bucket.endpoint, bucket.bucket, bucket.prefix))
    root = cache / hashlib.sha256(named.encode()).hexdigest()[:16]
    # Before the listing: what another process fetches meanwhile is newer than it, and stays.
    had = [path for table in tables for path in (root / table).glob(_LIES[table])]
    there = {one.key: one for table in tables for one in bucket.objects(f"{table}/") if _fits(one)}
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = [one for one in there.values() if not _same(root / one.key, one)]
        _fetch_states(bucket, [one for one in new if is_state(one.key)], root)
        files = [one for one in new if is_ours(one.key)]
        done, total = 0, sum(one.size_bytes for one in files)
        for one in files:
            progress(done, total)
            _fetch(bucket, one, root / one.key)
            done += one.size_bytes
        _remove_gone(root, had, there.keys())
    except OSError as error:
        raise StoreError(
            f"cannot copy {bucket.url} to {root}: {error.strerror}", expected="room in the cache"
        ) from error
    return root


def _remove_gone(root: Path, had: Sequence[Path], there: Set[str]) -> None:
    """Take away what the bucket no longer has; a roll-up that a reader made here stays with its samples."""
    for path in had:
        key = path.relative_to(root).as_posix()
        of_samples = key.replace("rollups/", "samples/", 1)
        if key not in there and of_samples not in there:
            path.unlink(missing_ok=True)


def is_ours(key: str) -> bool:
    """Whether a key is that of a sealed file, and leads nowhere else."""
    return _KEY.fullmatch(key) is not None


def is_state(key: str) -> bool:
    """The same of a state."""
    return _STATE_KEY.fullmatch(key) is not None


def _fits(one: S3Object) -> bool:
    return is_ours(one.key) or (is_state(one.key) and one.size_bytes <= MAX_BYTES)


def _same(path: Path, one: S3Object) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    unchanged = is_ours(one.key) or found.st_mtime_ns == one.modified_ns
    return found.st_size == one.size_bytes and unchanged


def _fetch_states(bucket: Bucket, states: list[S3Object], root: Path) -> None:
    if not states:
        return
    with ThreadPoolExecutor(_FETCHERS) as pool:
        for one, content in zip(states, pool.map(_content(bucket), states), strict=True):
            if content is not None:
                _write(root / one.key, content, one.modified_ns)


def _content(bucket: Bucket) -> Callable[[S3Object], bytes | None]:
    """Reads a state; None: it went since it was listed. One that was replaced since may have another size."""
    return lambda one: bucket.get_if_there(one.key)


def _fetch(bucket: Bucket, one: S3Object, path: Path) -> None:
    content = bucket.get(one.key)
    if len(content) != one.size_bytes:
        raise StoreError(f"{bucket.url}{one.key} has {len(content)} of {one.size_bytes} bytes")
    _write(path, content)


def _write(path: Path, content: bytes, modified_ns: int | None = None) -> None:
    draft = draft_of(path)
    try:
        draft.write_bytes(content)
        if modified_ns is not None:
            os.utime(draft, ns=(modified_ns, modified_ns))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
