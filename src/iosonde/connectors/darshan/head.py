"""Start of a Darshan log."""

from __future__ import annotations

import re

_MAGIC = (6567223).to_bytes(8, "little")
_VERSION = re.compile(rb"\d\.\d\d\0{4}")
HEAD_BYTES = 16


def is_log(begin: bytes) -> bool:
    """True for a format version and Darshan's magic number, in either byte order."""
    magic = begin[8:HEAD_BYTES]
    return magic in (_MAGIC, _MAGIC[::-1]) and _VERSION.fullmatch(begin[:8]) is not None
