"""The regular files of a tar archive (plain or gzip), one after the other, of which nothing is unpacked to disk.

Links, devices and sparse files are left out; names are only ever compared, never opened. A member larger
than ``MOST_BYTES``, a name longer than 4 KiB or a header that is none cannot cost memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from iosonde.connectors.source import Tell
from iosonde.model.errors import InputFileError

BLOCK = 512
MOST_BYTES = 64 << 20
_MOST_TOTAL_BYTES = 8 << 30
_MOST_MEMBERS = 2_000_000
_LONG_NAME, _PAX = b"L", b"x"
_FILES = (b"0", b"\x00", b"7")


class Member(NamedTuple):
    """A regular file of an archive."""

    name: str
    modified_ns: int
    data: bytes


def is_tar(head: bytes) -> bool:
    """Whether these first bytes begin an archive: its checksum says so."""
    return len(head) >= BLOCK and any(head[:BLOCK]) and _checked(head[:BLOCK])


def members(path: Path, wanted: object, tell: Tell) -> Iterator[Member]:
    """Files whose name ``wanted`` (a compiled pattern) finds. Raises InputFileError where nothing more can be read."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file: IO[bytes] = gzip.open(raw) if packed else raw  # type: ignore[assignment]  # noqa: SIM115
            yield from _walk(file, path, wanted, tell)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"{path}: the gzip data end or break ({error})"
        raise InputFileError(what, expected="a whole archive") from error
    except OSError as error:
        what = f"cannot read {path}: {error.strerror or error}"
        raise InputFileError(what, expected="a readable archive") from error


def _walk(file: IO[bytes], path: Path, wanted: object, tell: Tell) -> Iterator[Member]:
    """Header by header."""
    find = getattr(wanted, "search")  # noqa: B009
    longer, total = "", 0
    for _ in range(_MOST_MEMBERS):
        header = file.read(BLOCK)
        if len(header) < BLOCK or not any(header):
            if 0 < len(header) < BLOCK:
                raise InputFileError(f"{path} ends within a header", expected="a whole archive")
            return
        if not _checked(header):
            what = f"{path}: a header of the archive does not fit its checksum"
            raise InputFileError(what, expected="a whole tar archive")
        size = _size(header[124:136])
        total += size
        if total > _MOST_TOTAL_BYTES:
            raise InputFileError(f"{path} claims {total} bytes", expected="at most 8 GiB")
        kind, padded = header[156:157], -(-size // BLOCK) * BLOCK
        if kind in (_LONG_NAME, _PAX) and size <= 65_536:
            longer = _long_name(kind, file.read(padded)[:size]) or longer
            continue
        name, longer = longer or _name(header), ""
        if kind in _FILES and size > MOST_BYTES and find(name):
            what = f"{path}, {name[:200]!r}: {size} bytes are too many"
            tell(InputFileError(what, expected=f"at most {MOST_BYTES} bytes"))
        elif kind in _FILES and find(name):
            data = file.read(padded)
            if len(data) < size:
                raise InputFileError(f"{path} ends within {name[:200]!r}", expected="all of it")
            yield Member(name, _size(header[136:148]) * 10**9, data[:size])
            continue
        _skip(file, padded)
    raise InputFileError(f"{path} has too many members", expected=f"at most {_MOST_MEMBERS}")


def _skip(file: IO[bytes], size: int) -> None:
    """Reads on, in small pieces, until that much or the file is over."""
    while size > 0 and (piece := file.read(min(size, 1 << 20))):
        size -= len(piece)


def _checked(header: bytes) -> bool:
    """Whether the sum of a header's bytes is what it says."""
    said = _size(header[148:156])
    return said > 0 and said == sum(header[:148]) + 8 * 0x20 + sum(header[156:])


def _size(field: bytes) -> int:
    """An octal number, or GNU's binary one; absurd ones are just large."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \x00")
    return int(digits, 8) if digits and all(c in b"01234567" for c in digits) else 0


def _name(header: bytes) -> str:
    """Of a header, with its prefix."""
    name, prefix = (header[a:b].split(b"\0")[0] for a, b in ((0, 100), (345, 500)))
    if header[257:262] == b"ustar" and header[262:264] != b"  " and prefix:
        name = prefix + b"/" + name
    return name.decode("utf-8", "replace")


def _long_name(kind: bytes, data: bytes) -> str:
    """The name that an extra record gives the next member; "" if it gives none."""
    if kind == _LONG_NAME:
        return data.split(b"\0")[0][:4096].decode("utf-8", "replace")
    for record in data.split(b"\n"):
        _, _, pair = record.partition(b" ")
        if pair.startswith(b"path="):
            return pair[5:4101].decode("utf-8", "replace")
    return ""
