"""Files on disk, plain or packed by gzip, xz or bzip2. Unreadable formats are recognised by their first bytes."""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from pathlib import Path
from typing import IO, Any, cast

from iosonde.model.errors import InputFileError
from iosonde.model.unpacked import says_too_much, too_much

try:  # Python may have been built without them
    import bz2
    import lzma
except ImportError:  # pragma: no cover
    bz2 = lzma = None  # type: ignore[assignment]

BROKEN: tuple[type[Exception], ...] = (
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    *(() if lzma is None else (lzma.LZMAError,)),
)
"""Exceptions of unpackers for cut or damaged data; bzip2's errors are OSErrors."""
UNREADABLE: tuple[type[Exception], ...] = (*BROKEN, OSError)
_XZ_BYTES = 128 << 20
DENSE, MOST_LINES = 30, 10_000_000
"""Compression ratio beyond which the number of lines is limited, and that limit."""
_PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
_FOREIGN = (
    (b"\x28\xb5\x2f\xfd", "is packed by zstd", "zstd -d"),
    (b"PK\x03\x04", "is a zip archive", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", "7z x"),
    (b"\x1f\x9d", "is packed by compress", "uncompress"),
    (b"\x04\x22\x4d\x18", "is packed by lz4", "lz4 -d"),
    (b"\xff\xfe", "is text of two bytes a letter (UTF-16)", "iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "is text of two bytes a letter (UTF-16)", "iconv -f UTF-16 -t UTF-8"),
)


def packing(first: bytes) -> str:
    """Compression format by the first bytes; "" for a plain file."""
    return next((name for magic, name in _PACKED.items() if first.startswith(magic)), "")


def packing_of(path: Path) -> str:
    """Compression format of a file."""
    with path.open("rb") as file:
        return packing(file.read(6))


def opened(path: Path) -> IO[bytes]:
    """Open a regular file, unpacked as it is read. Raises OSError, InputFileError (a pipe, a device), ``BROKEN``."""
    regular(path)
    kind = packing_of(path)
    if not kind:
        return path.open("rb")
    if kind == "gzip":
        return bounded(cast("IO[bytes]", gzip.open(path)), path)
    if lzma is None:
        raise InputFileError(f"{path}: this Python cannot unpack {kind}", hint="gzip or text")
    if kind == "xz":
        _refuse_large_window(path)
    return bounded(cast("IO[bytes]", lzma.open(path) if kind == "xz" else bz2.open(path)), path)


def bounded(file: IO[bytes], path: Path) -> IO[bytes]:
    """Bounded view of unpacked data; reading raises InputFileError once it is far larger than records are."""
    return io.BufferedReader(_Watched(file, path), 1 << 17)


class _Watched(io.RawIOBase):
    """An unpacked file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__()
        self._file, self._path = file, path
        self._packed_bytes = path.stat().st_size
        self._lines = 0

    def readinto(self, buffer: Any) -> int:
        data = self._file.read1(len(buffer))  # type: ignore[attr-defined]
        size = self._file.tell()
        self._lines += data.count(b"\n")
        if too_much(size, self._packed_bytes):
            what, expected, hint = says_too_much(self._path)
            raise InputFileError(what, expected=expected, hint=hint)
        if self._lines > MOST_LINES and size > DENSE * self._packed_bytes:
            what = (
                f"{self._path} unpacks to {DENSE} times its size and more than {MOST_LINES} lines"
            )
            hint = "unpacking it, and importing what came out"
            raise InputFileError(what, expected="records, which pack to a tenth", hint=hint)
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _refuse_large_window(path: Path) -> None:
    """Raise InputFileError for xz data whose header asks for more memory than xz -9 does."""
    with path.open("rb") as file:
        first = file.read(4096)
    try:
        lzma.LZMADecompressor(memlimit=_XZ_BYTES).decompress(first, 1)
    except lzma.LZMAError as error:
        if "limit" in str(error):
            what = f"{path} needs more than {_XZ_BYTES >> 20} MiB to be unpacked"
            raise InputFileError(what, expected="what xz -9 writes, or less") from error


def regular(path: Path) -> None:
    """Raise OSError for a missing file, InputFileError for a pipe or device, which would have to be read twice."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputFileError(
            f"{path} is no regular file", expected="a file", hint="what it gives in a file"
        )


def begin_of(raw: bytes, most: int) -> bytes:
    """Unpacked start of a file from its first bytes, even if cut; the bytes as they are if nothing unpacks."""
    kind = packing(raw)
    try:
        if kind == "gzip":
            return zlib.decompressobj(31).decompress(raw, most)
        if kind == "xz":
            return lzma.LZMADecompressor(memlimit=_XZ_BYTES).decompress(raw, most)
        return bz2.BZ2Decompressor().decompress(raw, most) if kind else raw
    except UNREADABLE:
        return raw


def unreadable(path: Path) -> InputFileError | None:
    """Error for an unreadable file format, recognised by its first bytes; None for others."""
    try:
        regular(path)
        with path.open("rb") as file:
            first = file.read(65_536)
    except OSError as error:
        reason = error.strerror or str(error)
        return InputFileError(f"cannot read {path}: {reason}", expected="a readable file")
    except InputFileError as error:
        return error
    return _foreign(path, first)


def _foreign(path: Path, first: bytes) -> InputFileError | None:
    for magic, what, command in _FOREIGN:
        if first.startswith(magic):
            expected = "text, or a file packed by gzip, xz or bzip2"
            return InputFileError(f"{path} {what}", expected=expected, hint=command)
    if begin_of(first, 512)[257:262] == b"ustar":
        what = f"{path} is a tar archive of what is not read in archives"
        return InputFileError(what, expected="Lustre's /proc or mmperfmon in one", hint="tar xf")
    if not first:
        return InputFileError(f"{path} is empty", expected="a file with something in it")
    if not first.strip(b"\0"):
        return InputFileError(f"{path} begins with zero bytes", expected="text")
    return None
