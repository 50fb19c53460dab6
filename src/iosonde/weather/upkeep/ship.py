"""Shipping: copying sealed files to a folder or a bucket that many hosts share.

::

    states, replaced -> list what is there -> put what is not, samples before roll-ups -> done

A file has one name everywhere (run and segment), appears whole or not at all, and never changes: a shipment that died
is begun again and puts what is missing; what two hosts or two shipments put twice is one file. Only an import's file
may be replaced, by a longer one. What the destination has merged since, readers leave out.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from iosonde.engine.atomic import draft_of, permitted, sync
from iosonde.engine.layout.root import is_bucket
from iosonde.engine.layout.segments import parquet_segments, rollup_segments
from iosonde.engine.opener import UnfitError, content
from iosonde.engine.remote.mirror import TABLES, is_ours
from iosonde.engine.remote.s3 import Bucket, bucket_of
from iosonde.engine.states import MAX_BYTES
from iosonde.host.boots import Boot
from iosonde.model.errors import StoreError
from iosonde.weather.upkeep.ship_states import ship_states


class _Place(Protocol):
    """Destination of shipping."""

    def sizes(self) -> dict[str, int]:
        """Size of each existing file, by key. Raises StoreError."""

    def put(self, key: str, path: Path) -> None:
        """Store a file atomically. Raises StoreError, OSError."""

    def state(self, key: str) -> bytes | None:
        """As in ``StatePlace``."""

    def replace(self, key: str, content: bytes) -> None:
        """As in ``StatePlace``."""


@dataclass
class Shipped:
    """``sent``: keys stored; ``there``: number already present; ``told``: failures.

    ``states``: how many were replaced; ``namesakes``: hosts whose name another machine ships under, too.
    """

    sent: list[str] = field(default_factory=list)
    sent_bytes: int = 0
    there: int = 0
    told: list[str] = field(default_factory=list)
    states: int = 0
    namesakes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Folder:
    root: Path

    def sizes(self) -> dict[str, int]:
        return {
            path.relative_to(self.root).as_posix(): path.stat().st_size
            for table in TABLES
            for path in (self.root / table).glob("date=*/host=*/*.parquet")
        }

    def put(self, key: str, path: Path) -> None:
        place = self.root / key
        draft = draft_of(place)
        try:
            shutil.copyfile(path, draft)
            permitted(draft)
            sync(draft)
            draft.replace(place)
            sync(place.parent)
        finally:
            draft.unlink(missing_ok=True)

    def state(self, key: str) -> bytes | None:
        try:
            return content(self.root / key, MAX_BYTES)
        except (FileNotFoundError, UnfitError, IsADirectoryError):
            return None

    def replace(self, key: str, content: bytes) -> None:
        draft = draft_of(self.root / key)
        try:
            draft.write_bytes(content)
            permitted(draft)
            draft.replace(self.root / key)
        finally:
            draft.unlink(missing_ok=True)


@dataclass(frozen=True)
class _InBucket:
    bucket: Bucket

    def sizes(self) -> dict[str, int]:
        return {
            one.key: one.size_bytes for table in TABLES for one in self.bucket.objects(f"{table}/")
        }

    def put(self, key: str, path: Path) -> None:
        self.bucket.put(key, path)

    def state(self, key: str) -> bytes | None:
        return self.bucket.get_if_there(key, MAX_BYTES)

    def replace(self, key: str, content: bytes) -> None:
        self.bucket.replace(key, content)


def ship(
    root: Path,
    to: str,
    environ: Mapping[str, str],
    *,
    endpoint: str | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
    clock: Callable[[], int] = time.time_ns,
    boot: Boot | None = None,
) -> Shipped:
    """Send states, and all sealed files that are missing at ``to`` (``s3://bucket/prefix`` or a folder).

    ``progress``: bytes sent and all; ``clock``: ns, UTC; ``boot``: of this machine, so that another
    one of its name shows. One file that cannot be read does not stop the others.
    Raises StoreError, UsageError: the destination refuses.
    """
    place: _Place
    if is_bucket(to):
        place = _InBucket(bucket_of(to, environ, endpoint))
    else:
        place = _Folder(Path(to))
        if Path(to).resolve() == root.resolve():
            raise StoreError(f"{to} is the store itself", expected="another folder")
    try:
        states = ship_states(root, place, clock, boot)
        there = place.sizes()
    except OSError as error:
        raise _refused(to, error) from error
    done = Shipped(told=states.damaged, states=states.sent, namesakes=sorted(states.namesakes))
    files = _files(root)
    new = [(key, path, size) for key, path, size in files if there.get(key, -1) < size]
    done.there = len(files) - len(new)
    total = sum(size for _, _, size in new)
    for key, path, size in new:
        progress(done.sent_bytes, total)
        try:
            place.put(key, path)
        except FileNotFoundError:
            continue  # merged or dropped meanwhile
        except PermissionError as error:
            if error.filename != str(path):
                raise _refused(to, error) from error
            done.told.append(f"cannot read {path}: {error.strerror}")
            continue
        except OSError as error:
            raise _refused(to, error) from error
        done.sent.append(key)
        done.sent_bytes += size
    return done


def _files(root: Path) -> list[tuple[str, Path, int]]:
    """Sealed files that count for readers: keys, paths, bytes; samples first."""
    found = []
    for listed in (parquet_segments, rollup_segments):
        for segment in listed(root):
            key = segment.path.relative_to(root).as_posix()
            try:
                size = segment.path.stat().st_size
            except FileNotFoundError:
                continue
            if is_ours(key) and segment.path.is_file():
                found.append((key, segment.path, size))
    return found


def _refused(to: str, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write {error.filename or to}: {error.strerror}",
        expected="room and the right to write there",
    )
