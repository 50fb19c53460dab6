"""Local copy of a store in a bucket: a sealed file is fetched once, a state on every change.

::

    ~/.cache/iosonde/s3/<digest of endpoint, bucket, prefix>/samples/date=.../host=.../<stem>.parquet ...
                                                             state/<host>/<target>.json

A state's file has the time of its object, so that ``heard_ns`` is the server's. What the bucket no longer has goes from
the copy, too. An object appears in the copy by rename; its size and its own checksum (``engine.checksum``) say whether
it is whole.

No object is essential. One that vanished, is forbidden, archived, late, cut, too large or foreign is named with its
reason and left out (``engine.left_out``); what the copy has of it from before still counts. A key that would lead out
of the copy is foreign.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from iosonde.engine.atomic import draft_of
from iosonde.engine.left_out import leave_out
from iosonde.engine.opener import MIB
from iosonde.engine.remote.s3 import Bucket, ObjectError, S3Object
from iosonde.engine.states import MAX_BYTES
from iosonde.model.errors import StoreError
from iosonde.model.text import clean_text

TABLES = ("samples", "rollups")
"""Tables that are shipped and mirrored: files that never change."""
STATES = ("state",)
"""Tables that are shipped, and replaced each time."""
EVERYTHING = (*TABLES, *STATES)
SEALED_BYTES = 1024 * MIB
"""Largest object that is copied."""
LOST_S = 60
"""Seconds that failing states may cost in all, and sealed files again; the others wait for the next copy."""
NAMED = 10
"""Foreign keys reported one by one."""
_FETCHERS = 8
"""Parallel fetches of states: each is small, and a bucket is far away."""
_KEY = re.compile(
    r"(?:samples|rollups)/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/host=[^/\0]+/[A-Za-z0-9][^/\0]*\.parquet"
)
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
"""Replacement in a listing for characters that XML cannot hold."""
_LIES = dict.fromkeys(TABLES, "date=*/host=*/*.parquet") | dict.fromkeys(STATES, "*/*.json")
_STATE_KEY = re.compile(r"state/[\w-][\w.-]*/[\w-][\w.-]*\.json", re.ASCII)
_RIGHTS = "keys that may list and read the whole prefix"
_LIFECYCLE = "restoring it from the archive"
_LATER = "again: it is asked for each time"
_ELSEWHERE = "another prefix for what iosonde did not write"


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
    """Folder of the copy, updated to the bucket's ``tables``; ``progress``: bytes fetched and total.

    Raises StoreError: none of them can be listed, or there is no place for the copy.
    """
    named = "\n".join((bucket.endpoint, bucket.bucket, bucket.prefix))
    root = cache / hashlib.sha256(named.encode()).hexdigest()[:16]
    # Before the listing: what another process fetches meanwhile is newer than it, and stays.
    had = {table: list((root / table).glob(_LIES[table])) for table in tables}
    copy = _Copy(bucket, root)
    listed = copy.listed(tables)
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = {one.key: one for objects in listed.values() for one in objects}
        new = [one for one in there.values() if not _same(root / one.key, one)]
        copy.fetch_states([one for one in new if is_state(one.key)])
        copy.fetch_sealed([one for one in new if is_ours(one.key)], progress)
        _remove_gone(root, [path for table in listed for path in had[table]], there.keys())
    except OSError as error:
        raise StoreError(
            f"cannot copy {bucket.url} to {root}: {error.strerror}", expected="room in the cache"
        ) from error
    return root


class _Copy:
    """Copy of a bucket in progress, and the objects left out."""

    def __init__(self, bucket: Bucket, root: Path) -> None:
        self._bucket, self._root = bucket, root
        self._lock = threading.Lock()
        self._lost_s = 0.0
        self._waiting: list[str] = []

    def listed(self, tables: Iterable[str]) -> dict[str, list[S3Object]]:
        """Objects to copy, by table; a table that cannot be listed is reported. Raises StoreError: none can."""
        found: dict[str, list[S3Object]] = {}
        failed: list[tuple[str, StoreError]] = []
        for table in tables:
            try:
                found[table] = self._ours(table, self._bucket.objects(f"{table}/"))
            except StoreError as error:
                failed.append((table, error))
        for table, refusal in failed:
            if not found:
                raise refusal
            reason = refusal.what.partition(f" at {self._bucket.endpoint}: ")[2]
            self._leave_out(f"{table}/", f"cannot be listed: {reason}", _RIGHTS)
        return found

    def _ours(self, table: str, objects: Iterable[S3Object]) -> list[S3Object]:
        fits, foreign = [], []
        for one in objects:
            what = _unfit(one)
            if not what:
                fits.append(one)
            elif not _is_marker(one):
                foreign.append((one.key, what))
        if len(foreign) > NAMED:
            more = f"holds {len(foreign) - NAMED:,} more objects that are none of a store"
            self._leave_out(f"{table}/", more, _ELSEWHERE)
        for key, what in foreign[:NAMED]:
            self._leave_out(key, what, _ELSEWHERE)
        return fits

    def fetch_states(self, states: list[S3Object]) -> None:
        """Fetch states into the copy, several at a time."""
        if states:
            with ThreadPoolExecutor(_FETCHERS) as pool:
                list(pool.map(lambda one: self._had(one, self._state, _FETCHERS), states))
        self._end()

    def fetch_sealed(self, files: list[S3Object], progress: Callable[[int, int], None]) -> None:
        """Fetch sealed files into the copy, one after the other."""
        done, total = 0, sum(one.size_bytes for one in files)
        for one in files:
            progress(done, total)
            self._had(one, self._sealed)
            done += one.size_bytes
        self._end()

    def _state(self, one: S3Object, draft: Path) -> None:
        # One that was replaced since it was listed may have another size.
        draft.write_bytes(self._bucket.get(one.key, MAX_BYTES))
        assert one.modified_ns is not None
        os.utime(draft, ns=(one.modified_ns, one.modified_ns))

    def _sealed(self, one: S3Object, draft: Path) -> None:
        self._bucket.fetch(one, draft)

    def _had(self, one: S3Object, fetch: Callable[[S3Object, Path], None], beside: int = 1) -> None:
        """Fetch an object into the copy, or report it. ``beside``: number of parallel fetches."""
        with self._lock:
            if self._lost_s >= LOST_S:
                self._waiting.append(one.key)
                return
        began_s, path = time.monotonic(), self._root / one.key
        try:
            draft = draft_of(path)
            try:
                fetch(one, draft)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
        except ObjectError as error:
            with self._lock:
                self._lost_s += (time.monotonic() - began_s) / beside
            self._leave_out(one.key, *_why(error))
        except OSError as error:
            self._leave_out(one.key, f"cannot be copied: {error.strerror}", "room in the cache")

    def _end(self) -> None:
        if self._waiting:
            n = len(self._waiting)
            what = f"was not asked for, nor were {n - 1:,} others: the server failed for {LOST_S} s"
            self._leave_out(self._waiting[0], what, _LATER)
        self._waiting, self._lost_s = [], 0.0

    def _leave_out(self, key: str, what: str, hint: str) -> None:
        shown = f"{self._bucket.url}{clean_text(key)}"
        leave_out(self._root / clean_text(key), what, hint, shown=shown)


def _why(error: ObjectError) -> tuple[str, str]:
    """Defect of an object, and advice."""
    if error.gone:
        return "has gone since it was listed", "nothing, unless its rows are missed"
    if "InvalidObjectState" in str(error):
        return f"is archived: {error}", _LIFECYCLE
    return f"cannot be read: {error}", _RIGHTS if error.forbidden else _LATER


def _unfit(one: S3Object) -> str:
    """Reason why an object is not copied; "" if it is."""
    if is_state(one.key):
        if one.size_bytes > MAX_BYTES:
            return f"is larger than {MAX_BYTES} bytes"
        return "" if one.modified_ns is not None else "was modified at no time that can be told"
    if not is_ours(one.key):
        return "is no file of a store"
    return f"is larger than {SEALED_BYTES} bytes" if one.size_bytes > SEALED_BYTES else ""


def _is_marker(one: S3Object) -> bool:
    """True if an object stands for a folder, or is a lock or a draft from a copied folder."""
    name = one.key.rpartition("/")[2]
    return (not name and one.size_bytes == 0) or (name.startswith(".") and ".." not in one.key)


def _remove_gone(root: Path, had: Sequence[Path], there: Set[str]) -> None:
    """Remove files that the bucket no longer has; a local roll-up stays with its samples."""
    for path in had:
        key = path.relative_to(root).as_posix()
        of_samples = key.replace("rollups/", "samples/", 1)
        if key not in there and of_samples not in there:
            path.unlink(missing_ok=True)


def is_ours(key: str) -> bool:
    """True if a key is that of a sealed file, leads nowhere else, and is printable."""
    return _KEY.fullmatch(key) is not None and key.isprintable() and _UNKNOWN not in key


def is_state(key: str) -> bool:
    """True if a key is that of a state, leads nowhere else, and is printable."""
    return _STATE_KEY.fullmatch(key) is not None


def _same(path: Path, one: S3Object) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    unchanged = is_ours(one.key) or found.st_mtime_ns == one.modified_ns
    return found.st_size == one.size_bytes and unchanged
