"""The one way to open a file of a store, in which any writer may have placed a hostile file.

A pipe or a device under a file's name never makes a reader wait, and no file is read further than the size that it had
when it was opened. ``rust/core/src/stored.rs`` is the same for the agent and the native readers, in the same words.

=====================  ==================================================================
a regular file         opened; links are followed: a store may be one of links
a link to nothing      ``UnfitError``
a pipe, socket, device ``UnfitError``
more than ``most``     ``UnfitError``
a folder, no right     ``OSError`` of the system
nothing                ``FileNotFoundError``
=====================  ==================================================================
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from iosonde.engine.reading import reading

if TYPE_CHECKING:
    from typing_extensions import Buffer

MIB = 1 << 20
TABLE_BYTES = 4096 * MIB
"""Largest Parquet file; the engine reads only the needed parts of it."""
LINES_BYTES = 256 * MIB
"""Largest file of lines: events, rows of a run in flight."""
JUDGED_BYTES = 64 * MIB
"""Largest file of results of a finished day."""
WORD_BYTES = 65_536
"""Largest policy, key or token."""


class UnfitError(OSError):
    """Not a regular file of bounded size; ``strerror`` gives the reason."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.EINVAL, what, str(path))


def opened(path: Path, most: int) -> BinaryIO:
    """Open a regular file of at most ``most`` bytes, which ends where it ended at opening. Raises OSError."""
    return cast("BinaryIO", io.BufferedReader(_Ending(_descriptor(path, most))))


def content(path: Path, most: int) -> bytes:
    """All bytes of ``opened``. Raises OSError."""
    with opened(path, most) as file:
        return file.read()


def check(path: Path, most: int) -> None:
    """Raise what ``opened`` raises."""
    os.close(_descriptor(path, most))


def lock_file(path: Path) -> IO[bytes]:
    """Open a file to lock, creating it if needed; never a link, nor a pipe. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        _regular(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "r+b", buffering=0)


def said(error: OSError) -> str:
    """Clause on the reason why a file was not read."""
    return f"cannot be read: {error.strerror or str(error).partition(' (os error')[0]}"


def _descriptor(path: Path, most: int) -> int:
    reading(path)
    _regular(path, _looked_at(path))
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except BlockingIOError:  # a client of this machine's file server holds it, and gives it back
        descriptor = os.open(path, flags)
    try:
        about = os.fstat(descriptor)  # it may be another one by now
        _regular(path, about)
        if about.st_size > most:
            raise UnfitError(path, f"larger than {most} bytes")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _looked_at(path: Path) -> os.stat_result:
    try:
        return os.stat(path)  # noqa: PTH116 - states are read by the thousand
    except FileNotFoundError:
        if path.is_symlink():
            raise UnfitError(path, "a link to nothing") from None
        raise


def _regular(path: Path, about: os.stat_result) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(about.st_mode):
        raise UnfitError(path, "not a regular file")


class _Ending(io.RawIOBase):
    """An open file with a fixed end."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._left = os.fstat(descriptor).st_size

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)[: self._left]
        count = os.readv(self._descriptor, [view]) if len(view) else 0
        self._left -= count
        return count

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
