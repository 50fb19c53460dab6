"""Facts of a probe's place below a target (layout: rust/probe/src/probe/files/place.rs).

Everything is opened for reading, relative to the directory before, and follows no symbolic link: a
target is foreign ground. Of the pool only few files are touched, because a touch warms the caches
that the probe times.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from iosonde.doctor.cached import cached_bytes, direct_read, extent_flags
from iosonde.host.child import Reporter

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MARK = "iosonde probe directory, format 1"
OF_A_PLACE = frozenset({"MARK", "MARK.new", "lock", "data"})
SAMPLED = 16
_POOL = re.compile(r"pool-(\d{1,18})")
_OBJECT = re.compile(r"[0-9a-f]{16}")
_TEXT_BYTES = 256
_MAX_NAMES = 10_000_000


class OpenedPlace(NamedTuple):
    """A place as a name below an opened directory."""

    parent: int
    name: str
    path: str
    uid: str


def listed(directory: int, most: int) -> tuple[list[str], bool]:
    """Names in a directory, and True if these are all."""
    names: list[str] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if len(names) >= most:
                return names, False
            names.append(entry.name)
    return names, True


def gather_own(place: OpenedPlace, report: Reporter) -> dict[str, Any]:
    """All facts of this host's place."""
    facts: dict[str, Any] = {"path": place.path, "uid": place.uid, "host": place.name}
    try:
        report.trying(f"to open {place.path}")
        directory = os.open(place.name, DIRECTORY, dir_fd=place.parent)
    except OSError as error:
        return facts | {"error": error.strerror}
    try:
        report.trying(f"to list {place.path}")
        names, _ = listed(directory, _MAX_NAMES)
        facts["strangers"] = sorted(
            name for name in names if name not in OF_A_PLACE and not _POOL.fullmatch(name)
        )[:20]
        report.trying(f"to read {place.path}/MARK and lock")
        facts["mark"] = _first_line(directory, "MARK")
        facts["lock"] = _lock(directory)
        report.trying(f"to open and read {place.path}/data")
        facts["data"] = _data(directory)
        report.trying(f"to list the pools of {place.path}")
        facts["pools"] = [_pool(directory, name) for name in sorted(names) if _POOL.fullmatch(name)]
    except OSError as error:
        facts["error"] = error.strerror
    finally:
        os.close(directory)
    return facts


def gather_other(place: OpenedPlace, report: Reporter) -> dict[str, Any]:
    """Facts of another owner's place: owner, time of the last write, size."""
    facts: dict[str, Any] = {"path": place.path, "uid": place.uid, "host": place.name}
    report.trying(f"to look at {place.path}")
    try:
        directory = os.open(place.name, DIRECTORY, dir_fd=place.parent)
    except OSError as error:
        return facts | {"error": error.strerror}
    try:
        facts["mark"] = _first_line(directory, "MARK")
        data = _stat(directory, "data")
        times = [0 if data is None else data.st_mtime_ns]
        lock = _stat(directory, "lock")
        times.append(0 if lock is None else lock.st_mtime_ns)
        for name in listed(directory, 1000)[0]:
            if _POOL.fullmatch(name):
                status = _stat(directory, name)
                times.append(0 if status is None else status.st_mtime_ns)
        facts["written_ns"] = max(times) or None
        facts["data_bytes"] = None if data is None else data.st_size
    except OSError as error:
        facts["error"] = error.strerror
    finally:
        os.close(directory)
    return facts


@contextmanager
def _regular(directory: int, name: str) -> Iterator[tuple[int, os.stat_result] | None]:
    """An opened regular file; None if there is none of that name."""
    try:
        file = os.open(name, FILE, dir_fd=directory)
    except FileNotFoundError:
        yield None
        return
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, f"{name} is not a regular file")
        yield file, status
    finally:
        os.close(file)


def _stat(directory: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _first_line(directory: int, name: str) -> str | None:
    with _regular(directory, name) as opened:
        if opened is None:
            return None
        lines = os.pread(opened[0], _TEXT_BYTES, 0).decode("utf-8", "replace").splitlines()
        return lines[0] if lines else ""


def _lock(directory: int) -> dict[str, Any] | None:
    """Contents and holder of the lock, without trying to take it, which could refuse a starting probe."""
    said = _first_line(directory, "lock")
    status = _stat(directory, "lock")
    if said is None or status is None:
        return None
    with open("/proc/locks", encoding="ascii", errors="replace") as table:  # noqa: PTH123
        held, pid = holder(table.read(), status.st_dev, status.st_ino)
    return {"says": said, "held": held, "pid": pid}


def holder(locks: str, device: int, inode: int) -> tuple[bool, int | None]:
    """True if /proc/locks holds a lock on a file, and its pid; a pid of another namespace is None."""
    wanted = (os.major(device), os.minor(device), inode)
    for line in locks.splitlines():
        match = re.fullmatch(
            r"\d+: (?:FLOCK|POSIX|OFDLCK) .*? (-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) .*", line
        )
        if match and "->" not in line:
            pid, major, minor, number = match.groups()
            if (int(major, 16), int(minor, 16), int(number)) == wanted:
                return True, int(pid) if int(pid) > 0 else None
    return False, None


def _data(directory: int) -> dict[str, Any] | None:
    with _regular(directory, "data") as opened:
        if opened is None:
            return None
        file, status = opened
        cached, by = cached_bytes(file, status.st_size)
        return {
            "size_bytes": status.st_size,
            "allocated_bytes": status.st_blocks * 512,
            "cached_bytes": cached,
            "cached_by": by,
            "extents": extent_flags(file),
            "direct": direct_read(directory, "data"),
        }


def _pool(directory: int, name: str) -> dict[str, Any]:
    """Count all names; open ``SAMPLED`` files, without the oldest and the newest."""
    object_bytes = int(name.removeprefix("pool-"))
    pool = os.open(name, DIRECTORY, dir_fd=directory)
    try:
        names, _ = listed(pool, _MAX_NAMES)
        files = sorted(file for file in names if _OBJECT.fullmatch(file))
        facts: dict[str, Any] = {"object_bytes": object_bytes, "files": len(files)}
        inner = files[8:-8] or files
        sampled = inner[:: max(1, len(inner) // SAMPLED)][:SAMPLED]
        looked_at = [_object(pool, file, object_bytes) for file in sampled]
        seen = [look for look in looked_at if look is not None]
        return facts | {
            "strangers": len(names) - len(files),
            "sampled": len(seen),
            "broken": sum(not whole for whole, _ in seen),
            "cached": sum(cached for _, cached in seen),
        }
    finally:
        os.close(pool)


def _object(pool: int, name: str, object_bytes: int) -> tuple[bool, bool] | None:
    """True for a complete file, and True if it is in the page cache; None if it has gone."""
    with _regular(pool, name) as opened:
        if opened is None:
            return None
        file, status = opened
        cached = cached_bytes(file, status.st_size)[0]
        return status.st_size == object_bytes, bool(cached)
