"""Start of a Darshan log, and of one of a version that is not read."""

from __future__ import annotations

import re
from pathlib import Path

from iosonde.model.errors import InputFileError

_MAGIC = (6567223).to_bytes(8, "little")
_VERSION = re.compile(rb"\d\.\d\d\0{4}")
HEAD_BYTES = 16
_OLD = re.compile(rb"([12]\.\d\d)\0")
OLD_HINT = "a table with a row a job, from darshan-parser of that version, and --mapping (docs/correlate.md)"
"""What to do with logs of Darshan 1 and 2: no tool converts them."""


def is_log(begin: bytes) -> bool:
    """True for a format version and Darshan's magic number, in either byte order."""
    magic = begin[8:HEAD_BYTES]
    return magic in (_MAGIC, _MAGIC[::-1]) and _VERSION.fullmatch(begin[:8]) is not None


def old_log(path: Path, unpacked: bytes) -> InputFileError | None:
    """Error for a log of Darshan 1 or 2, by its start without the packing around it; None for other files."""
    match = _OLD.match(unpacked)
    if match is None:
        return None
    what = f"{path} is a log of Darshan {match[1].decode()}, which is not read"
    return InputFileError(what, expected="a log of Darshan 3", hint=OLD_HINT)
