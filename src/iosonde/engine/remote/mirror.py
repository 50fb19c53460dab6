"""A store in a bucket is read from a copy: objects never change but states, so each is fetched once.

::

    ~/.cache/iosonde/s3/<digest of endpoint, bucket, prefix>/samples/date=.../host=.../<stem>.parquet ...

What the bucket no longer has goes from the copy, too. An object appears in the copy by rename; its size and its own
checksum (``engine.checksum``) say whether it is whole. A key that would lead out of the copy is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from iosonde.engine.atomic import draft_of
from iosonde.engine.remote.s3 import Bucket, S3Object
from iosonde.model.errors import StoreError

TABLES = ("samples", "rollups")
"""What is shipped, and mirrored: files that never change."""
_KEY = re.compile(
    r"(?:samples|rollups)/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/host=[^/\0]+/[A-Za-z0-9][^/\0]*\.parquet"
)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """``$XDG_CACHE_HOME/iosonde/s3``, else ``~/.cache/iosonde/s3``."""
    base = environ.get("XDG_CACHE_HOME")
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (Path(base) if base else home / ".cache") / "iosonde" / "s3"


def mirrored(
    bucket: Bucket, cache: Path, progress: Callable[[int, int], None] = lambda _, __: None
) -> Path:
    """The folder of the copy, made as the bucket is now; ``progress``: bytes fetched and all. Raises StoreError."""
    named = "\n".join((bucket.endpoint, bucket.bucket, bucket.prefix))
    root = cache / hashlib.sha256(named.encode()).hexdigest()[:16]
    there = {
        one.key: one for table in TABLES for one in bucket.objects(f"{table}/") if is_ours(one.key)
    }
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = [one for one in there.values() if not _same(root / one.key, one)]
        done, total = 0, sum(one.size_bytes for one in new)
        for one in new:
            progress(done, total)
            _fetch(bucket, one, root / one.key)
            done += one.size_bytes
        for table in TABLES:
            for path in (root / table).glob("date=*/host=*/*.parquet"):
                if path.relative_to(root).as_posix() not in there:
                    path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot copy {bucket.url} to {root}: {error.strerror}", expected="room in the cache"
        ) from error
    return root


def is_ours(key: str) -> bool:
    """Whether a key is that of a sealed file, and leads nowhere else."""
    return _KEY.fullmatch(key) is not None


def _same(path: Path, one: S3Object) -> bool:
    try:
        return path.stat().st_size == one.size_bytes
    except OSError:
        return False


def _fetch(bucket: Bucket, one: S3Object, path: Path) -> None:
    content = bucket.get(one.key)
    if len(content) != one.size_bytes:
        raise StoreError(f"{bucket.url}{one.key} has {len(content)} of {one.size_bytes} bytes")
    draft = draft_of(path)
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
