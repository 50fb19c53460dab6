"""Kernel queries about an open file: its cached pages, O_DIRECT, its extents."""

from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import struct
from typing import Any

_CACHESTAT = 451
_FIEMAP = 0xC020660B
_EXTENTS = 256
_HEAD = struct.Struct("=QQLLLL")
_EXTENT = struct.Struct("=QQQQQLLLL")
_FLAGS = {"unwritten": 0x800, "shared": 0x2000, "encoded": 0x8}
_LAST = 0x1
_MINCORE_BYTES = 64 << 30


def cached_bytes(file: int, size_bytes: int) -> tuple[int | None, str | None]:
    """Bytes of a file in the page cache, and the call that reported them; None if none does."""
    page = mmap.PAGESIZE
    span = (ctypes.c_uint64 * 2)(0, 0)
    answer = (ctypes.c_uint64 * 5)()
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(_CACHESTAT)
    if libc.syscall(number, file, ctypes.byref(span), ctypes.byref(answer), 0) == 0:
        return min(size_bytes, answer[0] * page), "cachestat"
    if not 0 < size_bytes <= _MINCORE_BYTES:
        return (0, "size") if size_bytes == 0 else (None, None)
    return _mincore(libc, file, size_bytes, page)


def _mincore(
    libc: ctypes.CDLL, file: int, size_bytes: int, page: int
) -> tuple[int | None, str | None]:
    """Cached bytes by mapping the file; a mapping reads nothing until it is touched."""
    libc.mmap.restype = ctypes.c_void_p
    length = ctypes.c_size_t(size_bytes)
    nothing, protection, shared = None, 1, 1
    address = libc.mmap(nothing, length, protection, shared, file, ctypes.c_long(0))
    if address is None or address == ctypes.c_void_p(-1).value:
        return None, None
    pages = -(-size_bytes // page)
    resident = (ctypes.c_ubyte * pages)()
    failed = libc.mincore(ctypes.c_void_p(address), length, resident)
    libc.munmap(ctypes.c_void_p(address), length)
    if failed:
        return None, None
    return min(size_bytes, bytes(resident).count(1) * page), "mincore"


def direct_read(directory: int, name: str) -> str:
    """``granted``, or the name of the error of an aligned O_DIRECT read of the first block."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_DIRECT
    try:
        file = os.open(name, flags, dir_fd=directory)
        try:
            with contextlib.closing(mmap.mmap(-1, mmap.PAGESIZE)) as block:
                os.preadv(file, [block], 0)
        finally:
            os.close(file)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error.errno))
    return "granted"


def extent_flags(file: int) -> dict[str, Any] | None:
    """Bytes of the first extents that are unwritten, shared or encoded (compressed, encrypted).

    None where the file system does not tell (network file systems mostly).
    """
    request = array.array("B", _HEAD.pack(0, 2**64 - 1, 0, 0, _EXTENTS, 0))
    request.frombytes(bytes(_EXTENTS * _EXTENT.size))
    try:
        fcntl.ioctl(file, _FIEMAP, request)
    except OSError:
        return None
    mapped = min(_EXTENTS, _HEAD.unpack_from(request)[3])
    facts: dict[str, Any] = {"extents": mapped, "complete": mapped == 0}
    facts |= {f"{name}_bytes": 0 for name in _FLAGS}
    for i in range(mapped):
        extent = _EXTENT.unpack_from(request, _HEAD.size + i * _EXTENT.size)
        length, flags = extent[2], extent[5]
        facts["complete"] = bool(flags & _LAST)
        for name, flag in _FLAGS.items():
            facts[f"{name}_bytes"] += length if flags & flag else 0
    return facts
