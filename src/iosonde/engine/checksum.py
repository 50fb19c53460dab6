"""A checksum in a Parquet file, by which readers verify every byte.

The engine neither writes nor verifies Parquet's own page checksums, and they would leave the footer out. So the footer
carries a CRC-32 of the whole file, twice, as text of the same length before and after it is known::

    PAR1 pages footer{... KV iosonde_checksum: "iosonde-crc32=<8 hex digits>"} length PAR1
                                                             ^ counted as zeros

It moves with the file. Files without one (earlier versions, other writers) are read as they are.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from iosonde.engine.opener import TABLE_BYTES, opened

_MARK = b"iosonde-crc32="
_DIGITS = 8
_ZEROS = b"0" * _DIGITS
_COPIES = 2
"""Copies of the entry: a damaged one does not make the file look unsigned."""
_MAGIC = b"PAR1"
_PIECE = 1 << 22
_VERSION = re.compile(rb"\x18\x0eschema_version\x18.([0-9]{1,9})", re.DOTALL)
"""The entry in the footer's encoding: key and value, each after its length."""
_BLANK = bytes(64)
"""Zeros in a row that no footer has unless a part was lost."""

PLACEHOLDERS = ", ".join(
    f"iosonde_checksum{copy or ''}: '{(_MARK + _ZEROS).decode()}'" for copy in range(_COPIES)
)
"""Entries of the engine's ``KV_METADATA`` that ``sign`` fills in."""


_STEMS = b"iosonde-stems="


def stems_entry(stems: Iterable[str]) -> str:
    """An entry of ``KV_METADATA`` that names the segments whose rows are in a file."""
    return f"iosonde_stems: '{_STEMS.decode()}{','.join(sorted(stems))};'"


def stems_of(path: Path) -> tuple[str, ...]:
    """Segments named in a file's footer; none if it has no entry. Raises OSError."""
    with opened(path, TABLE_BYTES) as file:
        _, footer = _footer(file.fileno(), os.fstat(file.fileno()).st_size)
    begin = footer.rfind(_STEMS)
    end = footer.find(b";", begin)
    if begin < 0 or end < 0:
        return ()
    names = footer[begin + len(_STEMS) : end].decode("ascii", errors="replace")
    return tuple(name for name in names.split(",") if name)


def is_signed(path: Path) -> bool:
    """True if a file carries iosonde's checksum. Raises OSError."""
    with opened(path, TABLE_BYTES) as file:
        _, footer = _footer(file.fileno(), os.fstat(file.fileno()).st_size)
    return len(_places(footer)) == _COPIES


def version_of(path: Path) -> int | None:
    """Schema version of a signed file; None if it is not signed. Raises OSError."""
    with opened(path, TABLE_BYTES) as file:
        _, footer = _footer(file.fileno(), os.fstat(file.fileno()).st_size)
    found = _VERSION.findall(footer) if len(_places(footer)) == _COPIES else []
    return int(found[-1]) if found else None


def sign(path: Path) -> None:
    """Fill in the checksum of a file that was written with ``PLACEHOLDERS``. Raises OSError."""
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        at, footer = _footer(file.fileno(), size)
        places = [at + place for place in _places(footer)]
        digits = _crc(file.fileno(), size, places)
        for place in places:
            os.pwrite(file.fileno(), digits, place)


def wrong(path: Path) -> str:
    """Defect of the bytes of a Parquet file, "" if there is none. Raises OSError."""
    with opened(path, TABLE_BYTES) as file:
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        if size == 0:
            return "is empty"
        if os.pread(descriptor, 4, 0) != _MAGIC:
            return "is no Parquet file"
        if size < 12 or os.pread(descriptor, 4, size - 4) != _MAGIC:
            return "is damaged: its end is missing"
        return _against_checksum(descriptor, size)


def _against_checksum(descriptor: int, size: int) -> str:
    at, footer = _footer(descriptor, size)
    if not footer:
        return "is damaged: its footer is cut"
    places = _places(footer)
    if not places:
        return "is damaged: a part of its footer is blank" if _BLANK in footer else ""
    found = {footer[place : place + _DIGITS] for place in places}
    if len(places) < _COPIES or len(found) > 1:
        return "is damaged: its checksum is not whole"
    right = _crc(descriptor, size, [at + place for place in places])
    return "" if found == {right} else "is damaged: its bytes do not match its checksum"


def _footer(descriptor: int, size: int) -> tuple[int, bytes]:
    """Offset and bytes of the footer; b"" if its length is impossible."""
    if size < 12:
        return 0, b""
    length = int.from_bytes(os.pread(descriptor, 4, size - 8), "little")
    at = size - 8 - length
    return (at, os.pread(descriptor, length, at)) if length and at >= 4 else (0, b"")


def _places(footer: bytes) -> list[int]:
    """Offsets of the checksum digits; statistics of columns, which come before, may hold the mark too."""
    places: list[int] = []
    end = len(footer)
    while len(places) < _COPIES and (end := footer.rfind(_MARK, 0, end)) >= 0:
        places.append(end + len(_MARK))
    return places[::-1]


def _crc(descriptor: int, size: int, places: list[int]) -> bytes:
    """Checksum of a file as digits; those at ``places`` count as zeros."""
    crc = at = 0
    for place in [*places, size]:
        while at < place:
            piece = os.pread(descriptor, min(_PIECE, place - at), at)
            if not piece:
                break
            crc = zlib.crc32(piece, crc)
            at += len(piece)
        if place < size:
            crc = zlib.crc32(_ZEROS, crc)
            at = place + _DIGITS
    return b"%08x" % crc
