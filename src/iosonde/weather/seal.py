"""Sealing: conversion of closed spool segments to Parquet, each by one atomic rename.

::

    flock(spool, exclusive, non-blocking)    refused: a probe writes it, another sealer has it, or
                                             the agent is dropping it: leave it alone
    write .<stem>.<random>.parquet -> fsync -> is the segment still there? -> rename to
    <stem>.parquet -> fsync folder -> roll up (see store.rollups) -> delete the spool segment

Dying anywhere is harmless: before the rename the segment is still read from the spool, after it
from Parquet (readers skip the spool segment of a stem that is sealed, and the next run deletes it).
A segment that vanished meanwhile (its agent made room, somebody tidied up) is not brought back: the
draft is thrown away. On a full disk the segment stays in the spool and no draft is left behind.
A lock may not reach other hosts (Lustre with ``localflock``, some NFS), so a segment of another host
counts as closed only when nobody has appended to it for two of the hours that a segment lasts; so
does any segment where there are no locks (Lustre as it is mounted by default). This host's are those
in the folder of its name, and those of a probe that ran, whatever it calls its host, on the kernel
that runs now: its states name the start of that kernel.
A torn segment is sealed as far as it is good and kept beside as ``<stem>.torn``: nothing measured
is ever deleted.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import duckdb

from iosonde.engine import spool
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_ORDER
from iosonde.engine.layout.segments import Segment, parquet_path, rollup_path, spool_segments
from iosonde.engine.opener import TABLE_BYTES, opened
from iosonde.engine.parquet import PARQUET, write_parquet
from iosonde.engine.reader import SampleFilter, look_at_rows
from iosonde.engine.states import read_states
from iosonde.model.errors import IosondeError, SealError
from iosonde.model.names import slug
from iosonde.weather.rollups import derive
from iosonde.weather.rollups.files import write

_PARQUET = f"{PARQUET}, COMPRESSION_LEVEL 15"
"""Level 15 is the lowest at which a column whose deltas jump from one op to the next, which leaves
its packed numbers half empty, is emptied again: 15% less than by default."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_SETTLED_S = 7200
"""Time without an append after which another host's segment counts as closed."""
_EMPTY_KEPT_S = 3600
"""Grace time of an empty segment, which a starting probe may not have locked yet."""


def seal(root: Path, report: Callable[[str], None] | None = None) -> list[Path]:
    """Seal every closed segment; returns the new Parquet files.

    One segment that cannot be sealed does not stop the others; then SealError is raised at the end
    and tells of the first. ``report`` gets one line for people about each torn segment and each
    failure.
    """
    warn = report or (lambda _: None)
    made: list[Path] = []
    failed: list[IosondeError] = []
    ours = _own_folders(Path(root))
    for segment in spool_segments(Path(root)):
        try:
            path = _seal_segment(Path(root), segment, segment.host in ours, warn)
        except IosondeError as error:
            failed.append(error)
            warn(str(error))
            if _no_room(error.__cause__):
                break
        else:
            made += [path] if path else []
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise SealError(failed[0].what + more, expected=failed[0].expected, hint=failed[0].hint)
    return made


def _seal_segment(
    root: Path, segment: Segment, ours: bool, warn: Callable[[str], None]
) -> Path | None:
    """Parquet file of one segment; None if there is nothing to do. ``ours``: locks are conclusive."""
    with _closed(segment.path, ours) as file:
        if file is None:
            return None
        read = spool.read(segment.path)
        if read is None:
            return None
        if len(read.rows) == 0 and _age_s(file) < _EMPTY_KEPT_S:
            return None
        target = parquet_path(root, segment.host, segment.stem, read.opened_ns)
        fresh = len(read.rows) > 0 and not target.exists()
        try:
            if fresh and not _write(read.rows, target, segment.path, root):
                return None
            if read.torn:
                kept = segment.path.with_suffix(".torn")
                with contextlib.suppress(FileNotFoundError):  # another sealer was here
                    segment.path.replace(kept)
                good = f"{len(read.rows)} rows sealed, the file stays as {kept.name}"
                warn(f"{segment.path} ended early ({read.torn}); {good}")
            else:
                segment.path.unlink(missing_ok=True)
        except (OSError, duckdb.Error) as error:
            raise _explained(segment.path, error) from error
        return target if fresh else None


def this_host() -> str:
    """Default name of this machine in probes."""
    return platform.node()


def boot_id() -> str | None:
    """Boot id of the kernel: a lock is visible to all processes on it."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def _own_folders(root: Path) -> set[str]:
    """Folders below ``spool/`` whose writers can only be on this machine."""
    folders, here = {slug(this_host())}, boot_id()
    if here is not None:
        folders |= {slug(str(s["host"])) for s in read_states(root) if s["boot_id"] == here}
    return folders


def _age_s(file: IO[bytes]) -> float:
    """Seconds since the last append."""
    return time.time() - os.fstat(file.fileno()).st_mtime


@contextlib.contextmanager
def _closed(path: Path, ours: bool) -> Iterator[IO[bytes] | None]:
    """Open file of a closed segment; None if it is written or gone. ``ours``: locks are conclusive, if supported."""
    try:
        file = opened(path, TABLE_BYTES)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _explained(path, error) from error
    with file:
        locked = _locked(file, path)
        tells = ours and locked is not None
        free = locked is not False and (tells or _age_s(file) >= _SETTLED_S)
        yield file if free else None


def _locked(file: IO[bytes], path: Path) -> bool | None:
    """True if the segment is unlocked, and now locked until ``file`` is closed. None: locks are unsupported."""
    for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
                return None
            # NFS gives an exclusive lock only on a file that was opened for writing.
            if error.errno != errno.EBADF or kind == fcntl.LOCK_SH:
                raise _explained(path, error) from error
    return False


def _write(rows: spool.SpoolRows, target: Path, segment: Path, root: Path) -> bool:
    """Write ``rows`` atomically as Parquet; False if the segment has vanished."""
    with contextlib.closing(connect()) as con:
        con.register("live_codes", rows.columns)
        sql = f"{spool.select('live_codes', rows)} ORDER BY {', '.join(SAMPLE_ORDER)}"
        if write_parquet(con, sql, target, _PARQUET, still=segment.exists) is None:
            return False
        _roll_up(con, rows, rollup_path(root, target))
        return True


def _roll_up(con: duckdb.DuckDBPyConnection, rows: spool.SpoolRows, path: Path) -> None:
    """Store the roll-up of the samples. If that fails, the next reader computes it."""
    with contextlib.suppress(OSError, duckdb.Error):
        look_at_rows(con, [rows], SampleFilter())
        write(con, derive.derived(con), path)


def _no_room(error: BaseException | None) -> bool:
    """True if an error means a full disk or quota; the engine reports only text."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return any(os.strerror(number) in str(error) for number in (errno.ENOSPC, errno.EDQUOT))


def _explained(path: Path, error: Exception) -> SealError:
    if _no_room(error):
        return SealError(
            f"cannot seal {path}: the store is full; the segment stays",
            expected="room for a Parquet file of a quarter of its size",
            hint="removing the oldest folders of samples/, or a [keep] limit for the agent",
        )
    reason = error.strerror if isinstance(error, OSError) else str(error).splitlines()[0]
    return SealError(
        f"cannot seal {path}: {reason}; the segment stays",
        expected="room and the right to write in the store folder",
    )
