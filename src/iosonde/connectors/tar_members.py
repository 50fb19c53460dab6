"""Sequential reader of a tar archive: nothing is unpacked to disk, and memory is bounded."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from iosonde.connectors.compressed import BROKEN, opened, packing_of
from iosonde.connectors.lines import Line, Warn, lines_of
from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text

MOST_MEMBERS = 2_000_000
MOST_UNPACKED = 8 << 30
MOST_MEMBER_BYTES = 256 << 20
_MOST_READ = 16 << 20
_BLOCK = 512
_MAGIC = slice(257, 262)


class Member(NamedTuple):
    """A regular file of an archive. Read each member before advancing to the next.

    ``name`` is as it stands there: it is compared, and nothing is opened by it.
    """

    name: str
    modified_s: float
    size: int
    lines: Iterator[Line]
    file: IO[bytes]

    @property
    def data(self) -> bytes:
        """The whole content (at most ``MOST_MEMBER_BYTES``)."""
        return self.file.read()


def is_tar(data: bytes) -> bool:
    """True if (unpacked) data start as a tar archive does."""
    return data[_MAGIC] == b"ustar"


def members(path: Path, warn: Warn, wanted: re.Pattern[str] | None = None) -> Iterator[Member]:
    """Yield regular files of a tar or tgz whose names match ``wanted``; links, devices and directories are left out.

    Raises InputFileError: unreadable, no archive, or broken from some member on (those before were given out).
    """
    with _named(path), opened(path) as plain:
        bounded = _Bounded(plain, path)
        with tarfile.open(fileobj=bounded, mode="r:") as archive:
            end = yield from _regular(archive, path, warn, wanted)
        bounded.seek(end)
        if bounded.read(_BLOCK) != bytes(_BLOCK):  # tarfile says nothing of it
            raise tarfile.ReadError("the archive is cut")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Convert errors of a damaged archive to InputFileError."""
    wanted = "a whole tar archive"
    try:
        yield
    except BROKEN as error:
        what = f"{path}: the {packing_of(path)} data end or break ({error})"
        raise InputFileError(what, expected=wanted) from error
    except (tarfile.TarError, ValueError, OverflowError, MemoryError) as error:
        raise InputFileError(f"{path}: {error}", expected=wanted) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error


def _regular(
    archive: tarfile.TarFile, path: Path, warn: Warn, wanted: re.Pattern[str] | None
) -> Generator[Member, None, int]:
    """Yield members; return the end position of the last one."""
    end = number = 0
    while (member := archive.next()) is not None:
        getattr(archive, "members", []).clear()  # it would hold every header there ever was
        number += 1
        if number > MOST_MEMBERS:
            what = f"{path} has more than {MOST_MEMBERS} members"
            raise InputFileError(what, expected="fewer", hint="parts of it")
        end = member.offset_data + -(-member.size // _BLOCK) * _BLOCK * member.isreg()
        if (
            not member.isreg()
            or member.issparse()
            or not (wanted is None or wanted.search(member.name))
        ):
            continue
        if member.size > MOST_MEMBER_BYTES:
            what = f"{path}: {_name(member)} has {member.size} bytes"
            warn(InputFileError(what, expected=f"at most {MOST_MEMBER_BYTES}"))
            continue
        file = archive.extractfile(member)
        if file is not None:
            lines = _lines(file, path, _name(member), warn)
            yield Member(member.name[:4096], float(member.mtime), member.size, lines, file)
    return end


def _name(member: tarfile.TarInfo) -> str:
    return clean_text(member.name[:200])


def _lines(file: IO[bytes], path: Path, name: str, warn: Warn) -> Iterator[Line]:
    with _named(path):
        yield from lines_of(file, path / name, warn)


class _Bounded(io.RawIOBase):
    """A file with limits on the bytes read in all and at once: headers of archives may claim anything."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__()
        self._file, self._path = file, path

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_READ:
            raise InputFileError(
                f"{self._path}: a header claims {size} bytes", expected=f"at most {_MOST_READ}"
            )
        self._within(self._file.tell() + size)
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0:
            self._within(offset)
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def _within(self, end: int) -> None:
        if end > MOST_UNPACKED:
            raise InputFileError(
                f"{self._path}: more than {MOST_UNPACKED} bytes unpacked", expected="fewer"
            )
